"""`whet delta`: two cases of any kind, and the differences between them that matter."""
