"""Which GPUs a trial sees, and how much of their memory it gets."""
