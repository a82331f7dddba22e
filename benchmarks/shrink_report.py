"""What came of the shrink benchmark: tables, what was lost, and the docs."""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from shrink_cases import cases
from shrink_curves import write_panels
from shrink_run import Run

DOCS = Path(__file__).parents[1] / "docs"
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
    "case", "before", "whet", "best peer", "which", "peer / whet",
    "whet: s", "warm: s", "peer as small: s", "calls to shrinkray's size: whet / shrinkray",
)  # fmt: skip


def print_summary(entries: Sequence[Entry]) -> None:
    """Print one line for each case."""
    for line in _summary(entries):
        print(line)


def _summary(entries: Sequence[Entry]) -> Iterator[str]:
    yield ""
    yield "| " + " | ".join(_SUMMARY) + " |"
    yield "| :-- |" + " --: |" * (len(_SUMMARY) - 1)
    for _, of_case in _by_case(entries):
        runs = {each.tool: each.run for each in of_case}
        peers = {
            tool: run.size
            for tool, run in runs.items()
            if not tool.startswith("whet") and run.size is not None
        }
        best = min(peers, key=lambda tool: peers[tool], default="")
        ours, warm = runs.get("whet", Run()), runs.get("whet (warm)", Run())
        size = best_of(ours, warm)
        cells = [
            of_case[0].case,
            f"{of_case[0].before:,}",
            "-" if size is None else f"{size:,}",
            f"{peers[best]:,}" if best else "-",
            best,
            f"{peers[best] / size:.2f}" if best and size else "",
            _seconds(ours),
            _seconds(warm),
            _as_small(runs, size),
            _calls_to(ours, runs.get("shrinkray", Run())),
        ]
        yield "| " + " | ".join(cells) + " |"


def best_of(*runs: Run) -> int | None:
    """Return the smallest size that any of them reached."""
    return min((run.size for run in runs if run.size is not None), default=None)


def _seconds(run: Run) -> str:
    return "-" if run.size is None else f"{run.wall_seconds:.1f}"


def _as_small(runs: Mapping[str, Run], size: int | None) -> str:
    """Return when the quickest peer was as small as whet."""
    moments = [
        point.seconds
        for tool, run in runs.items()
        if not tool.startswith("whet")
        for point in run.points
        if size is not None and point.size <= size
    ]
    return f"{min(moments):.1f}" if moments else "none"


def _calls_to(ours: Run, shrinkray: Run) -> str:
    """Return after how many calls each was at shrinkray's final size."""
    if shrinkray.size is None or ours.size is None:
        return ""
    counts = [
        next((point.calls for point in run.points if point.size <= (shrinkray.size or 0)), None)
        for run in (ours, shrinkray)
    ]
    return " / ".join("never" if count is None else f"{count:,}" for count in counts)


def _by_case(entries: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    for name, found in groupby(entries, key=lambda each: each.case):
        yield name, list(found)


def write_docs(entries: Sequence[Entry]) -> None:
    """Write the table, what was lost and the picture into the documentation."""
    page = DOCS / "benchmarks.md"
    text = "\n".join([_START, *_summary(entries), "", *_details(entries), *_lost(entries), _END])
    pattern = re.compile(re.escape(_START) + ".*" + re.escape(_END), re.DOTALL)
    page.write_text(pattern.sub(lambda _: text, page.read_text()))
    write_panels(DOCS / "shrink-curves.svg", _panels(entries))


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
    keys = sorted({entry.key.partition(", ")[2] for entry in entries})
    yield f"Measured on {platform.machine()}, Linux {platform.release()}, with {'; '.join(keys)}:"
    yield ""
    yield "| case | " + " | ".join(_HEADER) + " |"
    yield "| :-- | :-- |" + " --: |" * (len(_HEADER) - 2) + " :-- |"
    for name, of_case in _by_case(entries):
        for number, row in enumerate(_rows(of_case)):
            case = f"{name}: {of_case[0].about}" if number == 0 else ""
            yield f"| {case} | " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def _lost(entries: Sequence[Entry]) -> Iterator[str]:
    """Say where a peer was better, and why."""
    why = {case.name: case.why_lost for case in cases()}
    yield "What was lost, and why:"
    yield ""
    lost = False
    for name, of_case in _by_case(entries):
        runs = {each.tool: each.run for each in of_case}
        size = best_of(*(run for tool, run in runs.items() if tool.startswith("whet")))
        for tool, run in runs.items():
            if tool.startswith("whet") or run.size is None:
                continue
            if size is None or run.size < size:
                lost = True
                ours = "nothing" if size is None else f"{size:,} bytes"
                reason = f": {why[name]}" if why[name] else ""
                yield f"- {name}: {tool} reached {run.size:,} bytes, whet {ours}{reason}"
    if not lost:
        yield "- nothing in size: no peer reached a smaller result in any case."
    yield ""
