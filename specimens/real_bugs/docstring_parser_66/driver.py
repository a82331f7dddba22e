"""Count the parameters documented in a file of docstrings: python driver.py FILE"""

import sys
import docstring_parser

with open(sys.argv[1], encoding="utf-8") as f:
    docstrings = f.read().split("\n\f\n")
params = sum(len(docstring_parser.parse(text).params) for text in docstrings)
print(len(docstrings), "docstrings,", params, "documented parameters")
