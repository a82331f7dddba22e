"""Arrays and tensors from nothing: their files, and those of the program's own library."""
