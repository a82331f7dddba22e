"""`whet investigate`: the steps of an investigation, and what each of them looks at."""
