"""Which causes `whet investigate` names, and what evidence costs."""
