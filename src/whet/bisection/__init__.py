"""Histories to search: the commits of a repository, the releases of a package."""
