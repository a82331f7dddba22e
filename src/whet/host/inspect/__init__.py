"""Looks into other processes: stacks, system calls, frames that were kept, core files."""
