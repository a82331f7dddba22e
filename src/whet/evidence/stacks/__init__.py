"""Which threads, processes and tasks wait where."""
