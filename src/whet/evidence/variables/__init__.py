"""The variables of a failed program."""
