"""System calls, control groups and tables of the kernel. Imports nothing else of whet."""
