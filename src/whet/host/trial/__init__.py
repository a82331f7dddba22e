"""whet's side of one trial: starts it, passes its output on, and reads what its agent reports."""
