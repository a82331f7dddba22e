"""One panel as lines of text: the number that matters most is the largest."""

import math
import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from whet.core.observations.panel import Number, Reading
from whet.core.text.curve import curve
from whet.core.text.quantity import shown_bytes
from whet.core.text.shown_text import visible_line
from whet.workbench.watch.numeric_column import changed_words

_GLYPHS = {
    "0": ("┏━┓", "┃ ┃", "┗━┛"),
    "1": ("╺┓ ", " ┃ ", "╺┻╸"),
    "2": ("┏━┓", "┏━┛", "┗━╸"),
    "3": ("┏━┓", " ━┫", "┗━┛"),
    "4": ("╻ ╻", "┗━┫", "  ╹"),
    "5": ("┏━╸", "┗━┓", "┗━┛"),
    "6": ("┏━╸", "┣━┓", "┗━┛"),
    "7": ("┏━┓", "  ┃", "  ╹"),
    "8": ("┏━┓", "┣━┫", "┗━┛"),
    "9": ("┏━┓", "┗━┫", "╺━┛"),
    ".": (" ", " ", "╹"),
    ",": (" ", " ", "╹"),
    "-": ("  ", "╺━", "  "),
}
_BIG_ROWS = 3
_LEAST_BIG_HEIGHT, _LEAST_BIG_WIDTH = 5, 22
_FULL_PERCENT = 100.0
_LEAST_CURVE, _MOST_CURVE = 2, 8
_QUANTITY = re.compile(r"(?P<number>-?[\d.,]+)\s*(?P<unit>.*)", re.DOTALL)
_LEAST_DETAIL = 6
_DIM, _STRONG, _CURVE, _CHANGED, _BAD = "dim", "bold", "green", "bold yellow", "red"
_FAINT = "not bold dim"


def panel_lines(
    reading: Reading,
    history: Sequence[float],
    size: tuple[int, int],
    *,
    before: Reading | None = None,
) -> list[Text]:
    """Return the lines of a panel, none longer than its width, and no more than its height.

    Args:
        reading: what it shows.
        history: the first number of its readings so far, in the order of time.
        size: columns and rows.
        before: the reading before it; words that have changed since are marked.
    """
    width, height = size
    if width <= 0 or height <= 0:
        return []
    head = _headline(reading, history, width, height)
    room = height - len(head)
    body = _table(reading, width, room) or _lines(reading, before, width, room)
    room -= len(body)
    drawn: list[Text] = []
    is_plain = not (reading.table or reading.reason)
    has_curve = bool(reading.numbers) and is_plain and len(history) > 1
    if has_curve and room >= _LEAST_CURVE:
        first = reading.numbers[0]
        full = first.full or (_FULL_PERCENT if first.unit == "percent" else 0.0)
        rows = curve(history, width, min(room, _MOST_CURVE), full=full)
        drawn = [Text(row, style=_CURVE) for row in rows]
    return [*head, *drawn, *body][:height]


def cut(text: str, width: int) -> str:
    """Return a text that fits into a width; what is left out is shown as ``…``."""
    shown = visible_line(text.expandtabs())
    if cell_len(shown) <= width:
        return shown
    kept = shown[: max(0, width - 1)]
    while kept and cell_len(kept) > width - 1:  # some letters are two columns wide
        kept = kept[:-1]
    return f"{kept}…" if width > 0 else ""


def _headline(reading: Reading, history: Sequence[float], width: int, height: int) -> list[Text]:
    trouble = [Text(line, style=_BAD if reading.headline or reading.lines else _DIM)
               for line in _wrapped(reading.reason, width)] if reading.reason else []  # fmt: skip
    if not reading.headline:
        return trouble[:height]
    found = _QUANTITY.fullmatch(reading.headline)
    words = [reading.column or reading.detail, _peak(reading.numbers, history)]
    least = 2 * _LEAST_BIG_HEIGHT if reading.table else _BIG_ROWS + len(reading.lines)
    is_big = height >= max(least, _LEAST_BIG_HEIGHT)
    rows = _big(found["number"]) if found is not None and is_big else []
    left = width - max(map(len, rows), default=width) - 2
    if found is not None and left >= max(_LEAST_DETAIL, len(found["unit"])):
        beside = [*words, ""][:2] if words[0] else [words[1], ""]
        return [*_beside(rows, [*beside, found["unit"]], left), *trouble]
    return [_in_line(reading.headline, ", ".join(filter(None, words)), width), *trouble]


def _beside(rows: Sequence[str], words: Sequence[str], left: int) -> list[Text]:
    """Return big digits with a few words to the right of each row; the last one is the unit."""
    lines = [Text(f"{row}  ", style=_STRONG) for row in rows]
    for line, word in zip(lines, words, strict=True):
        line.append(cut(word, left), style=_STRONG if line is lines[-1] else _FAINT)
    return lines


def _in_line(headline: str, detail: str, width: int) -> Text:
    line = Text(cut(headline, width), style=_STRONG)
    left = width - line.cell_len - 2
    if detail and left >= _LEAST_DETAIL:
        line.append(f"  {cut(detail, left)}", style=_FAINT)
    return line


def _big(number: str) -> list[str]:
    return ["".join(_GLYPHS[each][row] for each in number) for row in range(_BIG_ROWS)]


def _peak(numbers: Sequence[Number], history: Sequence[float]) -> str:
    """Return the most that was seen, where the newest is less."""
    if not numbers or not history or numbers[0].unit not in {"bytes", "percent"}:
        return ""
    most = max((each for each in history if math.isfinite(each)), default=0.0)
    if numbers[0].name == "disk.free" or most <= numbers[0].value:
        return ""
    return f"peak {shown_bytes(round(most)) if numbers[0].unit == 'bytes' else f'{most:.0f} %'}"


def _table(reading: Reading, width: int, room: int) -> list[Text]:
    if not reading.table or room <= 0:
        return []
    shown, left = reading.table[:room], len(reading.table) - room
    if left > 0 and room > 1:
        shown = reading.table[: room - 1]
    widths = [max(map(len, column)) for column in zip(*reading.table, strict=True)]
    lines: list[Text] = []
    for place, row in enumerate(shown):
        cells = [cell.rjust(size) for cell, size in zip(row[:-1], widths, strict=False)]
        line = cut("  ".join([*cells, row[-1]]), width)
        lines.append(Text(line, style="" if place else _DIM))
    if left > 0 and room > 1:
        lines.append(Text(cut(f"… {left + 1} more", width), style=_DIM))
    return lines


def _lines(reading: Reading, before: Reading | None, width: int, room: int) -> list[Text]:
    if not reading.lines or room <= 0:
        return []
    shown, left = reading.lines[:room], len(reading.lines) - room
    if left > 0 and room > 1:
        shown = reading.lines[: room - 1]
    old = () if before is None or not before.lines else before.lines
    lines: list[Text] = []
    for place, line in enumerate(shown):
        text = Text(cut(line, width))
        if old:
            for start, end in changed_words(old[place] if place < len(old) else "", line):
                text.stylize(_CHANGED, start, min(end, width))
        lines.append(text)
    if left > 0 and room > 1:
        lines.append(Text(cut(f"… {left + 1} more lines", width), style=_DIM))
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return [cut(each, width) for each in textwrap.wrap(visible_line(text), width)]
