"""`whet starve`: commands under limits, and failures for lack of memory."""
