"""A trial that is ready to start, with its limits and its sandbox."""

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from whet.core.limits import Limits
from whet.core.trial import ResetStep
from whet.core.value_class import value_class
from whet.host.limits.enforcer import Prepared

AGENT_VARIABLE = "WHET_AGENT"
PYCACHE_VARIABLE = "WHET_PYCACHE"


@value_class(kw_only=True)
class Program:
    """A trial made ready: payloads written, environment complete.

    Attributes:
        command: argument vector.
        environment: all of it.
        cwd: folder to start in.
        stdin: file to read from; None: whet's own standard input.
        reset: steps before the command.
        limits: what it may use.
        payloads: where the payloads of the trial lie, by their place in it.
        contents: digests of what they and standard input hold.
        looks: the folder below which it is noted what it looks at, a real path, and git's own
            folder of that; empty: it isn't noted.
        hang_seconds: time without output after which it counts as a hang; None: never.
        beside: what else stands around it, which is neither a limit nor a room.
        hangs_if_idle: only if it does nothing either.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str
    stdin: Path | None = Path(os.devnull)
    reset: tuple[ResetStep, ...] = ()
    limits: Limits = field(default_factory=Limits)
    payloads: tuple[Path, ...] = ()
    contents: tuple[str, ...] = ()
    looks: tuple[str, str] = ("", "")
    hang_seconds: float | None = None
    beside: tuple[Prepared, ...] = ()
    hangs_if_idle: bool = False
