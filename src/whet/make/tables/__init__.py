"""Tables from nothing: their columns, their files, and those of the program's own library."""
