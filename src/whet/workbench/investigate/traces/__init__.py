"""Runs with their steps recorded: where the bad value came from, and how a run that passes differs."""
