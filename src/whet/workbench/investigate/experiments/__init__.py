"""Runs with one thing changed: a token or a repair of the program, a record that its data lacks."""
