"""Keeps whet out of what the program sees of itself."""
