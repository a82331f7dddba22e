"""`whet sample`: the smallest real data, alone or until a command fails on it as on all of it."""
