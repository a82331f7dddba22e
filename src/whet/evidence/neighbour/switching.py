"""A module in which one condition has the opposite result, whatever it tests.

This is predicate switching (Zhang, Gupta and Gupta, 2006), for the one condition at which two runs part.
"""

import ast

from whet.evidence.neighbour.divergence import Divergence

MOST_BYTES = 96 << 10
"""More doesn't fit into the environment variable for the agent."""


def switched(text: str, found: Divergence) -> str:
    """Return a module's text with a test that always goes the way of the runs that passed.

    No line moves. Empty: no condition decides there, or the text is too long.
    """
    if not isinstance(found.fork, ast.If | ast.While) or len(text.encode()) > MOST_BYTES:
        return ""
    test = found.fork.test
    starts, last = text.splitlines(keepends=True), test.end_lineno or test.lineno
    first = _offset(starts, test.lineno, test.col_offset)
    end = _offset(starts, last, test.end_col_offset or 0)
    way = "False and" if found.was else "True or"
    if isinstance(found.fork, ast.While) and not found.was:
        return ""  # it would never end
    return f"{text[:first]}({way} ({text[first:end]})){text[end:]}"


def _offset(lines: list[str], line: int, column: int) -> int:
    before = sum(map(len, lines[: line - 1]))
    return before + len(lines[line - 1].encode()[:column].decode())
