"""The size of a payload against time, as a picture without a library: SVG is text."""

import math
from collections.abc import Sequence

from whet.core.observations.resources import ResourceUse
from whet.core.text.quantity import shown_bytes, shown_seconds
from whet.core.verdict import Verdict
from whet.workbench.starve.starve import LeastAmount, TriedAmount
from whet.workbench.trials.investigation import Size

_WIDTH, _HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 36
_COLOUR, _GRID, _INK = "#0369a1", "#8884", "#888"
_LABEL = 100
"""The space that a label needs."""
_FONT = 'font-family="sans-serif" font-size="12"'


def size_curve(sizes: Sequence[Size], seconds: float) -> str:
    """Return an SVG picture of how large the best payload was, in powers of ten.

    Args:
        sizes: what it was, and when; at least one.
        seconds: how long it took in all.
    """
    end = max(seconds, sizes[-1].seconds, 1e-3)
    most = max(each.bytes for each in sizes)
    top = max(1, math.ceil(math.log10(most + 1)))

    def x(at: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at / end

    def y(count: int) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * math.log10(count + 1) / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_FONT}>',
        "<title>size of the best payload against time</title>",
    ]
    for power in range(top + 1):
        at = y(10**power - 1)
        parts.append(
            f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"'
            f' stroke="{_GRID}"/>'
        )
        label = "0 B" if power == 0 else shown_bytes(10**power)
        parts.append(_text(_LEFT - 8, at + 4, label, "end"))
    # It stays as it was until the next one is found.
    steps = [f"M{x(0):.1f},{y(sizes[0].bytes):.1f}"]
    steps += [f"H{x(each.seconds):.1f}V{y(each.bytes):.1f}" for each in sizes[1:]]
    steps.append(f"H{x(end):.1f}")
    parts.append(f'<path d="{"".join(steps)}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>')
    parts.append(_text(_LEFT, _HEIGHT - 12, "0 s", "start"))
    parts.append(_text(_WIDTH - _RIGHT, _HEIGHT - 12, shown_seconds(end), "end"))
    return "\n".join([*parts, "</svg>"])


def memory_curve(use: ResourceUse) -> str:
    """Return an SVG picture of how much memory a trial held, against time."""
    end, most = max(use.seconds[-1], 1e-3), max(*use.memory_bytes, 1)

    def x(at: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at / end

    def y(count: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * count / most

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_FONT}>',
        "<title>memory against time</title>",
    ]
    for share in (0.0, 0.5, 1.0):
        at = y(most * share)
        parts.append(
            f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"'
            f' stroke="{_GRID}"/>'
        )
        parts.append(_text(_LEFT - 8, at + 4, shown_bytes(round(most * share)), "end"))
    moments = zip(use.seconds, use.memory_bytes, strict=True)
    points = " ".join(f"{x(at):.1f},{y(count):.1f}" for at, count in moments)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>')
    parts.append(_text(_LEFT, _HEIGHT - 12, "0 s", "start"))
    parts.append(_text(_WIDTH - _RIGHT, _HEIGHT - 12, shown_seconds(end), "end"))
    return "\n".join([*parts, "</svg>"])


def amount_curve(found: LeastAmount) -> str:
    """Return an SVG picture of how long a command ran with how much of something.

    Amounts that were enough are full circles, the others are hollow.
    """
    longest = max((tried.wall_seconds for tried in found.amounts), default=0.0) or 1.0
    most = max((tried.amount for tried in found.amounts), default=1.0)

    def x(amount: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * amount / most

    def y(seconds: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * seconds / longest

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_FONT}>',
        f"<title>run time against {found.name}</title>",
    ]
    for share in (0.0, 0.5, 1.0):
        at = y(longest * share)
        parts.append(
            f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"'
            f' stroke="{_GRID}"/>'
        )
        parts.append(_text(_LEFT - 8, at + 4, shown_seconds(longest * share), "end"))
    for tried in found.amounts:
        fill = _COLOUR if tried.verdict is Verdict.GOOD else "none"
        parts.append(
            f'<circle cx="{x(tried.amount):.1f}" cy="{y(tried.wall_seconds):.1f}" r="4"'
            f' fill="{fill}" stroke="{_COLOUR}"><title>{tried.shown}</title></circle>'
        )
    least = next((tried for tried in found.amounts if tried.verdict is Verdict.GOOD), None)
    if least is not None:
        at = x(least.amount)
        parts.append(
            f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_HEIGHT - _BOTTOM}"'
            f' stroke="{_COLOUR}" stroke-dasharray="4"/>'
        )
        parts.append(_text(at, _HEIGHT - 12, least.shown, "middle"))
    parts.append(_text(_LEFT, _TOP - 5, f"{found.name}: ● enough, ○ too little", "start"))
    at_least = x(least.amount) if least is not None else -_LABEL
    largest = max(found.amounts, key=_amount, default=None)
    for at, words in ((_LEFT, "0"), (_WIDTH - _RIGHT, largest.shown if largest else "")):
        if abs(at - at_least) >= _LABEL:  # the answer's own label is there
            parts.append(_text(at, _HEIGHT - 12, words, "middle" if at == _LEFT else "end"))
    return "\n".join([*parts, "</svg>"])


def _amount(tried: TriedAmount) -> float:
    return tried.amount


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}">{words}</text>'
