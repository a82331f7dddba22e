"""`whet tiny`: a model with the same architecture and almost no parameters."""
