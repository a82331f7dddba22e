"""A search over versions of any kind: ends, oracles, flaky failures, the sentence at the end."""
