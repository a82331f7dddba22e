"""`whet compare`: is B really different from A? And "slower than" as what BAD means for a search."""
