"""Verbs that run many trials to find one thing."""
