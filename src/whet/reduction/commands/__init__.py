"""Make a command smaller: its arguments, its environment, the tests that it runs."""
