"""whet's side of one trial: starts it, passes its output on, and reads its agent's reports."""
