"""Leaks: whether what a process holds grows with each repetition, and how sure that is."""
