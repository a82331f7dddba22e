"""What stands on the command line of several verbs, and what they make of it."""
