"""The operation that failed: which of its values is the bad one, and which lines that value passed.

`suspects.py` ranks the values of the failing line; `unlike.py` compares arrays with each other;
`way.py` lists the lines that an experiment may change.
"""
