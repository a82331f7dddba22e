"""The small edits that a change of text files consists of, and which of them need others."""
