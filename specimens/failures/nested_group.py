"""Needs 3.11."""

inner = ExceptionGroup("inner", [KeyError("x"), OSError("several\nlines")])
raise ExceptionGroup("outer", [ValueError("a"), inner])
