"""whet's own processes: tools that it calls, its terminal and signals, and what it must remove again."""
