"""`whet profile`: where the time and the memory of one trial went."""
