"""The small language of ``--where``: a condition over the columns of a row, three-valued as in SQL.

condition = both { "or" both }            both = one { "and" one }
one = "not" one | "(" condition ")" | operand test
test = ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) operand | ( "~" | "!~" ) TEXT
     | [ "not" ] "in" "(" VALUE { "," VALUE } ")" | "is" [ "not" ] "null"

It is parsed, never evaluated as a program.
"""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Protocol

from whet.core.errors import BadRowCondition
from whet.core.value_class import value_class
from whet.sampling.values import number_in

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
        |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
        |(?P<quoted>`[^`]+`)
        |(?P<operator>>=|<=|==|!=|!~|<>|=|>|<|~|\(|\)|,)
        |(?P<word>[^\W\d][\w.]*))""",
    re.VERBOSE,
)
_COMPARISONS: Mapping[str, Callable[[Any, Any], object]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SAME_OPERATORS = {"=": "==", "<>": "!="}
_LITERALS: Mapping[str, object] = {"true": True, "false": False}
_MOST_DEPTH = 50


class Node(Protocol):
    """A part of a condition."""

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether it is true of a row; None: something that it needs is missing."""
        ...


@value_class
class Operand:
    """A column, or a value.

    Attributes:
        column: its name; empty: it is a value.
        value: that.
    """

    column: str = ""
    value: object = None

    def of(self, row: Mapping[str, object]) -> object:
        """Return what it is in a row."""
        return row[self.column] if self.column else self.value


@value_class
class Comparison:
    """``LEFT OPERATOR RIGHT``."""

    left: Operand
    symbol: str
    right: Operand

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether it is true of a row."""
        left, right = self.left.of(row), self.right.of(row)
        if self.left.column and self.right.column:
            left, right = _numbers_in(left, right)
        pair = _comparable(left, right)
        if pair is None:
            return None
        try:
            return bool(_COMPARISONS[self.symbol](*pair))
        except TypeError:
            return None


@value_class
class Matches:
    """``LEFT ~ PATTERN``."""

    left: Operand
    pattern: re.Pattern[str]

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether the pattern is in the value."""
        value = self.left.of(row)
        return None if value is None else self.pattern.search(str(value)) is not None


@value_class
class IsOneOf:
    """``LEFT in (…)``."""

    left: Operand
    values: tuple[object, ...]

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether the value is one of those."""
        value = self.left.of(row)
        if value is None:
            return None
        pairs = [_comparable(value, each) for each in self.values]
        return any(pair is not None and pair[0] == pair[1] for pair in pairs)


@value_class
class IsNull:
    """``LEFT is null``."""

    left: Operand

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether there is no value."""
        return self.left.of(row) is None


@value_class
class Negation:
    """``not INNER``."""

    inner: Node

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether the other is false."""
        value = self.inner.holds(row)
        return None if value is None else not value


@value_class
class Joined:
    """Parts that are joined by one word.

    Attributes:
        parts: those.
        decides: a part that is this decides: False of ``and``, True of ``or``.
    """

    parts: tuple[Node, ...]
    decides: bool

    def holds(self, row: Mapping[str, object]) -> bool | None:
        """Say whether all of them hold, or one of them (Kleene)."""
        any_unknown = False
        for part in self.parts:
            value = part.holds(row)
            if value is self.decides:
                return value
            any_unknown = any_unknown or value is None
        return None if any_unknown else not self.decides


@value_class
class RowCondition:
    """A condition over rows.

    Attributes:
        text: as the user wrote it.
        root: its tree.
        columns: the names of the columns that it looks at, in order.
    """

    text: str
    root: Node
    columns: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "RowCondition":
        """Read ``text``.

        Raises:
            BadRowCondition: if it can't be read.
        """
        return _Parser(text).whole()

    def holds(self, row: Mapping[str, object]) -> bool:
        """Say whether a row matches; one of which that can't be known doesn't."""
        return self.root.holds(row) is True


@value_class
class _Token:
    kind: str
    text: str
    start: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._at = 0
        self._depth = 0
        self._columns: dict[str, None] = {}

    def whole(self) -> RowCondition:
        root = self._either()
        if self._at < len(self._tokens):
            raise self._error()
        return RowCondition(self._text, root, tuple(self._columns))

    def _split(self) -> "list[_Token]":
        tokens: list[_Token] = []
        position = 0
        while position < len(self._text.rstrip()):
            found = _TOKEN.match(self._text, position)
            if found is None or found.lastgroup is None:
                raise _unreadable(self._text, position)
            kind = found.lastgroup
            tokens.append(_Token(kind, found[kind], found.start(kind)))
            position = found.end()
        return tokens

    def _either(self) -> Node:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self._error()
        parts = [self._both()]
        while self._takes("or"):
            parts.append(self._both())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Joined(tuple(parts), decides=True)

    def _both(self) -> Node:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Joined(tuple(parts), decides=False)

    def _one(self) -> Node:
        is_negated = False
        while self._takes("not"):
            is_negated = not is_negated
        if self._takes("("):
            inner = self._either()
            self._needs(")")
        else:
            inner = self._test(self._operand())
        return Negation(inner) if is_negated else inner

    def _test(self, left: Operand) -> Node:
        if self._takes("is"):
            is_negated = self._takes("not")
            self._needs("null")
            return Negation(IsNull(left)) if is_negated else IsNull(left)
        is_negated = self._takes("not")
        if self._takes("in"):
            found = IsOneOf(left, self._values())
            return Negation(found) if is_negated else found
        symbol = self._next("operator") if not is_negated else None
        if symbol in {"~", "!~"}:
            matches = Matches(left, self._pattern())
            return matches if symbol == "~" else Negation(matches)
        symbol = _SAME_OPERATORS.get(symbol or "", symbol)
        if symbol is None or symbol not in _COMPARISONS:
            self._at -= symbol is not None
            raise self._error()
        return Comparison(left, symbol, self._operand())

    def _values(self) -> tuple[object, ...]:
        self._needs("(")
        values = [self._value()]
        while self._takes(","):
            values.append(self._value())
        self._needs(")")
        return tuple(values)

    def _value(self) -> object:
        operand = self._operand()
        if operand.column:
            self._at -= 1
            raise self._error()
        return operand.value

    def _pattern(self) -> re.Pattern[str]:
        value = self._value()
        try:
            return re.compile(str(value))
        except (re.error, RecursionError, OverflowError) as reason:
            raise BadRowCondition(
                f"`{value}` in `{self._text}` is not a regular expression: {reason}",
                hint="put a backslash before each literal . * + ? ( ) [ ] { } |",
            ) from reason

    def _operand(self) -> Operand:
        number = self._next("number")
        if number is not None:
            return Operand(value=number_in(number))
        text = self._next("text")
        if text is not None:
            return Operand(value=text[1:-1].replace(text[0] * 2, text[0]))
        quoted = self._next("quoted")
        word = quoted[1:-1] if quoted is not None else self._next("word")
        if word is None:
            raise self._error()
        if quoted is None and word.lower() in _LITERALS:
            return Operand(value=_LITERALS[word.lower()])
        if quoted is None and word.lower() in {"and", "or", "not", "in", "is", "null"}:
            self._at -= 1
            raise self._error()
        self._columns[word] = None
        return Operand(column=word)

    def _next(self, kind: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == kind:
            self._at += 1
            return self._tokens[self._at - 1].text
        return None

    def _takes(self, text: str) -> bool:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind in {"word", "operator"} and token.text.lower() == text:
                self._at += 1
                return True
        return False

    def _needs(self, text: str) -> None:
        if not self._takes(text):
            raise self._error()

    def _error(self) -> BadRowCondition:
        is_inside = self._at < len(self._tokens)
        return _unreadable(
            self._text, self._tokens[self._at].start if is_inside else len(self._text)
        )


def _unreadable(text: str, position: int) -> BadRowCondition:
    rest = text[position:].strip()
    where = f"from `{rest}` on" if rest else "which ends too early"
    return BadRowCondition(
        f"can't parse the condition `{text}`{' ' if rest else ', '}{where}",
        hint="write it like `amount < 0 and country == 'DE'`; a name with spaces goes in backticks",
    )


def _comparable(left: object, right: object) -> tuple[object, object] | None:
    """Return two values as they are compared with each other; None: they aren't."""
    if left is None or right is None:
        return None
    if isinstance(left, str) and not isinstance(right, str):
        read = _read_as(left, right)
        return None if read is None else (read, right)
    if isinstance(right, str) and not isinstance(left, str):
        read = _read_as(right, left)
        return None if read is None else (left, read)
    return _as_decimal(left, beside=right), _as_decimal(right, beside=left)


def _as_decimal(value: object, *, beside: object) -> object:
    """Return a float beside a decimal number as the one that it was written as: 1.1 is 1.1."""
    is_mixed = isinstance(value, float) and isinstance(beside, Decimal)
    return Decimal(repr(value)) if is_mixed else value


def _numbers_in(left: object, right: object) -> tuple[object, object]:
    """Return the numbers that two texts are, as the cells of CSV; else the values themselves."""
    if isinstance(left, str) and isinstance(right, str):
        one, other = number_in(left), number_in(right)
        if one is not None and other is not None:
            return one, other
    return left, right


def _read_as(text: str, like: object) -> object | None:
    """Return what a text says in the type of another value; None: nothing."""
    if isinstance(like, bool):
        return _LITERALS.get(text.lower())
    if isinstance(like, int | float | Decimal):
        return _as_decimal(number_in(text), beside=like)
    if isinstance(like, bytes):
        return text.encode("utf-8", "surrogateescape")
    for type_ in (datetime, date, time):
        if isinstance(like, type_):
            try:
                read = type_.fromisoformat(text)
            except ValueError:
                return None
            return _in_zone_of(like, read)
    return text if isinstance(like, str) else None


def _in_zone_of(like: object, read: date | time) -> date | time:
    """Return a moment in the other one's time zone, unless it has one of its own."""
    if isinstance(read, datetime) and isinstance(like, datetime) and read.tzinfo is None:
        return read.replace(tzinfo=like.tzinfo)
    return read
