"""Profiles: readers of what profilers write, tables, differences, sentences and exports."""
