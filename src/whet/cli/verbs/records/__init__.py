"""Verbs that read what earlier trials left."""
