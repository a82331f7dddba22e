"""Looks into a program: probes, traces, stacks, system calls, kept frames, loaded files."""
