"""Runs code so that it can be left between two statements, edited, and continued."""
