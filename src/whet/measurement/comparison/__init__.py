"""Is B really different from A? The order of the runs, the sequential test, and whether both do the same."""
