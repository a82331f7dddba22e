"""What is known of the functions that are followed. Standard library only, Python 3.8 or later."""

from __future__ import annotations

from .inlined import catches, comprehensions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .inlined import Comprehension

_FUNCTION = 0x1
_COROUTINE = 0x80
GENERATORS = 0x20 | _COROUTINE | 0x200
_YIELD: int = __import__("opcode").opmap["YIELD_VALUE"]


class Code:
    """What is known of a function's code."""

    def __init__(
        self,
        code: CodeType,
        number: int,
        names: dict[int, list[str]],
        place: Comprehension | None = None,
    ) -> None:
        self.number = number
        self.names = names
        self.place = place
        self.inside = comprehensions(code) if place is None else []
        self._code = code
        self.path = code.co_filename
        self.name = getattr(code, "co_qualname", code.co_name)
        self.first_line = code.co_firstlineno
        self.locals = [*code.co_varnames, *code.co_cellvars, *code.co_freevars]
        self.runs: dict[int, int] = {}
        self.calls = 0
        self.is_coroutine = bool(code.co_flags & _COROUTINE)
        self.is_plain = not (code.co_flags & GENERATORS or catches(code))
        self.is_passed = False
        self.is_cut = False  # of a line, more runs were not counted
        self._yields: dict[int, bool] = {}
        self._flags = code.co_flags
        self._instructions = code.co_code

    def part(self, inside: Comprehension, number: int) -> Code:
        """Return the code of a comprehension in it, as if it were a function."""
        part = Code(self._code, number, self.names, inside)
        is_function = self.place is None and self._flags & _FUNCTION
        around = self.name + ".<locals>" if is_function else self.name
        part.name = inside.name if around == "<module>" else around + "." + inside.name
        part.first_line = inside.first_line
        return part

    def is_yield(self, frame: FrameType) -> bool:
        """Whether a call that is left may continue."""
        at = frame.f_lasti  # from Python 3.13 on it is the instruction after that
        known = self._yields.get(at)
        if known is None:
            is_near = _YIELD in self._instructions[max(at - 2, 0) : at + 1 : 2]
            known = self._yields[at] = is_near and bool(self._flags & GENERATORS)
        return known

    def is_result(self, *, is_yield: bool) -> bool:
        """Whether what a call is left with is meant for its caller.

        A coroutine that waits is left too, and so is a generator that has come to its end.
        """
        return not self._flags & GENERATORS or is_yield != self.is_coroutine
