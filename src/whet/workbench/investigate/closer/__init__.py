"""The closer look: the order in which all that points at the cause is asked, and what it costs."""
