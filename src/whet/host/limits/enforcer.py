"""The interface of a mechanism that enforces a limit on a trial, and the data that it prepares.

An `Enforcer` is one way to enforce one limit, such as memory with control groups. whet asks each
one in turn whether it works here (`blocker`), and prepares the first one that does for one trial
(`prepare`). It prepares plain data for two processes:

- the spawner runs the `probes`: a process that exceeds the limit before the program starts. Then it
  checks the `watches` while the program runs;
- the forked child takes the `steps` (join a group, set a limit, make a namespace) and becomes the
  program.

Steps, probes and watches are tuples whose first word is a name in `whet.host.spawner.steps`,
`.probes` and `.watches`. They travel by `marshal`: bytes, text, numbers and tuples of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from whet.core.limits import LimitMet, Limits
from whet.core.value_class import value_class
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.messages import Noted

Part: TypeAlias = "bytes | str | int | float | tuple[Part, ...]"
Order: TypeAlias = tuple[Part, ...]
"""One thing to do: its name and what it needs."""


@value_class(kw_only=True)
class End:
    """How a trial ended, as far as limits may explain it.

    Attributes:
        exit_code: of the command; None: a signal ended it.
        signal: that ended the command; None: none did.
        noted: what the spawner's watches saw, by name.
    """

    exit_code: int | None
    signal: int | None
    noted: Mapping[str, Noted]


class Prepared(Protocol):
    """Limits, ready for one trial. `close` takes away whatever was made for it."""

    @property
    def way(self) -> str:
        """How it is enforced, in words: ``memory 64 MiB by cgroup v1``."""
        ...

    @property
    def steps(self) -> tuple[Order, ...]:
        """What the child does before it becomes the program."""
        ...

    @property
    def probes(self) -> tuple[Order, ...]:
        """What the spawner proves before that; each meets the limit."""
        ...

    @property
    def watches(self) -> tuple[Order, ...]:
        """What the spawner looks at while the program runs."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that the program gets because of it."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know; asked after `met`."""
        ...

    def met(self, end: End, /) -> tuple[LimitMet, ...]:
        """Return which limits the trial met; asked before `close`."""
        ...

    def close(self) -> None:
        """Remove everything that it made; also called if the trial never started."""
        ...


class Enforcer(Protocol):
    """One way to enforce some limits."""

    @property
    def way(self) -> str:
        """What it is called: ``cgroup v1``, ``watchdog``."""
        ...

    def blocker(self, name: str, limits: Limits, /) -> str:
        """Return what it lacks here for a limit, as it is shown to the user; empty: it works."""
        ...

    def prepare(
        self, names: Collection[str], limits: Limits, cleanup_journal: CleanupJournal, /
    ) -> Prepared:
        """Make what one trial needs; what it makes is written down in ``cleanup_journal`` first.

        Args:
            names: which limits, as their options are called, without the dashes.
            limits: how much of each.
            cleanup_journal: the registry of what whet makes.

        Raises:
            OSError: if the system refuses it after all.
        """
        ...


def _no_variables() -> dict[str, str]:
    return {}


@value_class(kw_only=True)
class Plain:
    """A prepared limit that makes nothing on the machine; others may build on it."""

    way: str
    steps: tuple[Order, ...] = ()
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    notes: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=_no_variables)

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Return nothing: this limit leaves no trace of its own."""
        return ()

    def close(self) -> None:
        """Remove nothing."""
