"""The recording of a run: its last steps, and what the variables of each held."""
