"""An investigation under way: its time, the steps so far, and what its report mentions."""
