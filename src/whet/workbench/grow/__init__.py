"""`whet grow`: a number of a command made larger until it fails, and the law of what that costs."""
