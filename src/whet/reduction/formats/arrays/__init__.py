"""Named arrays: `.npy`, `.npz`, tensors of torch, safetensors, HDF5."""
