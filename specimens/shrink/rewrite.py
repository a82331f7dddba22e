"""Write a Python module anew from its syntax tree: python rewrite.py FILE"""

import ast
import sys

import astor

with open(sys.argv[1], encoding="utf-8") as f:
    tree = ast.parse(f.read())
ast.parse(astor.to_source(tree))
