"""Texts, bytes and JSON from nothing."""
