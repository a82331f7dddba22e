"""What points at the cause of a failure."""
