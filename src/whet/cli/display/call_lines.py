"""System calls as verbs show them."""

import sys
from collections.abc import Sequence

from whet.cli.console import styled
from whet.core.observations.system_call import FileUse
from whet.core.text.quantity import shown_count
from whet.evidence.calls.call_words import address_words, failed_lines, file_words, wait_words
from whet.workbench.inspect.syscalls import CallReport

_MOST_FAILED = 6
_MOST_OTHERS = 6


def report_lines(report: CallReport, *, is_whole: bool = False) -> list[str]:
    """Return the lines that tell of the calls of a trial, or of a process."""
    calls = report.calls
    count = shown_count(len(report.telling), "failing call")
    usual = f"{calls.usual} usual ones of {calls.failed}" if calls.usual else ""
    known_kinds = f"{report.known} kinds known from {report.learnt_from}" if report.known else ""
    left_out = "; ".join(filter(None, (usual, known_kinds)))
    tail = f" (left out: {left_out})" if left_out else ""
    followed = f"{calls.seen} calls of {calls.processes} process{'es' * (calls.processes != 1)}"
    lines = [styled(f"{count}{tail}, {followed}", "dim", sys.stdout)]
    failures = report.telling if is_whole else report.telling[:_MOST_FAILED]
    for each in failures:
        first, *rest = failed_lines(each)
        lines += ["", styled(first, "bold", sys.stdout), *(f"    {line}" for line in rest)]
    lines += _more(len(report.telling) - len(failures))
    files_written = [file_words(each) for each in calls.files if each.is_written and _is_told(each)]
    read = [file_words(each) for each in calls.files if not each.is_written]
    waits = [wait_words(each) for each in calls.waits]
    addresses = [address_words(each) for each in calls.addresses]
    for title, rows in (
        ("waited", waits), ("written", files_written), ("read", read), ("addresses", addresses),
    ):  # fmt: skip
        lines += _part(title, rows, is_whole=is_whole)
    return [*lines, *(styled(f"note: {note}", "dim", sys.stdout) for note in calls.notes)]


def _part(title: str, rows: Sequence[str], *, is_whole: bool) -> list[str]:
    if not rows:
        return []
    visible_rows = rows if is_whole else rows[:_MOST_OTHERS]
    return ["", styled(f"{title}:", "dim", sys.stdout), *(f"    {row}" for row in visible_rows),
            *(f"    {line}" for line in _more(len(rows) - len(visible_rows)))]  # fmt: skip


def _more(count: int) -> list[str]:
    return [f"… {count} more: --all"] if count > 0 else []


def _is_told(use: FileUse) -> bool:
    return not use.path.startswith("/dev/")
