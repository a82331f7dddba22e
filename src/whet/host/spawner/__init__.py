"""Runs in the spawner and its observer, next to the program: no `typing`, and next to no imports."""
