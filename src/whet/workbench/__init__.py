"""The use cases, a folder for each: the only place that composes the domains below."""
