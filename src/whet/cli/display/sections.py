"""The sections of a trial as a table: `whet.section` in the program, shown after it."""

from collections.abc import Sequence

from whet.core.observations.evidence import TIMELINE, Evidence
from whet.core.observations.timeline import SectionTotal, Timeline
from whet.core.text.quantity import listed, shown_bytes, shown_count, shown_seconds
from whet.core.text.shown_text import visible_line

FEW, MANY = 12, 100
"""How many sections `whet run` shows, and `whet show`."""

_HEAD = ("section", "runs", "wall", "CPU", "peak", "kept")
_MORE = {
    "gpu_peak_memory": "GPU peak",
    "gpu_kept_memory": "GPU kept",
    "jax_gpu_peak_memory": "JAX GPU peak",
    "jax_gpu_kept_memory": "JAX GPU kept",
    "python_peak_memory": "Python peak",
    "python_kept_memory": "Python kept",
    "kept_objects": "objects",
}
"""What else may have a column: numbers of a section, and what their columns are called."""

_WIDEST_NAME = 40
_INDENT = "  "


def timelines_in(evidence: Sequence[Evidence]) -> list[Timeline]:
    """Return the timelines in what was observed of a trial."""
    return [Timeline.from_bytes(each.data) for each in evidence if each.kind == TIMELINE]


def section_lines(timelines: Sequence[Timeline], most: int) -> list[str]:
    """Return the table of sections, and what is missing in it; nothing if there are none.

    Args:
        timelines: those of one trial.
        most: how many sections it may show.
    """
    lines: list[str] = []
    for timeline in timelines:
        if timeline.totals:
            lines += _table(timeline, most)
        lines += [f"note: {each}" for each in timeline.notes]
    return lines


def sections_json(timelines: Sequence[Timeline]) -> list[dict[str, object]]:
    """Return the totals of sections as JSON data."""
    return [
        {**total.to_json(), "measure": total.measure} for each in timelines for total in each.totals
    ]


def section_measures(timelines: Sequence[Timeline]) -> set[str]:
    """Return the names of the measurements that the table of sections shows."""
    return {name for each in timelines for total in each.totals for name in total.numbers}


def _table(timeline: Timeline, most: int) -> list[str]:
    totals = timeline.totals
    if len(totals) > most:
        longest = sorted(totals, key=lambda each: each.seconds, reverse=True)[:most]
        totals = tuple(each for each in totals if each in longest)
    depths = _depths(timeline)
    more = [name for name in _MORE if any(name in each.others for each in totals)]
    head = (*_HEAD, *(_MORE[name] for name in more), "")
    rows = [head, *(_row(each, depths.get(each.name, 0), more) for each in totals)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if 0 < column < len(head) - 1 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    left_out = len(timeline.totals) - len(totals)
    if left_out:
        lines.append(f"and {shown_count(left_out, 'shorter section')}")
    kinds = {each.name: each.words["objects"] for each in timeline.spans if "objects" in each.words}
    lines += [f"`{name}` kept {visible_line(str(words))}" for name, words in kinds.items() if words]
    return lines


def _row(total: SectionTotal, depth: int, more: Sequence[str]) -> tuple[str, ...]:
    name = visible_line(total.name)
    name = name if len(name) <= _WIDEST_NAME else f"{name[: _WIDEST_NAME - 3]}..."
    remarks = [f"as {total.measure}"] if total.measure != total.name else []
    remarks += [f"{total.open_count} not ended"] if total.open_count else []
    remark = listed(remarks) if remarks else ""
    if not total.count:
        return (f"{_INDENT * depth}{name}", "0", *["-"] * (len(_HEAD) + len(more) - 2), remark)
    return (
        f"{_INDENT * depth}{name}",
        f"{total.count:,}",
        shown_seconds(total.seconds),
        shown_seconds(total.cpu_seconds),
        _shown("peak_memory", total.peak_memory_bytes),
        _shown("kept_memory", total.kept_memory_bytes),
        *(_shown(each, total.others.get(each)) for each in more),
        remark,
    )


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    sign = ("-" if value < 0 else "+") if "kept" in name else ""
    count = abs(round(value))
    return f"{sign}{shown_bytes(count) if name.endswith('_memory') else f'{count:,}'}"


def _depths(timeline: Timeline) -> dict[str, int]:
    """Return how many other sections the first run of each name is inside of."""
    depths: list[int] = []
    of_names: dict[str, int] = {}
    for span in timeline.spans:
        depth = 0 if span.parent is None else depths[span.parent] + 1
        depths.append(depth)
        of_names.setdefault(span.name, depth)
    return of_names
