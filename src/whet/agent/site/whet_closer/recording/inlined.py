"""Comprehensions that have no frame of their own: from Python 3.12 on they are part of their function.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_CODES: dict[str, int] = __import__("opcode").opmap
_SETS_ASIDE = _CODES.get("LOAD_FAST_AND_CLEAR")  # what a variable of the same name holds
_GOES_ON = _CODES["FOR_ITER"]  # one inline cache is behind it
_LOOPS = {_GOES_ON, _CODES.get("GET_ANEXT")}
_EXTENDED = _CODES["EXTENDED_ARG"]
_NAMES = {
    _CODES["BUILD_LIST"]: "<listcomp>",
    _CODES["BUILD_SET"]: "<setcomp>",
    _CODES["BUILD_MAP"]: "<dictcomp>",
}


class Comprehension:
    """A comprehension in the code of its function.

    Attributes:
        name: the name that its code had if it were a function.
        first_line: where it begins.
        variables: what it goes through with.
    """

    def __init__(self, span: tuple[int, int, int, int]) -> None:
        self.name = ""
        self.first_line = span[0]
        self.variables: list[str] = []
        self.start = self.until = 0  # the instructions of its loop
        self._from, self._until = (span[0], span[2]), (span[1], span[3])

    def holds(self, number: int, position: Any) -> bool:
        """Whether an instruction belongs to it; what it goes through is looked up before it begins."""
        line, end_line, column, end_column = position
        return (
            None not in position
            and self.start <= number < self.until
            and self._from <= (line, column)
            and (end_line, end_column) <= self._until
        )


def comprehensions(code: CodeType) -> list[tuple[Comprehension, ...]]:
    """Return in which comprehensions each instruction is, the outermost first; nothing: in none.

    No comprehension at all: an empty list.
    """
    if _SETS_ASIDE is None or _SETS_ASIDE not in code.co_code[::2]:
        return []
    positions: list[Any] = list(code.co_positions())
    found: dict[Any, Comprehension] = {}
    cells = [each for each in code.co_cellvars if each not in code.co_varnames]
    names = [*code.co_varnames, *cells, *code.co_freevars]
    last: Comprehension | None = None
    for number, kind, argument in _instructions(code.co_code):
        position = positions[number]
        if kind == _SETS_ASIDE and None not in position:
            last = found.setdefault(position, Comprehension(position))
            last.variables.append(names[argument])
        elif last is not None and not last.name:
            last.name = _NAMES.get(kind, "")
        elif last is not None and kind in _LOOPS:
            last.start = number
            last.until = number + 2 + argument if kind == _GOES_ON else len(positions)
            last = None
    return [
        tuple(each for each in found.values() if each.holds(number, position))
        for number, position in enumerate(positions)
    ]


def _instructions(code: bytes) -> Iterator[tuple[int, int, int]]:
    high = 0
    for at in range(0, len(code), 2):
        kind, argument = code[at], high | code[at + 1]
        yield at // 2, kind, argument
        high = argument << 8 if kind == _EXTENDED else 0


_HANDLING = {code for name, code in __import__("opcode").opmap.items() if "SETUP_" in name}


def catches(code: CodeType) -> bool:
    """Whether a function may deal with an error itself."""
    if hasattr(code, "co_exceptiontable"):
        return bool(code.co_exceptiontable)
    return not _HANDLING.isdisjoint(code.co_code[::2])


def lines_of(code: CodeType) -> Any:
    """Return the lines of a function of a Python that does not tell them itself."""
    return [(0, 0, line) for _, line in __import__("dis").findlinestarts(code)]
