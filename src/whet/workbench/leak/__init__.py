"""`whet leak`: what a piece of a program leaves behind each time that it runs."""
