"""The smallest payload that fails beside the nearest that passes, as lines of a diff."""

from collections.abc import Iterator
from difflib import unified_diff

from whet.core.text.shown_text import visible
from whet.reduction.passing import differing
from whet.reduction.payload_kinds import readable
from whet.report.wording import hex_dump, is_text

_HEADER_LINES = 2
_WIDEST = 96
_MOST_LINES = 24


def difference(fails: bytes, passes: bytes) -> list[str]:
    """Return the lines of a diff: ``-`` what fails, ``+`` what passes.

    What doesn't show in lines, such as a line end at the very end, is shown as Python writes it.
    """
    left, right = _readable(fails, passes)
    if left.splitlines() == right.splitlines():
        left, right = _as_written(fails, passes), _as_written(passes, fails)
    lines = list(_diff(left.splitlines(), right.splitlines()))
    if not passes:
        lines.append("+ (an empty file)")
    left_out = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f" ... {left_out} more lines"] if left_out > 0 else lines


def _readable(fails: bytes, passes: bytes) -> tuple[str, str]:
    """Return both as a person reads them; as bytes where that would not show the difference."""
    if is_text(fails) and is_text(passes):
        return visible(fails.decode()), visible(passes.decode())
    texts = readable(fails), readable(passes)
    if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
        return visible(texts[0]), visible(texts[1])
    return hex_dump(fails), hex_dump(passes)


def _as_written(payload: bytes, other: bytes) -> str:
    """Return the stretch of a payload in which it differs, with what stands around it."""
    start, end = differing(payload, other)
    around = 16
    return repr(payload[max(0, start - around) : len(payload) - max(0, end - around)])


def _diff(left: list[str], right: list[str]) -> Iterator[str]:
    for number, line in enumerate(unified_diff(left, right, n=1, lineterm="")):
        if number >= _HEADER_LINES and not line.startswith("@@"):
            yield line if len(line) <= _WIDEST else _cut(line, left, right)


def _cut(line: str, left: list[str], right: list[str]) -> str:
    """Return the stretch of a long line in which it differs from the other side's."""
    others = right if line[0] == "-" else left
    common = max((_common(line[1:], other) for other in others), default=0)
    start = max(0, common - _WIDEST // 2)
    part = line[1 + start : 1 + start + _WIDEST]
    before = "…" if start else ""
    return f"{line[0]}{before}{part}{'…' if start + _WIDEST < len(line) - 1 else ''}"


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
