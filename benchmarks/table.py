"""Tables of measurements, and fair pairs: both sides in one run, one after the other."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """The times of two sides, taken in turns.

    Attributes:
        left_seconds: times of the first side.
        right_seconds: times of the second side, each taken right after its neighbour.
    """

    left_seconds: tuple[float, ...]
    right_seconds: tuple[float, ...]

    @property
    def left_median(self) -> float:
        """Median of the first side, in seconds."""
        return statistics.median(self.left_seconds)

    @property
    def right_median(self) -> float:
        """Median of the second side, in seconds."""
        return statistics.median(self.right_seconds)

    @property
    def median_difference(self) -> float:
        """Median of right minus left within a pair: what both suffer from cancels out."""
        return statistics.median(
            right - left for left, right in zip(self.left_seconds, self.right_seconds, strict=True)
        )


def seconds_of(action: Callable[[], object]) -> float:
    """Return the wall seconds that ``action`` takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turns(
    left: Callable[[], object], right: Callable[[], object], *, times: int, warm_up: int = 2
) -> Pair:
    """Time two actions in turns, so that a slow moment of the machine meets both."""
    for _ in range(warm_up):
        left()
        right()
    lefts: list[float] = []
    rights: list[float] = []
    for round_number in range(times):
        # Who goes first alternates: the second of a pair finds warmer caches.
        if round_number % 2:
            rights.append(seconds_of(right))
            lefts.append(seconds_of(left))
        else:
            lefts.append(seconds_of(left))
            rights.append(seconds_of(right))
    return Pair(tuple(lefts), tuple(rights))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table; the first column is words, the others are numbers."""
    print(f"\n### {title}\n")
    print("\n".join(table_lines(header, rows)))


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = [":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:])]
    return [_line(header, widths), f"|{'|'.join(rule)}|", *(_line(row, widths) for row in rows)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    words = cells[0].ljust(widths[0])
    numbers = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "| " + " | ".join([words, *numbers]) + " |"
