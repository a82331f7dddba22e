"""Small models of the same architecture, made in your program's interpreter: the standard library and what is installed there."""
