"""Verbs that run a command: once, again, after each save, many times."""
