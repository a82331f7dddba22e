"""The search for the first bad version."""
