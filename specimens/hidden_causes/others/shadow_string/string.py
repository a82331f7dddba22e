"""Strings of instruments."""

GUITAR = 6
