"""A side that is known to pass: a configuration, a set of packages, a recorded trial."""
