"""The user's working tree: snapshots, checkouts, saves, and the project's own state."""
