"""A quantity over time, drawn with the blocks of a terminal."""

import math
from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = 8


def curve(
    values: Sequence[float], width: int, height: int, *, full: float = 0.0
) -> tuple[str, ...]:
    """Return rows, the top one first, in which the last ``width`` values are columns.

    The lowest row shows zero as the thinnest block, so that a quantity is there even where it is
    small; values that are no numbers leave a gap. The newest value is at the right.

    Args:
        values: in the order of time.
        width: columns.
        height: rows.
        full: a value that fills the height, if none is above it; 0: the largest one does.
    """
    newest = list(values[-width:]) if width > 0 else []
    most = max((each for each in newest if math.isfinite(each)), default=0.0)
    most = max(most, full)
    columns = [_column(each, most, height) for each in newest]
    gap = " " * (width - len(columns))
    return tuple(
        gap + "".join(column[height - 1 - row] for column in columns) for row in range(height)
    )


def _column(value: float, most: float, height: int) -> str:
    """Return the cells of one value, the lowest first."""
    if not math.isfinite(value):
        return " " * height
    share = max(value, 0.0) / most if most > 0 else 0.0
    eighths = max(1, round(share * height * _EIGHTHS))
    full, rest = divmod(eighths, _EIGHTHS)
    return (_BLOCKS[-1] * full + (_BLOCKS[rest] if rest else "")).ljust(height)
