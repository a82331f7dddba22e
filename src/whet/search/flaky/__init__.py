"""Searches where a failure doesn't show in each run."""
