"""Modules of flax.nnx and Equinox: they are walked, made, run and saved as those of torch are."""
