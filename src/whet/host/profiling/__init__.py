"""Profilers that watch a trial from beside it: py-spy for Python, perf for other programs."""
