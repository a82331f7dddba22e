"""What was observed of a trial beyond its outcome."""
