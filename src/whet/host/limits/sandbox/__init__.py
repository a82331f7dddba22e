"""A trial in namespaces of its own: what it sees of the disk, and what it wrote."""
