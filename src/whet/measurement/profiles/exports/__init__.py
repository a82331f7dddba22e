"""Profiles in the formats of other viewers, each a function from a profile to bytes."""
