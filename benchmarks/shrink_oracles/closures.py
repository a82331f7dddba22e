"""Interesting: Python source that compiles and has a method with a closure in it.

As a compiler or linter that dies on such source would see it.
"""

import symtable
import sys
from collections.abc import Iterator
from pathlib import Path


def functions(table: symtable.SymbolTable) -> Iterator[symtable.Function]:
    """Yield the functions of methods."""
    for child in table.get_children():
        if table.get_type() == "class" and isinstance(child, symtable.Function):
            yield from (
                each for each in child.get_children() if isinstance(each, symtable.Function)
            )
        yield from functions(child)


def main() -> int:
    """Exit with 0 if the file is interesting."""
    try:
        source = Path(sys.argv[1]).read_text("utf-8")
        compile(source, "source", "exec")
        table = symtable.symtable(source, "source", "exec")
    except (SyntaxError, ValueError):
        return 1
    return 0 if any(each.get_frees() for each in functions(table)) else 1


if __name__ == "__main__":
    sys.exit(main())
