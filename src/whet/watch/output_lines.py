"""The last lines of a program's output, as a terminal would show them."""

import re
from collections import deque

_MOST_LINES = 2000
_MOST_COLUMNS = 4000
_ESCAPE = re.compile(
    r"\x1b(?:\[(?P<given>[0-9;?]*)(?P<letter>[@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
)
_PARTIAL = re.compile(r"\x1b(?:\[[0-9;?]*|\][^\x07]{0,200})?\Z")
_STEERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_TAB = 8
_FIRST_BYTE = 0xC0  # of a character of several bytes


class OutputLines:
    """Takes in output; a carriage return writes over the line, as a progress bar does.

    Colours stay; what moves the cursor to other lines is left out.
    """

    def __init__(self) -> None:
        self._whole: deque[str] = deque(maxlen=_MOST_LINES)
        self._cells: list[str] = []
        self._column = 0
        self._style = ""
        self._rest = ""
        self._bytes = b""

    def feed(self, data: bytes) -> None:
        """Take in what the program has written."""
        text = self._rest + self._decoded(data)
        if not (self._style or _STEERS.search(text)):
            self._rest = ""
            self._append(text)
            return
        partial = _PARTIAL.search(text)
        self._rest = "" if partial is None else text[partial.start() :]
        text = text if partial is None else text[: partial.start()]
        end = 0
        for found in _ESCAPE.finditer(text):
            self._write(text[end : found.start()])
            self._obey(found)
            end = found.end()
        self._write(text[end:])

    def last(self, count: int) -> list[str]:
        """Return the last lines, with their colours as escapes."""
        current = ["".join(self._cells)] if self._cells else []
        lines = [*list(self._whole)[-count:], *current] if count > 0 else []
        return lines[-count:] if count > 0 else []

    def _append(self, text: str) -> None:
        """Take in text without any sign that means something: most of a long output is that."""
        *whole, rest = text.split("\n")
        if whole:
            self._put(whole[0])
            self._whole.append("".join(self._cells))
            self._cells, self._column = [], 0
            self._whole.extend(
                _printable(each[:_MOST_COLUMNS]) for each in whole[1:][-_MOST_LINES:]
            )
        self._put(rest)

    def _decoded(self, data: bytes) -> str:
        data = self._bytes + data
        text = data.decode("utf-8", "replace")
        self._bytes = b""
        if text.endswith("\ufffd"):  # perhaps the rest of a character is still to come
            for size in (1, 2, 3):
                if len(data) >= size and data[-size] >= _FIRST_BYTE:
                    self._bytes, data = data[-size:], data[:-size]
                    return data.decode("utf-8", "replace")
        return text

    def _write(self, text: str) -> None:
        for part in re.split(r"([\n\r\t\x08])", text):
            if part == "\n":
                self._whole.append("".join(self._cells))
                self._cells, self._column = [], 0
            elif part == "\r":
                self._column = 0
            elif part == "\x08":
                self._column = max(0, self._column - 1)
            elif part == "\t":
                self._put(" " * (_TAB - self._column % _TAB))
            else:
                self._put(part)

    def _put(self, text: str) -> None:
        text = _printable(text)[: max(0, _MOST_COLUMNS - self._column)]
        if not text:
            return
        self._cells += [" "] * (self._column - len(self._cells))
        cells = [f"\x1b[{self._style}m{each}\x1b[0m" if self._style else each for each in text]
        self._cells[self._column : self._column + len(cells)] = cells
        self._column += len(cells)

    def _obey(self, found: re.Match[str]) -> None:
        letter, given = found["letter"], found["given"] or ""
        if letter == "m":
            words = [each for each in given.split(";") if each not in {"", "0"}]
            is_reset = len(words) < len(given.split(";")) or not given
            self._style = ";".join(words if is_reset else [*filter(None, [self._style]), *words])
        elif letter == "K":
            if given == "2":
                self._cells = []
            elif given in {"", "0"}:
                del self._cells[self._column :]


def _printable(text: str) -> str:
    """Return a part of a line without what no terminal shows."""
    return text if text.isprintable() else "".join(each for each in text if each.isprintable())
