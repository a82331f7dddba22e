"""What the program is about to read and do: places at which a copy is taken."""
