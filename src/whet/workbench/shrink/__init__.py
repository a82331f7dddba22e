"""`whet shrink`: smaller payloads, commands and sets of tests."""
