"""Who waits in the shop."""

WAITING = ["Ada", "Bob"]
