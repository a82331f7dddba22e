"""A search over versions, whatever they are: ends, oracles, flaky failures, the sentence at the end."""
