"""Draws the panels of `whet watch` in a terminal; it renders, and computes nothing."""
