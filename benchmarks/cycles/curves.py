"""Draws the seconds of many runs as a picture, without a library: SVG is text."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

_WIDTH, _HEIGHT = 760, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 120, 30, 60
_COLOURS = ("#c2410c", "#0369a1", "#4d7c0f")
_GRID = "#8884"


def write_curves(path: Path, curves: Mapping[str, Sequence[float]], kinds: Sequence[str]) -> None:
    """Write a picture of seconds over runs, the first run of each curve being its warm-up.

    Args:
        path: the file.
        curves: name to seconds of each run.
        kinds: what was edited before each run but the first.
    """
    longest = max(map(len, curves.values()))
    seconds = [each for curve in curves.values() for each in curve]
    low = math.floor(math.log10(min(seconds)))
    high = math.ceil(math.log10(max(seconds)))

    def x(run: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * run / max(longest - 1, 1)

    def y(value: float) -> float:
        part = (math.log10(value) - low) / max(high - low, 1)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * part

    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    looks = 'font-family="sans-serif" font-size="12" fill="#888"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {looks}>']
    for power in range(low, high + 1):
        parts += _line(_LEFT, y(10**power), _WIDTH - _RIGHT, y(10**power), _GRID)
        parts.append(_text(_LEFT - 8, y(10**power) + 4, _shown(10.0**power), "end"))
    for number, kind in enumerate(kinds):
        if number == 0 or kinds[number - 1] != kind:
            at = x(number + 1) - (x(1) - x(0)) / 2
            parts += _line(at, _TOP, at, _HEIGHT - _BOTTOM, _GRID)
            last = len(kinds) - list(reversed(kinds)).index(kind)
            parts.append(_text((at + x(last)) / 2, _HEIGHT - _BOTTOM + 16 * (1 + number % 2), kind))
    for colour, (name, curve) in zip(_COLOURS, curves.items(), strict=False):
        points = " ".join(f"{x(run):.1f},{y(value):.1f}" for run, value in enumerate(curve))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(_text(_WIDTH - _RIGHT + 8, y(curve[-1]) + 4, name, "start", colour))
    parts.append(
        _text(
            _LEFT, _TOP - 12, "from the save to the result, by run; first run at the left", "start"
        )
    )
    path.write_text("\n".join([*parts, "</svg>\n"]))


def _line(left: float, top: float, right: float, bottom: float, colour: str) -> list[str]:
    ends = f'x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"'
    return [f'<line {ends} stroke="{colour}"/>']


def _text(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#888") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def _shown(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms"
