"""A flame graph as an SVG picture: callers above, what they call below, as wide as it costs."""

from collections.abc import Callable, Iterator
from zlib import crc32

from markupsafe import escape

from whet.core.text.shown_text import visible_line
from whet.measurement.profiles.flame import FlameNode

_WIDTH, _ROW = 1200, 20
_NARROWEST = 1.5
_LETTER, _FEWEST_LETTERS = 6.6, 3
_FONT = 'font-family="ui-monospace, monospace" font-size="11" role="img"'
_PAD = 4
_OWN, _LIBRARY = (28, 88, 66), (210, 28, 76)
"""Hue, saturation and lightness: the user's own code is orange, libraries are blue-grey."""
_SPREAD = 16


def flame_graph(root: FlameNode, amount_words: Callable[[float], str], title: str) -> str:
    """Return the picture.

    Args:
        root: the tree.
        amount_words: writes a number with its unit.
        title: what the picture is of.
    """
    boxes = list(_boxes(root))
    depth = max((row for row, *_ in boxes), default=0) + 1
    height = depth * _ROW
    parts = [
        f'<svg class="flame" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {_FONT}>',
        f"<title>{escape(title)}</title>",
    ]
    for row, left, width, node in boxes:
        share = node.amount / root.amount
        where = f" ({node.frame.path}:{node.line})" if node.frame.path else ""
        words = visible_line(
            f"{node.frame.function}{where}: {amount_words(node.amount)}, {share:.1%}"
        )
        name = visible_line(node.frame.function)
        parts.append(
            f'<g data-x="{left:.3f}" data-w="{width:.3f}" data-r="{row}" data-n="{escape(name)}">'
            f"<title>{escape(words)}</title>"
            f'<rect x="{left:.2f}" y="{row * _ROW}" width="{max(width - 0.4, 0.3):.2f}"'
            f' height="{_ROW - 1}" rx="2" fill="{_colour(node)}"/>'
            f'<text x="{left + _PAD:.2f}" y="{row * _ROW + 14}" fill="#1c2024">'
            f"{escape(_fitting(name, width))}</text></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _boxes(root: FlameNode) -> Iterator[tuple[int, float, float, FlameNode]]:
    """Yield row, left end, width and node, callers first."""
    waiting: list[tuple[int, float, FlameNode]] = [(0, 0.0, root)]
    whole = root.amount or 1.0
    while waiting:
        row, left, node = waiting.pop()
        width = node.amount / whole * _WIDTH
        if width < _NARROWEST:
            continue
        yield row, left, width, node
        at = left
        for child in sorted(node.children.values(), key=lambda each: -each.amount):
            waiting.append((row + 1, at, child))
            at += child.amount / whole * _WIDTH


def _fitting(name: str, width: float) -> str:
    letters = int((width - 2 * _PAD) / _LETTER)
    if len(name) <= letters:
        return name
    return f"{name[: letters - 1]}…" if letters >= _FEWEST_LETTERS else ""


def _colour(node: FlameNode) -> str:
    if not node.frame.path:
        return "#d8dce2"
    hue, saturation, light = _OWN if node.frame.in_user_code else _LIBRARY
    turn = crc32(node.frame.function.encode("utf-8", "replace")) % _SPREAD - _SPREAD // 2
    return f"hsl({hue + turn} {saturation}% {light}%)"
