"""Samples of real data: which rows, lines or files to take, and the file that holds them alone."""
