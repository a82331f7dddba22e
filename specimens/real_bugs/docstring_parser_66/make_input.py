"""Write docstrings.txt: every docstring of the standard library's decimal module
(_pydecimal.py) and statistics, fractions, random, one record each, records ended by a
line holding a form feed.  Standard library only."""

import ast
import sys
import sysconfig

out = sys.argv[1] if len(sys.argv) > 1 else "docstrings.txt"
records = []
for name in ("_pydecimal", "statistics", "fractions", "random"):
    with open(sysconfig.get_path("stdlib") + "/%s.py" % name, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text:
                records.append(text + "\n\f\n")
with open(out, "w", encoding="utf-8") as f:
    f.write("".join(records))
