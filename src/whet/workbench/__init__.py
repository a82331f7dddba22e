"""The use cases: the only place that composes the domains below."""
