"""Payloads from nothing: writing them, and what a value of one says later."""
