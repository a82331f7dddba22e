"""Models of torch: those of transformers, and modules of any class."""
