"""Draws size against time, a panel for each case, as SVG: all curves in one look."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_COLUMNS = 3
_WIDTH, _HEIGHT = 270, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 8, 26, 28
_LEGEND = 30
_GRID = "#8884"
_COLOURS = {
    "whet (warm)": "#b91c1c",
    "whet": "#f97316",
    "shrinkray": "#0369a1",
    "picire": "#4d7c0f",
    "lithium": "#7e22ce",
    "cvise": "#0f766e",
}
_FIRST_SECONDS = 0.1

Curves = Mapping[str, Sequence[tuple[float, int]]]


def write_panels(path: Path, panels: Mapping[str, Curves]) -> None:
    """Write the picture.

    Args:
        path: the file.
        panels: case to tool to seconds and sizes, each smaller than the one before.
    """
    rows = math.ceil(len(panels) / _COLUMNS)
    width, height = _COLUMNS * _WIDTH, _LEGEND + rows * _HEIGHT
    longest = max(
        (point[0] for each in panels.values() for c in each.values() for point in c), default=1
    )
    size = f'viewBox="0 0 {width} {height}"'
    looks = 'font-family="sans-serif" font-size="10" fill="#888"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {looks}>']
    parts += _legend()
    for number, (name, curves) in enumerate(panels.items()):
        x, y = number % _COLUMNS * _WIDTH, _LEGEND + number // _COLUMNS * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _panel(name, curves, max(longest, 1.0))
        parts.append("</g>")
    path.write_text("\n".join([*parts, "</svg>\n"]))


def _legend() -> Iterator[str]:
    for number, (name, colour) in enumerate(_COLOURS.items()):
        x = _LEFT + number * 110
        yield f'<line x1="{x}" y1="14" x2="{x + 18}" y2="14" stroke="{colour}" stroke-width="2"/>'
        yield _text(x + 23, 18, name, "start", colour)


def _panel(name: str, curves: Curves, longest: float) -> Iterator[str]:
    sizes = [max(point[1], 1) for curve in curves.values() for point in curve] or [1, 10]
    low, high = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    last = math.log10(longest)
    first = math.log10(_FIRST_SECONDS)

    def x(seconds: float) -> float:
        part = (math.log10(max(seconds, _FIRST_SECONDS)) - first) / (last - first)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * part

    def y(size: int) -> float:
        part = (math.log10(max(size, 1)) - low) / max(high - low, 1)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * part

    yield _text(_LEFT, _TOP - 8, name, "start")
    for power in range(low, high + 1):
        yield _line(_LEFT, y(10**power), _WIDTH - _RIGHT, y(10**power))
        yield _text(_LEFT - 5, y(10**power) + 3, _bytes(10**power), "end")
    for power in range(math.ceil(first), math.floor(last) + 1):
        yield _line(x(10.0**power), _TOP, x(10.0**power), _HEIGHT - _BOTTOM)
        yield _text(x(10.0**power), _HEIGHT - _BOTTOM + 13, f"{10.0**power:g} s")
    for tool, curve in curves.items():
        steps: list[str] = []
        size = curve[0][1]
        for seconds, smaller in curve:  # a step: the size stays until the next one is found
            steps += [f"{x(seconds):.1f},{y(size):.1f}", f"{x(seconds):.1f},{y(smaller):.1f}"]
            size = smaller
        yield (
            f'<polyline points="{" ".join(steps)}" fill="none" '
            f'stroke="{_COLOURS[tool]}" stroke-width="1.6"/>'
        )
        end = curve[-1]
        yield f'<circle cx="{x(end[0]):.1f}" cy="{y(end[1]):.1f}" r="2.6" fill="{_COLOURS[tool]}"/>'


def _bytes(size: int) -> str:
    kilobytes = size // 1000
    return f"{kilobytes} KB" if kilobytes else f"{size} B"


def _line(left: float, top: float, right: float, bottom: float) -> str:
    ends = f'x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"'
    return f'<line {ends} stroke="{_GRID}"/>'


def _text(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#888") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'
