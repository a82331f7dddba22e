"""`whet loop`: the same program again after each save."""
