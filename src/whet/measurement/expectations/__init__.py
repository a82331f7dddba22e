"""How good the guesses of a person are."""
