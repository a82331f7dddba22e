"""Limits around a trial, each enforced by the first way that works here, and rooms of its own."""
