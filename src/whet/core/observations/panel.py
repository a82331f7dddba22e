"""What a panel of `whet watch` shows: one signal, at one moment."""

from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class


@value_class(kw_only=True)
class Number(Record):
    """A quantity at one moment.

    Attributes:
        name: what it is, such as ``rss`` or ``disk.free``.
        value: how much of it there is.
        unit: such as ``bytes``, ``bytes/s``, ``percent``; empty: a plain number.
        full: the most that it can be, as a curve is scaled; 0: not known.
    """

    name: str
    value: float
    unit: str = sparse("")
    full: float = sparse(0.0)


@value_class(kw_only=True)
class Reading(Record):
    """One look at one signal.

    Attributes:
        panel: as the user named it, such as ``disk:/tmp``.
        title: what it shows, in a few words.
        headline: the number that matters most, as shown; empty: there is none.
        column: the name of that number, where a panel shows one of many; empty: the title says it.
        detail: what it is part of, such as ``free of 64.0 GB``.
        table: rows of cells, the names of the columns first; all but the last cell are numbers
            or short words.
        lines: text.
        reason: why there is nothing to show; empty: there is something.
        numbers: what is recorded; the first is drawn as a curve.
    """

    panel: str
    title: str
    headline: str = sparse("")
    column: str = sparse("")
    detail: str = sparse("")
    table: tuple[tuple[str, ...], ...] = sparse(())
    lines: tuple[str, ...] = sparse(())
    reason: str = sparse("")
    numbers: tuple[Number, ...] = sparse(())


@value_class(kw_only=True)
class Sight:
    """All panels at one moment.

    Attributes:
        seconds: since the command started; without a command, since the watch began.
        readings: one for each panel, in the order of the panels.
        events: thresholds that were crossed at this moment, in sentences.
    """

    seconds: float
    readings: tuple[Reading, ...]
    events: tuple[str, ...] = ()

    def number(self, name: str) -> float | None:
        """Return a quantity by its name; None: no panel has it now."""
        for reading in self.readings:
            for each in reading.numbers:
                if each.name == name:
                    return each.value
        return None
