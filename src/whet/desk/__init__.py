"""What lies on the desk: one-liners to paste into a shell."""
