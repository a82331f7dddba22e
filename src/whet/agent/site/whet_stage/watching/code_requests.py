"""What somebody who takes a function's code wants of it: its parameters, its place, or all.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

PARAMETERS, PLACE, ALL = "parameters", "place", "all"

_FLAGS = ("co_flags",) if sys.version_info >= (3, 11) else ()  # they told what the body shares
_OF_PARAMETERS = frozenset((
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name", "co_filename", *_FLAGS,
))  # fmt: skip
"""None of them changes with the body, except as a generator, which is looked at for each edit."""

_OF_PLACE = "co_firstlineno"
_NAME_SHIFT = 1 if sys.version_info >= (3, 12) else 0  # the last bit says that it will be called


def part_asked_for(frame: FrameType) -> str:
    """Return which part of a function's code a frame asks for that is about to get it."""
    code = frame.f_code
    name = _attribute_of_it(code, frame.f_lasti)
    if _is_place(code) or name == _OF_PLACE:
        return PLACE
    return PARAMETERS if _is_signature(code) or name in _OF_PARAMETERS else ALL


def _attribute_of_it(code: CodeType, at: int) -> str:
    """Return the attribute in `f.__code__.co_argcount`; empty: it keeps the code for longer.

    Args:
        code: of who asks.
        at: the instruction that takes `__code__`.
    """
    instructions, names = code.co_code, code.co_names
    after = at + 2
    while instructions[after : after + 1] == b"\0":  # what the interpreter notes in between
        after += 2
    if instructions[at : at + 1] != instructions[after : after + 1]:
        return ""
    first, second = (instructions[each + 1] >> _NAME_SHIFT for each in (at, after))
    is_it = max(first, second) < len(names) and names[first] == "__code__"
    return names[second] if is_it else ""


def _is_signature(code: CodeType) -> bool:
    return os.path.basename(code.co_filename) == "inspect.py" and code.co_name in {
        "_signature_from_function", "_has_code_flag", "_signature_from_callable",
    }  # fmt: skip


def _is_place(code: CodeType) -> bool:
    """Whether it asks where a function stands, and nothing else of it."""
    folder, name = os.path.split(code.co_filename)
    return os.path.basename(folder) in {"_pytest", "_code"} and (name, code.co_name) in {
        ("compat.py", "getlocation"), ("source.py", "getrawcode"),
    }  # fmt: skip
