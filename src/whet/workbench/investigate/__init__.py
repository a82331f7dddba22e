"""`whet investigate`: the steps of an investigation."""
