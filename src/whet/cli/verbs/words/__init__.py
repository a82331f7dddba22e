"""Verbs that explain whet itself."""
