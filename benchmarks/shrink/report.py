"""What came of the shrink benchmark: tables, what was lost, and the docs."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.shrink.cases import cases
from benchmarks.shrink.curves import write_panels
from benchmarks.shrink.measured_run import Run
from benchmarks.table import table_lines

RESULTS = Path(__file__).parents[1] / "results" / "shrink"
ENGINE_RESULTS = RESULTS / "engine.json"
DOCS = Path(__file__).parents[2] / "docs"
_START, _END = "<!-- bench-shrink: begin -->", "<!-- bench-shrink: end -->"


@dataclass(slots=True, kw_only=True)
class Entry:
    """One tool on one case.

    Attributes:
        case: its name.
        about: what it is.
        tool: its name.
        before: bytes of the file.
        key: what it was measured with: only entries of one key can be compared.
        run: what came of it.
    """

    case: str
    about: str
    tool: str
    before: int
    key: str
    run: Run

    @property
    def is_ours(self) -> bool:
        """Whether the tool is whet."""
        return self.tool.startswith("whet")


_HEADER = (
    "tool", "bytes", "ratio", "calls", "ratio", "CPU s", "wall s", "ratio", "remark",
)  # fmt: skip


def print_case(entries: Sequence[Entry]) -> None:
    """Print what came of one case; a ratio above 1 means that whet needs less."""
    print(f"\n{entries[0].case}: {entries[0].about}, {entries[0].before:,} bytes")
    rows = [_HEADER, *_rows(entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        print("  " + "  ".join([*cells, row[-1]]).rstrip())
    for entry in entries:
        if entry.run.shown:
            print(f"  {entry.tool}: {entry.run.shown!r}")


def _rows(entries: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    ours = next((each.run for each in entries if each.tool == "whet"), Run())
    for entry in entries:
        run = entry.run
        if run.size is None:
            spent = [f"{run.calls}", "", f"{run.cpu_seconds:.1f}", f"{run.wall_seconds:.1f}", ""]
            if run.remark.startswith("skipped"):
                spent = [""] * 5
            yield (entry.tool, "-", "", *spent, run.remark)
            continue
        remark = run.remark
        if run.elements is not None:
            remark = "; ".join(each for each in (f"{run.elements} numbers", remark) if each)
        yield (
            entry.tool,
            f"{run.size:,}",
            _ratio(run.size, ours.size),
            f"{run.calls:,}",
            _ratio(run.calls, ours.calls),
            f"{run.cpu_seconds:.1f}",
            f"{run.wall_seconds:.1f}",
            _ratio(run.wall_seconds, ours.wall_seconds),
            remark,
        )


def _ratio(value: float, ours: float | None) -> str:
    return f"{value / ours:.2f}" if ours else ""


_SUMMARY = (
    "case", "bytes", "whet", "best peer", "peer / whet", "whet s", "peer as small s",
    "peer / whet", "calls to shrinkray's size: shrinkray, whet",
)  # fmt: skip


def print_summary(entries: Sequence[Entry]) -> None:
    """Print one line for each case."""
    print("\n" + "\n".join(_summary(entries)))


def _summary(entries: Sequence[Entry]) -> list[str]:
    rows: list[list[str]] = []
    for _, of_case in _by_case(entries):
        peers = {each.tool: each.run for each in of_case if not each.is_ours}
        ours = [each.run for each in of_case if each.is_ours and each.run.size is not None]
        best = min(ours, key=lambda run: (run.size, run.wall_seconds), default=Run())
        name, other = min(
            peers.items(),
            key=lambda item: (item[1].size is None, item[1].size),
            default=("", Run()),
        )
        moment = _moment(peers.values(), best.size)
        script = next((each.run for each in of_case if each.tool == "whet"), Run())
        rows.append(
            [
                of_case[0].case,
                f"{of_case[0].before:,}",
                _sized(best),
                f"{_sized(other)} {name}",
                _ratio(other.size or 0, best.size),
                f"{best.wall_seconds:.1f}",
                "none" if moment is None else f"{moment:.1f}",
                "" if moment is None else _ratio(moment, best.wall_seconds),
                _calls_to(peers.get("shrinkray", Run()), script),
            ]
        )
    return table_lines(_SUMMARY, rows)


def _sized(run: Run) -> str:
    if run.size is None:
        return "-"
    return f"{run.size:,}" + ("" if run.elements is None else f" ({run.elements} numbers)")


def _moment(runs: Iterable[Run], size: int | None) -> float | None:
    """Return when the quickest of some runs was at a size."""
    points = (point for run in runs for point in run.points)
    return min((each.seconds for each in points if each.size <= (size or 0)), default=None)


def _calls_to(shrinkray: Run, ours: Run) -> str:
    """Return after how many calls each was at shrinkray's final size."""
    if shrinkray.size is None or ours.size is None:
        return ""
    size = shrinkray.size
    counts = [
        next((point.calls for point in run.points if point.size <= size), None)
        for run in (shrinkray, ours)
    ]
    return ", ".join("never" if count is None else f"{count:,}" for count in counts)


def _by_case(entries: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    for name, found in groupby(entries, key=lambda each: each.case):
        yield name, list(found)


def write_docs(entries: Sequence[Entry]) -> None:
    """Write the table, what was lost and the picture into the documentation."""
    page = DOCS / "benchmarks.md"
    parts = [*_summary(entries), "", "![Size against time](shrink-curves.svg)", ""]
    parts += [*_details(entries), *_lost(entries), *_engine()]
    text = "\n".join([_START, "", *parts, _END])
    pattern = re.compile(re.escape(_START) + ".*" + re.escape(_END), re.DOTALL)
    page.write_text(pattern.sub(lambda _: text, page.read_text()))
    write_panels(DOCS / "shrink-curves.svg", _panels(entries))


def _engine() -> Iterator[str]:
    if ENGINE_RESULTS.exists():
        for title, header, rows in json.loads(ENGINE_RESULTS.read_text()):
            yield from (f"{title}, of `reduction/` alone:", "", *table_lines(header, rows), "")


def _panels(entries: Sequence[Entry]) -> dict[str, dict[str, list[tuple[float, int]]]]:
    panels: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for name, of_case in _by_case(entries):
        curves: dict[str, list[tuple[float, int]]] = {}
        for entry in of_case:
            if entry.run.points and entry.run.calls:
                points = [(point.seconds, point.size) for point in entry.run.points]
                curves[entry.tool] = [*points, (entry.run.wall_seconds, points[-1][1])]
        panels[name] = curves
    return panels


def _details(entries: Sequence[Entry]) -> Iterator[str]:
    settings = sorted({entry.key.partition(", ")[2] for entry in entries})
    yield f"All of it, with at most {' and '.join(settings)}:"
    yield ""
    rows: list[list[str]] = []
    for name, of_case in _by_case(entries):
        for number, row in enumerate(_rows(of_case)):
            case = f"{name}: {of_case[0].about}" if number == 0 else ""
            rows.append([case, *(cell.replace("|", "\\|") for cell in row)])
    yield from table_lines(("case", *_HEADER), rows)
    yield ""


def _lost(entries: Sequence[Entry]) -> Iterator[str]:
    """Say where a peer was better, and why."""
    why = {case.name: case.why_lost for case in cases()}
    yield "What was lost, and why:"
    yield ""
    lost = False
    for name, of_case in _by_case(entries):
        ours = [each.run.size for each in of_case if each.is_ours and each.run.size is not None]
        for entry in of_case:
            size = entry.run.size
            if entry.is_ours or size is None or size >= min(ours, default=size + 1):
                continue
            lost = True
            reached = f"{min(ours):,} bytes" if ours else "nothing"
            reason = f": {why[name]}" if why[name] else "."
            yield f"- {name}: {entry.tool} reached {size:,} bytes, whet {reached}{reason}"
    if not lost:
        yield "- nothing in size: no peer reached a smaller result in any case."
    yield ""
