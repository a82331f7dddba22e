"""Inspects other processes: stacks, system calls, recorded frames, core files."""
