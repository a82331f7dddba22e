"""All limits of one trial, each enforced by the first mechanism that works here."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Self

from whet.core.errors import LimitNotEnforced
from whet.core.limits import LimitMet, Limits
from whet.core.value_class import value_class
from whet.host.limits.enforcer import End, Enforcer, Order, Prepared
from whet.host.process.cleanup_journal import CleanupJournal


@value_class(kw_only=True)
class Around:
    """What stands around one trial; a context manager that takes it away again.

    Attributes:
        prepared: each limit.
        is_proven: the same limits were met by probes before, for an earlier trial.
    """

    is_proven: bool = False
    prepared: Sequence[Prepared] = field(default_factory=tuple[Prepared, ...])

    @property
    def steps(self) -> list[Order]:
        """What the child does before it becomes the program."""
        return [step for each in self.prepared for step in each.steps]

    @property
    def probes(self) -> list[Order]:
        """What the spawner proves before that."""
        return [] if self.is_proven else [order for each in self.prepared for order in each.probes]

    @property
    def watches(self) -> list[Order]:
        """What the spawner looks at meanwhile."""
        return [watch for each in self.prepared for watch in each.watches]

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that the program gets because of it."""
        return {name: value for each in self.prepared for name, value in each.environment.items()}

    @property
    def ways(self) -> tuple[str, ...]:
        """How each limit is enforced, in words."""
        return tuple(each.way for each in self.prepared if each.way)

    def met(self, end: End) -> tuple[LimitMet, ...]:
        """Return which limits the trial met."""
        return tuple(limit for each in self.prepared for limit in each.met(end))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of it; complete once `met` was asked."""
        return tuple(note for each in self.prepared for note in each.notes)

    def beside(self, more: Iterable[Prepared]) -> "Around":
        """Return this with something else around the trial too; takes all away if that fails."""
        prepared = list(self.prepared)
        try:
            prepared.extend(more)  # one by one: what was made before one fails is in it
        except BaseException:
            Around(prepared=prepared).__exit__()
            raise
        return replace(self, prepared=prepared)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self.prepared):
            with suppress(OSError):  # it stays written down, and the next whet removes it
                each.close()


NOTHING_AROUND = Around()


def put_around(limits: Limits, cleanup_journal: CleanupJournal) -> Around:
    """Make what the limits of one trial need.

    Raises:
        LimitNotEnforced: if there is no way here for one of them.
    """
    from whet.host.limits.catalogue import FAMILIES, asked_of

    chosen: dict[Enforcer, list[str]] = {}
    for family in FAMILIES:
        names = [name for name in family.names if asked_of(limits, name)]
        if names:
            chosen.setdefault(_first_way(family.ways, names, limits), []).extend(names)
    prepared: list[Prepared] = []
    try:
        for way, names in chosen.items():
            prepared.append(_prepared(way, names, limits, cleanup_journal))
    except BaseException:
        Around(prepared=prepared).__exit__()
        raise
    return Around(prepared=prepared)


def _prepared(
    way: Enforcer, names: Sequence[str], limits: Limits, cleanup_journal: CleanupJournal
) -> Prepared:
    try:
        return way.prepare(names, limits, cleanup_journal)
    except OSError as error:
        raise LimitNotEnforced(
            f"whet can't limit {', '.join(names)} by {way.way}: {error}",
            hint="`whet explain limit-not-enforced` lists what each way needs",
        ) from error


def _first_way(ways: Sequence[Enforcer], names: Sequence[str], limits: Limits) -> Enforcer:
    tried: list[str] = []
    for way in ways:
        lacking = [each for name in names if (each := way.blocker(name, limits))]
        if not lacking:
            return way
        tried.append(f"{way.way}: {lacking[0]}")
    options = ", ".join(f"`--{name}`" for name in names)
    raise LimitNotEnforced(
        f"whet can't enforce {options} here ({'; '.join(tried)})",
        hint="`whet explain limit-not-enforced` lists what each way needs",
    )
