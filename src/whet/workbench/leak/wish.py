"""What the agent repeats or watches, as it reads it."""

import json
from collections.abc import Sequence

from whet.core.value_class import value_class
from whet.workbench.inspect.probe import Place

_ANY_PLACE: dict[str, object] = {
    "number": 0, "title": "", "kind": "line", "path": "", "module": "", "line": 0, "last": 0,
    "name": "", "condition": "", "after": 0, "every": 1, "actions": [],
}  # fmt: skip
_COMMON: dict[str, object] = {"ranks": [], "most_calls": 0}


@value_class(kw_only=True)
class Loop:
    """A loop of the user's, or a section.

    Attributes:
        path: its file; empty: it is a section.
        line: the line of its `for` or `while`.
        function: the function that it is in, empty: none; of a section its name.
    """

    path: str
    line: int
    function: str = ""


def loops_wish(seconds: float, only: Loop | None) -> str:
    """Ask for numbers at the rounds of loops, for so long.

    Args:
        seconds: the program ends then.
        only: the loop; None: all.
    """
    return _loops(seconds, only, ())


def closer_wish(loop: Loop, between: Sequence[int]) -> str:
    """Ask for what is added in a loop between two rounds.

    Args:
        loop: it.
        between: from which round on allocations are traced, between which two it is compared.
    """
    return _loops(0.0, loop, between)


def _loops(seconds: float, only: Loop | None, between: Sequence[int]) -> str:
    is_section = only is not None and not only.path
    asked = {
        "piece": "loop", "seconds": seconds, "between": list(between),
        "loop": None if only is None or is_section else [only.path, only.line],
        "section": only.function if only is not None and is_section else "",
    }  # fmt: skip
    return json.dumps({**_COMMON, "probes": [_ANY_PLACE], **asked})


def call_wish(place: Place, nth: int, seconds: float) -> str:
    """Ask for a call to be repeated."""
    record = {
        **_ANY_PLACE, "title": place.title, "kind": "call", "path": place.path,
        "module": place.module, "line": place.line, "last": place.last, "name": place.name,
    }  # fmt: skip
    asked = {"piece": "call", "nth": nth, "seconds": seconds}
    return json.dumps({**_COMMON, "probes": [record], **asked})
