"""Reads levels: memory, processors, files, disks, GPUs, networks, commands, a program's own figures."""
