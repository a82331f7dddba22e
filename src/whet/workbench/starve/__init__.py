"""`whet starve`: commands under limits, and failures for want of memory."""
