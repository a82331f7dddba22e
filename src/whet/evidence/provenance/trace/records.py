"""Which line of an input file a value comes from."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Recording, Value
from whet.evidence.provenance.run.source import COMPREHENSIONS
from whet.evidence.provenance.trace.trail import Trail

_MOST_BYTES = 4 << 20
_LEAST_WORDS = 2
_LEAST_ALONE = 4
_MOST_PARTS = 8
_SIMPLE = {"None", "True", "False", "", "0", "1"}
_SHOWN = 100
_WRITTEN = {
    "None": ["null", "None", "~", "(?<=[:=])"],
    "True": ["true", "yes", "on"],
    "False": ["false", "no"],
}
"""How files write what Python writes otherwise."""
_AT_THE_END = 1 << 60


@value_class
class Record:
    """A line of a file.

    Attributes:
        path, line: where it is.
        text: what it says.
        is_file: the file has no other line.
    """

    path: str
    line: int
    text: str
    is_file: bool = False


class Records:
    """The files that a program has read and not written, as far as they are text."""

    def __init__(self, recording: Recording) -> None:
        """Find them."""
        self._all = recording
        self._files: dict[str, list[str]] | None = None
        self._opened_at = dict[str, int]()
        self._known: dict[tuple[str, ...], Record | None] = {}

    def find(self, value: Value, until: int = _AT_THE_END) -> Record | None:
        """Return the only line that has all texts and numbers of a value; None: none or several.

        Args:
            value: the value.
            until: the moment at which there was the value: a file that was opened later had no part in it.
        """
        words = {each: None for each in self._words(value) if each not in _SIMPLE}
        is_alone = value.kind == SCALAR and any(len(each) >= _LEAST_ALONE for each in words)
        if len(words) < _LEAST_WORDS and not is_alone:
            return None
        states = self._all.history(value.number)
        seen = next((each.moment for each in states if each.value is value), until)
        found = list(self._lines(_patterns(words), until=min(until, seen)))
        return found[0] if len(found) == 1 else None

    def read_by(self, trail: Trail) -> Record | None:
        """Return the line of a file that the value of a trail was a part of, or that has all that it holds."""
        # Two keys may have the same value: the lines say which one they read.
        keys = {_key_read(hop.expr) for hop in trail.hops}
        until = trail.made_by
        for hop in reversed(trail.hops):
            if hop.inside is None or hop.value is None:
                continue
            parts = list(self._all.parts(hop.inside))
            for key, part in sorted(parts, key=lambda each: each[0] not in keys):
                if part.is_same(hop.value):
                    record = self.find(hop.inside, until) or self.pair(key, part, until)
                    record = record or self._item(hop.inside, until)
                    if record is not None:
                        return record
        value = trail.hops[0].value if trail.hops else None
        return None if value is None or value.kind != CONTAINER else self.find(value, until)

    def spoilt(self, value: Value, bad: Value | None, until: int) -> Record | None:
        """Return the line of a record; among many records, of the one that contains the bad value."""
        found = self.find(value, until) if value.kind != SCALAR else None
        if found is not None or bad is None:
            return found
        for _, part in self._all.parts(value):
            if any(_reads_like(each, bad) for _, each in self._all.parts(part)):
                found = self.find(part, until)
                if found is not None:
                    return found
        return None

    def line_held(self, trail: Trail) -> Record | None:
        """Return the line with a value that a variable held whole when the value was made; None: none, or several."""
        call, step, made = trail.call, trail.step, trail.hops[-1].value
        if call is None or step is None or made is None or made.kind != SCALAR:
            return None
        found = set[Record]()
        calls = [call, call.parent] if call.code.short in COMPREHENSIONS else [call]
        for own in (each for each in calls if each is not None):
            for name in own.held:
                value = self._all.held(own, name, step.begin)
                if value is not None and value.type in {"str", "bytes"}:
                    words = re.findall(r"[-+]?[\w.]+", _plain(value))
                    if len(words) > 1 and any(_is_it(word, made) for word in words):
                        found.update(self._whole(value, trail.made_by))
        return found.pop() if len(found) == 1 else None

    def line_of(self, value: Value) -> Record | None:
        """Return the only line that a text is; None: it is none, or several."""
        found = list(self._whole(value))
        return found[0] if len(found) == 1 else None

    def _whole(self, value: Value, until: int = _AT_THE_END) -> Iterator[Record]:
        """Yield the lines that a text is, with or without blanks around it."""
        line = _plain(value)
        return self._lines([re.compile(rf"^\s*{re.escape(line)}\s*$")], until=until)

    def pair(self, key: str, value: Value, until: int = _AT_THE_END) -> Record | None:
        """Return the only line that has a key and, behind it, its value or the few that a list holds."""
        name = key.strip("'")
        parts = [value] if value.kind == SCALAR else [part for _, part in self._all.parts(value)]
        is_short = 0 < len(parts) <= _MOST_PARTS and all(each.kind == SCALAR for each in parts)
        if not is_short or value.type == "dict" or len(name) < _LEAST_WORDS:
            return None
        behind = r"\W+".join(f"(?:{'|'.join(_ways_to_write(each))})" for each in parts)
        start = r"\W*" if value.kind == SCALAR else r"\W*[\[(]\s*"
        ends = [re.compile(rf"(?<!\w){re.escape(name)}\b{start}{behind}\W*$")]
        found = list(self._lines(ends, until=until))
        return found[0] if len(found) == 1 else None

    def _item(self, value: Value, until: int) -> Record | None:
        """Return the only line that has a list behind the key under which a dictionary held it."""
        if value.kind != CONTAINER or value.type == "dict":
            return None
        keys = {
            key
            for holder in self._all.values
            if holder.type == "dict"
            for key, part in self._all.parts(holder)
            if part.is_same(value)
        }
        return self.pair(keys.pop(), value, until) if len(keys) == 1 else None

    def lines_of(self, path: str) -> Iterator[Record]:
        """Yield the lines of a file."""
        lines = self.files.get(path, ())
        for number, line in enumerate(lines, 1):
            yield Record(path, number, line.strip()[:_SHOWN], len(lines) == 1)

    def around(self, values: Sequence[Value]) -> Record | None:
        """Return the only line of a file that has all texts of some values, and of those in them."""
        known = [values, *([each] for each in values)]
        for some in known:
            texts = [
                _plain(part)
                for each in some
                for part in ([each] if each.kind == SCALAR else self._scalars(each))
                if part.type == "str"
            ]
            words = [each for each in texts if each not in _SIMPLE]
            if len(words) >= _LEAST_WORDS or any(len(each) >= _LEAST_ALONE for each in words):
                key = tuple(dict.fromkeys(words))
                if key not in self._known:
                    found = list(islice(self._lines(_patterns(key), key), _LEAST_WORDS))
                    self._known[key] = found[0] if len(found) == 1 else None
                if self._known[key] is not None:
                    return self._known[key]
        return None

    def _scalars(self, value: Value) -> Iterator[Value]:
        return (part for _, part in self._all.parts(value) if part.kind == SCALAR)

    def _words(self, value: Value) -> Iterator[str]:
        if value.kind == SCALAR:
            yield _plain(value)
            return
        for _, part in self._all.parts(value):
            if part.kind == SCALAR:
                yield _plain(part)

    def _lines(
        self,
        patterns: Sequence[re.Pattern[str]],
        words: Sequence[str] = (),
        until: int = _AT_THE_END,
    ) -> Iterator[Record]:
        for path, lines in self.files.items():
            if self._opened_at[path] > until:
                continue
            for number, line in enumerate(lines, 1):
                is_near = all(each in line for each in words)
                if is_near and all(each.search(line) for each in patterns):
                    yield Record(path, number, line.strip()[:_SHOWN], len(lines) == 1)

    @property
    def lines(self) -> int:
        """How many lines they have."""
        return sum(map(len, self.files.values()))

    @property
    def files(self) -> dict[str, list[str]]:
        """Lines by path."""
        if self._files is None:
            written = {path for path, mode, _ in self._opened() if mode and mode[0] in "wax"}
            self._files = {}
            for path, _, moment in self._opened():
                if path in self._opened_at:
                    continue
                self._opened_at[path] = moment
                if path not in written:
                    with suppress(OSError, UnicodeDecodeError):
                        own = Path(path)
                        if own.is_file() and own.stat().st_size <= _MOST_BYTES:
                            self._files[path] = own.read_text("utf-8").splitlines()
        return self._files

    def _opened(self) -> Iterator[tuple[str, str, int]]:
        for event in self._all.events:
            if event.name == "open":
                path = str(Path(self._all.folder, event.words[0]))
                yield path, event.words[1] if len(event.words) > 1 else "r", event.moment


def _patterns(words: Iterable[str]) -> list[re.Pattern[str]]:
    return [re.compile(rf"(?<![\w.]){re.escape(each)}(?![\w.])") for each in words]


def _key_read(expr: ast.expr | None) -> str:
    """Return the key that an expression reads, as a recording has it; empty: it is no constant."""
    match expr:
        case ast.Subscript(slice=ast.Constant(value=key)):
            return repr(key)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key), *_]):
            return repr(key)
        case _:
            return ""


def _is_it(word: str, value: Value) -> bool:
    """Whether a word of a file is a value, as a text or as the number that it stands for."""
    if not value.is_number:
        return word == _plain(value)
    with suppress(ValueError):
        return float(word) == float(value.words)
    return False


def _ways_to_write(value: Value) -> list[str]:
    """Return patterns of how a file would have it."""
    return _WRITTEN.get(value.words) or [re.escape(_plain(value))]


def _plain(value: Value) -> str:
    """Return how a file would have it."""
    words = value.words
    if value.type in {"str", "bytes"}:
        words = words.removeprefix("b")[1:-1].removesuffix("\\n").removesuffix("\\r").strip()
    elif value.type == "float":
        words = words.removesuffix(".0")
    return words


def _reads_like(value: Value, bad: Value) -> bool:
    """Whether a text of a file stands for a bad value."""
    words = value.words.strip("'").strip().casefold()
    if bad.facts.get("nan") or "nan" in bad.words:
        return words in {"nan", "na", "n/a", "null", "inf", "-inf", ""}
    least = bad.facts.get("min")
    return value.kind == SCALAR and words in {bad.words, str(least)} and len(words) > 1
