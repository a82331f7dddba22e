"""Small changes of a program. A run with one shows whether the changed code matters for the failure."""
