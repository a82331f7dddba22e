"""What the variables of a failed program held."""
