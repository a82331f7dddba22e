"""The smallest part of a change that causes a failure: hunks of a commit, or of uncommitted edits."""
