"""A value, followed back through variables, calls, returns and containers.

`walk.py` goes back step by step and leaves a `Trail`; `moments.py` says what an expression was when
its line ran, `arguments.py` and `given.py` which argument a parameter or an attribute was,
`flaws.py` what is wrong with a value, and `records.py` which line of an input file it was read from.
"""
