"""Bring a configuration nearer to its defaults while it fails the same way."""
