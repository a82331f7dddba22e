"""Sections of a program: how long each takes, and how much memory it needs.

`whet run` and its sisters gather them; where no whet runs the program, nothing happens.
`whet annotate --vendor` joins these modules into one file, for projects that must run without
whet: a name means the same in all of them.

Every process appends to a file of its own: what is written survives a kill, and a process whose
file system is full runs on. The file is bounded: after the first sections only sums are kept.

Standard library only, Python 3.8 or later.
"""
