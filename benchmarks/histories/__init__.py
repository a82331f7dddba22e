"""How many runs a search over versions needs, beside `git bisect` and for flaky failures."""
