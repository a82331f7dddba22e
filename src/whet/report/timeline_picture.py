"""What happened when, as an SVG picture: a row for each thread of each process, sections above."""

from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from markupsafe import escape

from whet.core.observations.profile import ProfiledProcess
from whet.core.observations.timeline import Span, Timeline
from whet.core.text.quantity import shown_seconds
from whet.core.text.shown_text import visible_line

_WIDTH, _ROW, _LEFT, _AXIS = 1200, 22, 170, 22
_LETTER, _FEWEST_LETTERS = 6.6, 3
_FONT = 'font-family="ui-monospace, monospace" font-size="11" role="img"'
_LABEL_LETTERS = 25
_NARROWEST = 0.4
_MOST_ROWS = 60
_TICKS = 6
_PROFILE, _MAIN = "profile", "main thread"

Row = tuple[str, list[Span]]


def timeline_picture(
    timelines: Sequence[Timeline], processes: Sequence[ProfiledProcess], seconds: float
) -> str:
    """Return the picture; empty: there is nothing to draw.

    Args:
        timelines: what was recorded.
        processes: names and ranks of the processes.
        seconds: how long the program took.
    """
    spans = [each for timeline in timelines for each in timeline.spans]
    rows = list(_rows(spans, processes))[:_MOST_ROWS]
    if not rows:
        return ""
    end = max(seconds, *(each.start + (each.seconds or 0.0) for each in spans), 1e-3)
    height = len(rows) * _ROW + _AXIS
    parts = [
        f'<svg class="timeline" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {_FONT}>',
        "<title>what ran when</title>",
        *_axis(end, height),
    ]
    for place, (label, row) in enumerate(rows):
        top = place * _ROW
        parts.append(
            f'<text x="0" y="{top + 15}" fill="currentColor">{escape(_cut(visible_line(label), _LABEL_LETTERS))}'
            f"<title>{escape(visible_line(label))}</title></text>"
        )
        parts += [box for span in row if (box := _box(span, top, end))]
    return "\n".join([*parts, "</svg>"])


def _rows(spans: Sequence[Span], processes: Sequence[ProfiledProcess]) -> Iterator[Row]:
    """Yield the rows: for each process its sections by depth, then its threads."""
    titles = {each.pid: _title(each) for each in processes}
    by_process: dict[int, dict[tuple[str, str, int], list[Span]]] = {}
    for number, span in enumerate(spans):
        depth = 0 if span.source == _PROFILE else _depth(spans, number)
        key = ("" if span.source != _PROFILE else "~", span.thread or _MAIN, depth)
        by_process.setdefault(span.pid, {}).setdefault(key, []).append(span)
    order = sorted(by_process, key=lambda pid: (_rank(pid, processes), pid))
    for pid in order:
        title = titles.get(pid, f"process {pid}") if len(by_process) > 1 else ""
        for (kind, thread, depth), row in sorted(by_process[pid].items(), key=_row_order):
            name = thread if kind else row[0].source if not depth else ""
            yield " ".join(filter(None, (title, name))), row


def _row_order(row: tuple[tuple[str, str, int], list[Span]]) -> tuple[str, bool, str, int]:
    (kind, thread, depth), _ = row
    return kind, thread != _MAIN, thread, depth


def _rank(pid: int, processes: Sequence[ProfiledProcess]) -> int:
    ranks: Mapping[int, int | None] = {each.pid: each.rank for each in processes}
    rank = ranks.get(pid)
    return -1 if rank is None else rank


def _title(process: ProfiledProcess) -> str:
    if process.rank is not None:
        return f"rank {process.rank}"
    return f"{process.name or 'process'} {process.pid}"


def _depth(spans: Sequence[Span], number: int) -> int:
    depth, parent = 0, spans[number].parent
    while parent is not None and parent < len(spans) and depth < _MOST_ROWS:
        depth, parent = depth + 1, spans[parent].parent
    return depth


def _box(span: Span, top: int, end: float) -> str:
    scale = (_WIDTH - _LEFT) / end
    width = ((end - span.start) if span.seconds is None else span.seconds) * scale
    if width < _NARROWEST:
        return ""
    left = _LEFT + span.start * scale
    words = visible_line(
        f"{span.name}: {shown_seconds(span.seconds or 0.0)} from {span.start:.3f} s on"
    )
    letters = int((width - 6) / _LETTER)
    name = _cut(visible_line(span.name), letters) if letters >= _FEWEST_LETTERS else ""
    return (
        f'<g><title>{escape(words)}</title><rect x="{left:.2f}" y="{top + 2}"'
        f' width="{max(width - 0.3, 0.3):.2f}" height="{_ROW - 4}" rx="2" fill="{_colour(span)}"/>'
        f'<text x="{left + 3:.2f}" y="{top + 15}" fill="#1c2024">{escape(name)}</text></g>'
    )


def _cut(words: str, letters: int) -> str:
    return words if len(words) <= letters else f"{words[: letters - 1]}…"


def _colour(span: Span) -> str:
    hue = crc32(span.name.encode("utf-8", "replace")) % 360
    return f"hsl({hue} 55% 76%)"


def _axis(end: float, height: int) -> Iterator[str]:
    for number in range(_TICKS + 1):
        at = _LEFT + (_WIDTH - _LEFT) * number / _TICKS
        anchor = "start" if number == 0 else "end" if number == _TICKS else "middle"
        yield f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{height - _AXIS}" stroke="#8884"/>'
        yield (
            f'<text x="{at:.1f}" y="{height - 6}" fill="#888" text-anchor="{anchor}">'
            f"{shown_seconds(end * number / _TICKS)}</text>"
        )
