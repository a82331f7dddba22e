"""The sections of a running program: which one is open, and what those before it took."""

from pathlib import Path

from whet.core.observations.panel import Number, Reading
from whet.core.observations.timeline import Timeline
from whet.core.text.quantity import shown_seconds
from whet.host.levels.processes import gigabytes
from whet.host.trial.sections import sections_so_far

_MOST_BYTES = 4_000_000
_NONE = "the program has begun no section (yet): `with whet.section('load'):`"


class Sections:
    """Reads what the processes of a trial have written about their sections."""

    def __init__(self) -> None:
        self._sizes: tuple[int, ...] = ()
        self._timeline = Timeline()

    def reading(self, panel: str, agent_folder: Path | None, began: float, now: float) -> Reading:
        """Return the sections now.

        Args:
            panel: as the user named it.
            agent_folder: where they are written; None: the program isn't there.
            began: when it started, in seconds of `time.monotonic`.
            now: the same of this moment.
        """
        if agent_folder is not None:
            self._read(agent_folder, began)
        open_spans = [each for each in self._timeline.spans if each.seconds is None]
        rows = [
            (
                f"{each.count:,}",
                f"{each.seconds:.2f}",
                "" if each.peak_memory_bytes is None else gigabytes(each.peak_memory_bytes),
                each.name,
            )
            for each in self._timeline.totals
        ]
        words = ""
        if open_spans and agent_folder is not None:
            last = open_spans[-1]
            words = f"{shown_seconds(now - began - last.start)} in {last.name}"
        count = sum(each.count for each in self._timeline.totals)
        return Reading(
            panel=panel,
            title="sections",
            headline=words or (f"{count:,} sections" if rows else ""),
            table=(("times", "s", "GB", "section"), *rows) if rows else (),
            reason="" if rows else _NONE,
            numbers=(Number(name="sections", value=count),) if rows else (),
        )

    def _read(self, agent_folder: Path, began: float) -> None:
        files = sorted(agent_folder.glob("*.sections"))
        sizes = tuple(each.stat().st_size for each in files)
        if sizes != self._sizes and sum(sizes) < _MOST_BYTES:
            self._sizes = sizes
            self._timeline = sections_so_far(agent_folder, began)
