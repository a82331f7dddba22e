"""Time and memory: what measuring and watching cost, and how sure the results are."""
