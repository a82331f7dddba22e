"""Lets memray run this Python's program, for `whet profile --memory`.

memray knows only the frames that begin after it does, so it has to begin before the main script: the
process becomes `python -m memray run …` with the same words. Programs that Python starts come here
again, each on its own.

Standard library only, Python 3.10 or later.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[[str, bytes], None]

_WRAPPED = "WHET_PROFILER_PID"
"""The number of the process that memray runs already."""


def begin(folder: str, tell: Tell) -> dict[str, Callable[[dict[str, object]], None]]:
    """Become memray, unless this process is it, or can't.

    Args:
        folder: where the record goes.
        tell: writes to a file of this process, by the end of its name.
    """
    own = str(os.getpid())
    words = _words()
    if os.environ.get(_WRAPPED) == own or not words:
        return {}
    from importlib.util import find_spec

    is_there = find_spec("memray") is not None
    told = {"executable": sys.executable, "engine": "memray" if is_there else ""}
    tell(".memory", json.dumps(told).encode() + b"\n")
    if is_there:
        os.environ[_WRAPPED] = own
        output = os.path.join(folder, own + ".memray")
        options = ["-m", "memray", "run", "--quiet", "--follow-fork", "--output", output]
        flags, program = words
        os.execv(sys.executable, [sys.executable, *flags, *options, *program])
    return {}


def _words() -> tuple[list[str], list[str]] | None:
    """Return the interpreter's options and the program's words; None: it has no program."""
    given: list[str] = getattr(sys, "orig_argv", [])
    arguments = sys.argv[1:]
    before = given[1 : len(given) - len(arguments)]
    if not before or sys.argv[:1] == [""]:
        return None
    is_option = sys.argv[0] in {"-c", "-m"}
    count = 2 if is_option else 1
    flags, program = before[:-count], before[-count:]
    if len(program) < count or (is_option and program[0] != sys.argv[0]):
        return None
    return flags, [*program, *arguments]
