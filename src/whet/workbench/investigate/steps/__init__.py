"""The steps of an investigation, each told while it is done: other tests, releases, edits, commits, data."""
