"""Where a bad value came from: from the steps of a failing run back to the line that made it."""
