"""The clues: sentences that name the line a bad value came from, and how sure they are.

`origin.py` puts them in order; each other file phrases one kind. `wording.py` names lines, values
and records in the same words everywhere.
"""
