"""Make a Python value smaller while what it does to a function stays the same."""
