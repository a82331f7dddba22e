"""What each statement of a file took, as a table."""

import shutil
from collections.abc import Iterator, Sequence

from whet.cli.display.expected import factor_words
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.measurement.expectations.comments import EACH, KEPT, RUNS, TOTAL
from whet.measurement.expectations.counted_lines import CommentScore, Count, CountedStatement
from whet.workbench.expect.lines import LinesReport

_LEAST_SHARE, _LEAST_BYTES = 0.01, 1_000_000
_FEW = 40
_MICRO = 1e-3
_NOTICED = 1.05
_WIDEST, _NARROWEST = 110, 20
_NUMBERS = 35


def report_lines(report: LinesReport, *, is_whole: bool) -> Iterator[str]:
    """Yield the table, what was expected, and what wasn't counted.

    Args:
        report: what was counted.
        is_whole: show each statement, not only those that took something.
    """
    width = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    source = report.target.source.splitlines()
    missed = {each.first: each for each in report.lines.scores if each.was_met is False}
    yield f"{'line':>5} {'runs':>9} {'time':>8} {'memory':>8}  {report.target.name}"[:width]
    last = 0
    shown = _shown(report, is_whole=is_whole)
    for each in shown:
        if last and each.first > last + 1:
            yield f"{'⋮':>5}"
        last = each.last if not each.is_block else each.first
        yield _row(each, source[each.first - 1], width, missed.get(each.first))
    yield from _never(report.lines.statements, width)
    yield ""
    for score in report.lines.scores:
        yield _score_line(score)
    yield from _notes(report)


def _shown(report: LinesReport, *, is_whole: bool) -> list[CountedStatement]:
    statements = sorted(report.lines.statements, key=lambda each: each.first)
    if is_whole or len(statements) <= _FEW:
        return [each for each in statements if is_whole or each.count.runs]
    most = max((each.count.seconds for each in statements), default=0.0)
    expected = {each.first for each in report.lines.scores}
    return [
        each
        for each in statements
        if each.first in expected
        or each.count.seconds >= _LEAST_SHARE * most > 0
        or abs(each.count.kept_bytes) >= _LEAST_BYTES
    ]


def _row(each: CountedStatement, code: str, width: int, missed: CommentScore | None) -> str:
    count = each.count
    memory = _memory(count.kept_bytes) if abs(count.kept_bytes) >= _LEAST_BYTES else ""
    numbers = f"{each.first:>5} {count.runs:>9,} {_time(count):>8} {memory:>8}"
    mark = "" if missed is None or missed.ratio is None else f"  ← {factor_words(missed.ratio)}"
    if mark and width - _NUMBERS - len(mark) < _NARROWEST:
        mark = "  ←"  # how far off it was is said below the table
    room = max(width - _NUMBERS - len(mark), 1)
    text = code.rstrip().expandtabs(4)
    return f"{numbers}  {text if len(text) <= room else text[: room - 1] + '…'}{mark}"


def _time(count: Count) -> str:
    if not count.runs:
        return ""
    return f"<{shown_brief(count.seconds)}" if count.is_rough else shown_brief(count.seconds)


def shown_brief(seconds: float) -> str:
    """Return a duration, however short."""
    return f"{seconds * 1e6:.0f} µs" if seconds < _MICRO else shown_seconds(seconds)


def _memory(count: float) -> str:
    return f"{'−' if count < 0 else '+'}{shown_bytes(round(abs(count)))}"


def _never(statements: Sequence[CountedStatement], width: int) -> Iterator[str]:
    never = sorted({each.first for each in statements if not each.count.runs})
    if not never:
        return
    spans: list[list[int]] = []
    lines = sorted(each.first for each in statements)
    for line in never:
        follows = spans and lines.index(line) and lines[lines.index(line) - 1] == spans[-1][-1]
        if follows:
            spans[-1].append(line)
        else:
            spans.append([line])
    words = [f"{span[0]} to {span[-1]}" if len(span) > 1 else f"{span[0]}" for span in spans]
    text = f"never ran: {', '.join(words)}"
    yield text if len(text) <= width else f"{text[: width - 1]}…"


def _score_line(score: CommentScore) -> str:
    head = f"line {score.first}: expected {score.comment.text}"
    if score.observed is None:
        return f"{head}: it never ran"
    name = score.comment.range.name
    shown = _observed(name, score.observed)
    if score.least is not None and score.least < score.observed:
        shown = f"{_observed(name, score.least)} to {shown}, as most of it is the counting"
    if score.was_met is None:
        return f"{head}: {shown}: whet can't tell"
    if score.was_met:
        return f"{head}: {shown}, as expected"
    ratio = score.ratio
    if ratio is None or 1 / _NOTICED < ratio < _NOTICED:
        return f"{head}: {shown}, not as expected"
    return f"{head}: {shown}, not as expected: {factor_words(ratio)}"


def _observed(name: str, value: float) -> str:
    return {
        EACH: f"{shown_brief(value)} a run",
        TOTAL: f"{shown_brief(value)} in all",
        KEPT: f"{_memory(value)} a run",
        RUNS: shown_count(int(value), "run"),
    }[name]


def _notes(report: LinesReport) -> Iterator[str]:
    """Yield what the reader has to know about the numbers."""
    if report.marks:
        each = shown_brief(report.cost_seconds / report.marks)
        cost = (
            f"counting took {shown_brief(report.cost_seconds)}, {each} for each of {report.marks:,}"
        )
        if report.threads > 1:
            yield f"{cost}, in {report.threads} threads together, which also wait for each other there"
            yield (
                "a line that waits for another thread (`join`, a lock, a queue) includes what counting"
                " costs that thread"
            )
        else:
            yield f"{cost}; it is subtracted, and the run was longer by that"
    if any(each.count.is_rough for each in report.lines.statements):
        yield "`<`: most of that was the counting; the statement took less"
    if report.processes > 1:
        yield f"the sum of {report.processes} processes"
    if report.was_cut_short:
        yield "the program was ended: the statements that ran then aren't counted"
    for name in report.lines.unseen:
        yield f"`{name}` isn't counted: it may look at its own variables (`locals`, `eval` …)"
    for line in report.lines.misplaced:
        yield f"line {line}: the comment stands above no statement that is counted"


def lines_json(report: LinesReport) -> dict[str, object]:
    """Return it as JSON data."""
    return {
        "file": report.target.name,
        "first_line": report.target.span[0],
        "last_line": report.target.span[1],
        "lines": [
            {
                "line": each.first,
                "last_line": each.last,
                "runs": each.count.runs,
                "seconds": each.count.seconds,
                "is_rough": each.count.is_rough,
                "kept_bytes": each.count.kept_bytes,
            }
            for each in sorted(report.lines.statements, key=lambda each: each.first)
        ],
        "expected": [
            {
                "line": each.first,
                "text": each.comment.text,
                "met": each.was_met,
                "observed": each.observed,
                "ratio": each.ratio,
            }
            for each in report.lines.scores
        ],
        "misplaced": list(report.lines.misplaced),
        "not_counted": list(report.lines.unseen),
        "processes": report.processes,
        "counting_seconds": report.cost_seconds,
    }
