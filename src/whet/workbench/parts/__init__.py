"""Which part of a change is to blame: hunks of a commit, or of uncommitted edits."""
