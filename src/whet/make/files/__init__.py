"""Folders and files from nothing."""
