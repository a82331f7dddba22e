"""Verbs that measure time and memory, and compare."""
