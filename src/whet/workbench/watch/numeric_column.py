"""Which number of a command's output is drawn as a curve, and which words have changed."""

import re
from collections.abc import Sequence

from whet.core.value_class import value_class

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<unit>%|[kKMGT]i?B?|B|MiB|ms|s|°?C|W)?"
)
_LOOKS = 4
_POWERS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BINARY_POWERS = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}


@value_class(kw_only=True)
class Cell:
    """A number in a text.

    Attributes:
        line: number of its line, from 0.
        word: number of its word in that line.
        name: the word above it in the first line, if the lines are a table; else empty.
        shown: as it is written.
        value: what it says.
        unit: ``percent``, ``bytes`` or empty.
    """

    line: int
    word: int
    name: str
    shown: str
    value: float
    unit: str

    @property
    def place(self) -> tuple[int, int]:
        """Where it is."""
        return self.line, self.word


def numbers_in(text: str) -> list[Cell]:
    """Return the numbers of a text that are words of their own, in their order."""
    lines = text.splitlines()
    heads = [(found.start(), found[0]) for found in _WORD.finditer(lines[0])] if lines else []
    cells: list[Cell] = []
    for line, words in enumerate(lines):
        for word, found in enumerate(_WORD.finditer(words)):
            number = _NUMBER.fullmatch(found[0].strip("(),;|"))
            if number is None:
                continue
            value, unit = _quantity(number)
            name = _head_over(heads, found.start(), found.end()) if line else ""
            cells.append(
                Cell(line=line, word=word, name=name, shown=number[0], value=value, unit=unit)
            )
    return cells


class NumericColumn:
    """Follows one number of a command's output.

    It is the column that the user names; else the first percentage; else the first number that has
    changed after a few looks, and until then the first number.
    """

    def __init__(self, wanted: str = "") -> None:
        self._wanted = wanted
        self._place: tuple[int, int] | None = None
        self._is_settled = False
        self._looks = 0
        self._before: dict[tuple[int, int], float] = {}
        self._changed: set[tuple[int, int]] = set()

    def follow(self, text: str) -> Cell | None:
        """Return the number in the newest output; None: there is none."""
        cells = numbers_in(text)
        by_place = {each.place: each for each in cells}
        if self._wanted:
            named = [each for each in cells if self._is_wanted(each)]
            return named[-1] if named else None
        if not self._is_settled:
            self._settle(cells)
        return None if self._place is None else by_place.get(self._place)

    def _settle(self, cells: Sequence[Cell]) -> None:
        """Choose a number; for good once there is a reason to."""
        self._changed |= {
            each.place for each in cells
            if each.place in self._before and self._before[each.place] != each.value
        }  # fmt: skip
        self._before = {each.place: each.value for each in cells}
        self._looks += 1
        shares = [each for each in cells if each.unit == "percent"]
        changed = [each for each in cells if each.place in self._changed]
        has_seen_enough = self._looks >= _LOOKS and bool(changed)
        self._is_settled = bool(shares) or has_seen_enough
        likely = shares or (changed if has_seen_enough else cells)
        self._place = likely[0].place if likely else None

    def _is_wanted(self, cell: Cell) -> bool:
        if self._wanted.isdecimal():
            return cell.word == int(self._wanted) - 1
        return cell.name.lower() == self._wanted.lower()


def changed_words(before: str, now: str) -> list[tuple[int, int]]:
    """Return where the words of a line begin and end that weren't in the same place before."""
    old = [found[0] for found in _WORD.finditer(before)]
    return [
        found.span()
        for place, found in enumerate(_WORD.finditer(now))
        if place >= len(old) or old[place] != found[0]
    ]


def _head_over(heads: Sequence[tuple[int, str]], start: int, end: int) -> str:
    """Return the word of the first line that stands over some columns."""
    for at, head in heads:
        if at < end and start < at + len(head):
            return head
    return ""


def _quantity(found: re.Match[str]) -> tuple[float, str]:
    value = float(f"{found['sign']}{found['number'].replace(',', '')}")
    unit = found["unit"] or ""
    if unit == "%":
        return value, "percent"
    power = unit[:1].lower()
    if power in _POWERS and unit != "ms":
        # `df -h` and `free -h` write powers of 1024 with one letter.
        return value * (_POWERS if unit[1:] == "B" else _BINARY_POWERS)[power], "bytes"
    return value, ""
