"""The failing run: its recorded steps, values and objects, and the source of its lines.

`recording.py` reads what the agent wrote; `source.py` finds the statement of a line, and
`control.py` the condition that decided whether a line ran. This room reads, and judges nothing.
"""
