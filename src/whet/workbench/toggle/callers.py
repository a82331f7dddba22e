"""Whose line called what a switch has changed inside a program."""

from collections.abc import Sequence

from whet.host.inspect.stacks import is_user_code, unescaped
from whet.workbench.toggle.toggle import Turned

_CALLED, _BETWEEN = "called:", "\x1f"


def caller_in(turned: Sequence[Turned]) -> tuple[str, int] | None:
    """Return the user's line that called it; None: there are several, or it isn't known."""
    lines = set[tuple[str, int]]()
    for sign in {sign for each in turned for sign in each.signs if sign.startswith(_CALLED)}:
        frames = (one.partition(":") for one in sign[len(_CALLED) :].split(_BETWEEN))
        own = ((unescaped(path), int(line)) for line, _, path in frames if line.isdigit())
        lines.update([frame for frame in own if is_user_code(frame[0])][:1])
    return lines.pop() if len(lines) == 1 else None
