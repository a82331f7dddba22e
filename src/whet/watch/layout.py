"""How panels share a terminal."""

from collections.abc import Sequence

from whet.core.value_class import value_class

_LEAST_WIDTH = 28
_TWO, _THREE = 56, 132
LEAST_HEIGHT = 4
"""Rows of a panel with its frame: fewer would show nothing."""


@value_class(kw_only=True)
class Layout:
    """A grid of panels, above the output of a program if there is one.

    Attributes:
        columns: of the grid.
        spans: how many columns each panel takes.
        rows: of the grid.
        output_rows: rows of the terminal that the output gets; 0: there is none.
    """

    columns: int
    spans: Sequence[int]
    rows: int
    output_rows: int


def layout(count: int, width: int, height: int, *, has_output: bool) -> Layout:
    """Return the grid of some panels; the last one of an unfinished row is as wide as what is left.

    Args:
        count: how many panels.
        width: columns of the terminal.
        height: rows of the terminal that are left for panels and output.
        has_output: whether a program's output is shown, too.
    """
    columns = 1 if width < _TWO else 2 if width < _THREE else 3
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    spans = [1] * count
    if count % columns:
        spans[-1] += columns - count % columns
    output_rows = 0
    if has_output:
        least = rows * LEAST_HEIGHT
        output_rows = max(LEAST_HEIGHT, min(height - least, height * 2 // 5))
    return Layout(columns=columns, spans=tuple(spans), rows=rows, output_rows=output_rows)
