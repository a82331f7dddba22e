"""Executors: cold, warm, and the wrappers that record trials and answer from the notebook."""
