"""Turn a failure into a usable signal."""
