"""The panels of a trial as its timeline: levels, and what each panel showed when that changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.core.observations.panel import Number, Reading, Sight
from whet.core.observations.resources import ResourceUse
from whet.core.observations.timeline import Level, Mark, Timeline
from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class

SOURCE = "watch"
STREAMS = ("stdout", "stderr")
_MOST_SIGHTS = 4096
_MOST_BYTES = 4_000_000
_OUTPUT = "output "
_THRESHOLD = "threshold"


@dataclass(slots=True)
class Recording:
    """What was seen of a trial; a long trial keeps as many sights as a short one, further apart.

    Attributes:
        sights: in the order of time.
    """

    sights: list[tuple[Sight, Mapping[str, int]]] = field(
        default_factory=list["tuple[Sight, Mapping[str, int]]"]
    )
    _events: list[Mark] = field(default_factory=list[Mark])
    _step: int = 1
    _count: int = 0
    _frame_bytes: int = 0

    @property
    def has_levels(self) -> bool:
        """Whether anything was measured."""
        return any(each.numbers for sight, _ in self.sights for each in sight.readings)

    def note(self, sight: Sight, stream_bytes: Mapping[str, int]) -> None:
        """Keep a sight, and how much the program had written by then."""
        if self._count % self._step == 0:
            self.sights.append((sight, dict(stream_bytes)))
        self._count += 1
        if len(self.sights) > _MOST_SIGHTS:
            del self.sights[1::2]
            self._step *= 2

    def note_event(self, at: float, text: str, words: Mapping[str, object]) -> None:
        """Keep that a threshold was crossed."""
        self._events.append(Mark(name=text, at=at, source=_THRESHOLD, words=words))

    def timeline(self) -> Timeline:
        """Return it in the form that is kept with a trial."""
        return Timeline(
            marks=tuple(sorted([*self._frames(), *self._events], key=lambda each: each.at)),
            levels=(*self._levels(), *self._outputs()),
            notes=_THINNED if self._step > 1 else (),
        )

    def _levels(self) -> list[Level]:
        columns: dict[tuple[str, str, str], tuple[list[float], list[float]]] = {}
        for sight, _ in self.sights:
            for reading in sight.readings:
                for each in reading.numbers:
                    key = (reading.panel, each.name, each.unit)
                    seconds, values = columns.setdefault(key, ([], []))
                    seconds.append(round(sight.seconds, 3))
                    values.append(each.value)
        return [
            Level(name=name, unit=unit, seconds=tuple(seconds), values=tuple(values),
                  source=f"{SOURCE} {panel}")
            for (panel, name, unit), (seconds, values) in columns.items()
        ]  # fmt: skip

    def _outputs(self) -> list[Level]:
        seconds = tuple(round(sight.seconds, 3) for sight, _ in self.sights)
        return [
            Level(name=f"{_OUTPUT}{stream}", unit="bytes", seconds=seconds,
                  values=tuple(float(sizes.get(stream, 0)) for _, sizes in self.sights),
                  source=SOURCE)
            for stream in STREAMS
            if seconds
        ]  # fmt: skip

    def _frames(self) -> list[Mark]:
        """Return what each panel showed, where that is another thing than before; its numbers are levels."""
        shown: dict[str, Reading] = {}
        marks: list[Mark] = []
        left_bytes = _MOST_BYTES
        for sight, _ in self.sights:
            for reading in sight.readings:
                frame = replace(reading, numbers=())
                if shown.get(reading.panel) == frame:
                    continue
                left_bytes -= sum(map(len, frame.lines)) + sum(len(str(row)) for row in frame.table)
                if left_bytes < 0:
                    frame = replace(frame, lines=(), table=())
                shown[reading.panel] = frame
                words = frame.to_json()
                marks.append(
                    Mark(name=reading.panel, at=round(sight.seconds, 3), source=SOURCE, words=words)
                )
        return marks


_THINNED = (
    "the trial was long: of the looks that whet took, only every second one, or fewer, is kept",
)


@value_class
class Replay:
    """A recorded trial, to be shown as it was.

    Attributes:
        sights: what the panels showed, in the order of time.
        stream_bytes: how much of each stream had come at each of them.
        seconds: how long the trial ran.
    """

    sights: Sequence[Sight]
    stream_bytes: Sequence[Mapping[str, int]]
    seconds: float

    def at(self, seconds: float) -> int:
        """Return which sight was the last one at a moment."""
        count = sum(each.seconds <= seconds for each in self.sights)
        return max(0, count - 1)


def replay_of(
    timelines: Sequence[Timeline], use: ResourceUse | None, seconds: float
) -> Replay | None:
    """Return what was recorded of a trial; None: nothing was.

    Args:
        timelines: those that are kept with it.
        use: its memory and processors, which whet samples of each trial that is long enough.
        seconds: how long it ran.

    Raises:
        MalformedRecordError: if a frame is no reading.
    """
    for timeline in timelines:
        if any(each.source.startswith(SOURCE) for each in timeline.levels):
            return _of_timeline(timeline, seconds)
    return None if use is None else _of_use(use, seconds)


def _of_timeline(timeline: Timeline, seconds: float) -> Replay:
    levels = [each for each in timeline.levels if each.source.startswith(f"{SOURCE} ")]
    outputs = [each for each in timeline.levels if each.source == SOURCE]
    times = sorted({at for each in (*levels, *outputs) for at in each.seconds})
    numbers: dict[tuple[str, float], list[Number]] = {}
    for each in levels:
        panel = each.source.removeprefix(f"{SOURCE} ")
        for at, value in zip(each.seconds, each.values, strict=True):
            number = Number(name=each.name, value=value, unit=each.unit)
            numbers.setdefault((panel, at), []).append(number)
    frames = [each for each in timeline.marks if each.source == SOURCE]
    events = [each for each in timeline.marks if each.source == _THRESHOLD]
    sizes = {
        each.name.removeprefix(_OUTPUT): dict(zip(each.seconds, each.values, strict=True))
        for each in outputs
    }
    shown: dict[str, Reading] = {}
    sights: list[Sight] = []
    for at in times:
        while frames and frames[0].at <= at:
            first = frames.pop(0)
            shown[first.name] = Reading.from_json(first.words)
        told: list[str] = []
        while events and events[0].at <= at:
            told.append(str(events.pop(0).words.get("told", "")))
        readings = tuple(
            replace(each, numbers=tuple(numbers.get((panel, at), ())))
            for panel, each in shown.items()
        )
        sights.append(Sight(seconds=at, readings=readings, events=tuple(filter(None, told))))
    stream_bytes = [
        {stream: int(column.get(at, 0)) for stream, column in sizes.items()} for at in times
    ]
    return Replay(sights, stream_bytes, max([seconds, *times]))


def _of_use(use: ResourceUse, seconds: float) -> Replay:
    rows = zip(use.seconds, use.memory_bytes, use.processors, use.files, use.processes, strict=True)
    sights = [
        Sight(
            seconds=at,
            readings=(
                _sample("memory", "memory", shown_bytes(memory), "rss", memory, "bytes"),
                _sample("cpu", "processors", f"{100 * busy:.0f} %", "cpu", 100 * busy, "percent"),
                _sample("processes", "processes", f"{count:,}", "processes", count, ""),
                _sample("files", "open files", f"{files:,}", "files", files, ""),
            ),
        )
        for at, memory, busy, files, count in rows
    ]
    return Replay(sights, [{} for _ in sights], max(seconds, *use.seconds))


def _sample(panel: str, title: str, headline: str, name: str, value: float, unit: str) -> Reading:
    number = Number(name=name, value=value, unit=unit)
    return Reading(panel=panel, title=title, headline=headline, numbers=(number,))
