"""Executors: cold, and the wrappers that record and that remember."""
