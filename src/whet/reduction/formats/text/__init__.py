"""Text of any kind: lines, blocks, brackets, names, values; and trees over it."""
