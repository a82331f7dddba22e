"""What a trial's probes have seen, as `whet trace` and `whet show` show it."""

import sys
from collections.abc import Iterable
from itertools import islice

from whet.cli.console import answer, styled
from whet.evidence.clues.probes import ProbeReport, call_lines, hit_lines, place_line

_MOST_LINES = 200


def show_calls(report: ProbeReport, number: int, *, is_whole: bool) -> None:
    """Show the calls that were followed, as a tree."""
    _show(call_lines(report.calls), number, is_whole=is_whole)


def show_probes(report: ProbeReport, number: int, *, is_whole: bool) -> None:
    """Show all that was seen."""
    answer(styled("--- probes", "dim", sys.stdout))
    for place in report.places:
        answer(place_line(place))
    lines = (line for hit in report.hits for line in hit_lines(hit))
    _show(lines, number, is_whole=is_whole)
    show_calls(report, number, is_whole=is_whole)


def _show(lines: Iterable[str], number: int, *, is_whole: bool) -> None:
    rest = iter(lines)
    for line in rest if is_whole else islice(rest, _MOST_LINES):
        answer(line)
    left = sum(1 for _ in rest)
    if left:
        answer(styled(f"… {left:,} more lines: whet show {number} --probes", "dim", sys.stdout))
