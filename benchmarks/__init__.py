"""Measurements of whet, a folder for each wing; `make bench` and its sisters run them."""
