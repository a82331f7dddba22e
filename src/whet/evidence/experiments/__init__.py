"""Small changes of a program. A run with one says whether what it changes has to do with the failure."""
