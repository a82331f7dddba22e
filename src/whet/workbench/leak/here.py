"""A piece of code that is repeated in this process, as a cell of a notebook is."""

import time
from array import array
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout

from whet.agent.site.whet_leak.growth import Growth as Adding
from whet.agent.site.whet_leak.usage import Usage
from whet.core.text.record import as_record
from whet.host.inspect.stacks import is_user_code
from whet.measurement.leaks.verdict import Judgement, Series, judge
from whet.workbench.leak.holder import holders_of
from whet.workbench.leak.leak import Leak, Piece
from whet.workbench.leak.reports import growth_of

_FEWEST, _MOST, _SECONDS = 16, 200, 5.0
_WARM_UP, _COMPARED = 2, 16
_CONTROLS = 12
NOTEBOOK = "<notebook>"
"""Stands for the file of the names that cells define."""


class _Nowhere:
    """Takes what is printed, and keeps nothing of it."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def repeat_here(run: Callable[[], object], names: Mapping[str, object], count: int | None) -> Leak:
    """Run a piece again and again, and return what it leaves behind each time.

    What it prints is shown the first time only.

    Args:
        run: the piece; what it raises ends it all.
        names: the namespace in which it runs.
        count: how often it runs; None: as often as 5 seconds allow, from 16 to 200 times.
    """
    run()
    usage = Usage()
    control = _Samples(usage, _CONTROLS)
    while len(control) < _CONTROLS:
        control.add()
    samples = _Samples(usage, count or _MOST)
    began = time.monotonic()
    with redirect_stdout(_Nowhere()):
        while not _is_over(len(samples), time.monotonic() - began, count):
            run()
            samples.add()
    usages = samples.usages()
    series = Series(numbers=tuple(range(1, len(usages) + 1)), usages=usages)
    judgement = judge(series, control.usages())
    return _leak(run, names, series, judgement)


class _Samples:
    """Numbers in one array that is made before: a list that grows would be measured too."""

    def __init__(self, usage: Usage, most: int) -> None:
        self._usage = usage
        self._names = sorted(usage.sample())
        self._numbers = array("q", bytes(8 * most * len(self._names)))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self) -> None:
        """Measure once more."""
        usage = self._usage.sample()
        at = self._count * len(self._names)
        for place, name in enumerate(self._names):
            self._numbers[at + place] = usage.get(name, 0)
        self._count += 1

    def usages(self) -> tuple[Mapping[str, int], ...]:
        """Return the measurements, by name."""
        width = len(self._names)
        starts = range(0, self._count * width, width)
        return tuple(
            dict(zip(self._names, self._numbers[at : at + width], strict=True)) for at in starts
        )


def _is_over(done: int, seconds: float, count: int | None) -> bool:
    if count is not None:
        return done >= count
    return done >= _MOST or (done >= _FEWEST and seconds > _SECONDS)


def _leak(
    run: Callable[[], object], names: Mapping[str, object], series: Series, judgement: Judgement
) -> Leak:
    growth = None
    if judgement.growing:
        adding = Adding(_is_own, [(names, "the notebook", NOTEBOOK)])
        was_tracing = adding.begin()
        with redirect_stdout(_Nowhere()):
            for _ in range(_WARM_UP):
                run()
            adding.note()
            for _ in range(_COMPARED):
                run()
        growth = growth_of(as_record(adding.facts(_COMPARED), "growth"))
        if not was_tracing:
            adding.end()
    holders = () if growth is None else holders_of(growth, {})
    return Leak(
        piece=Piece(is_loop=True, path="", line=0, function=""), judgement=judgement, series=series,
        control=_CONTROLS, growth=growth, holders=holders, notes=(), trials=(),
    )  # fmt: skip


def _is_own(path: str) -> bool:
    is_cell = path.startswith(("<ipython", NOTEBOOK)) or "ipykernel_" in path
    return is_cell or (path[:1] == "/" and is_user_code(path))
