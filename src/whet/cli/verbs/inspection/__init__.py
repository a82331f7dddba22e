"""Verbs that look into a program: its calls, its lines, its processes."""
