"""The small language of ``--bad-if``: measurements and output patterns, three-valued.

condition = conjunction { "or" conjunction }
conjunction = comparison { "and" comparison }
comparison = NAME ( ">" | ">=" | "<" | "<=" | "==" | "!=" | "~" | "!~" ) VALUE
"""

import operator
import re
from collections.abc import Callable

from whet.core.errors import BadCondition, WhetError
from whet.core.measurements import (
    EXAMPLES,
    NumberKind,
    full_name,
    is_observed,
    is_of_section,
    kind_of,
    number_of,
    quantity_of,
)
from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.value_class import value_class

_COMPARISON = re.compile(
    r"""\s*(?P<name>[A-Za-z_][\w.]*)\s*
        (?P<operator>>=|<=|==|!=|!~|>|<|~)\s*
        (?P<value>'[^']*'|"[^"]*"|.*?)\s*
        (?=\band\b|\bor\b|$)
        (?P<joiner>and|or)?""",
    re.VERBOSE | re.DOTALL,
)
_NUMERIC_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
STREAMS = ("stdout", "stderr", "output")
_ONE_STREAM = frozenset({"stdout", "stderr", "stdout_bytes", "stderr_bytes"})
_RESOURCES = frozenset({"seconds", "cpu_seconds", "peak_memory"})


_ASSIGNED = re.compile(r"(?P<name>[\w.]+)\s*=\s*(?P<value>[^=\s]+)")


@value_class
class Comparison:
    """One ``NAME OPERATOR VALUE``."""

    name: str
    operator: str
    number: float = 0.0
    pattern: re.Pattern[bytes] | None = None

    def holds(self, outcome: Outcome) -> bool | None:
        """Say whether it is true of ``outcome``; None when the number was never reported."""
        if self.pattern is not None:
            found = any(
                stream.search(self.pattern) is not None for stream in self._streams(outcome)
            )
            return found is (self.operator == "~")
        value = number_of(self.name, outcome)
        return None if value is None else _NUMERIC_OPERATORS[self.operator](value, self.number)

    def measured(self, outcome: Outcome) -> str:
        """Say what was measured, or whether its pattern was found."""
        if self.pattern is not None:
            is_found = self.holds(outcome) is (self.operator == "~")
            text = self.pattern.pattern.decode("utf-8", "replace")
            return f"`{text}` {'is' if is_found else 'is not'} in {self.name}"
        value = number_of(self.name, outcome)
        if value is not None:
            return f"{self.name} = {value:.6g}"
        if is_of_section(self.name):
            return f"no section `{self.name.rpartition('.')[0]}` ended"
        return f"the output has no {self.name}"

    def _streams(self, outcome: Outcome) -> tuple[Output, ...]:
        if self.name == "stdout":
            return (outcome.stdout,)
        if self.name == "stderr":
            return (outcome.stderr,)
        return (outcome.stdout, outcome.stderr)


@value_class
class Condition:
    """Comparisons joined by ``and`` and ``or``; ``and`` binds tighter.

    Attributes:
        text: as the user wrote it.
        alternatives: one of these must hold; each is a tuple of which all must hold.
    """

    text: str
    alternatives: tuple[tuple[Comparison, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read ``text``.

        Raises:
            BadCondition: if it can't be read.
        """
        alternatives: list[list[Comparison]] = [[]]
        position = 0
        while True:
            found = _COMPARISON.match(text, position)
            if found is None:
                raise BadCondition(
                    f"can't parse the condition `{text}` from `{text[position:]}` on",
                    hint=_hint(text[position:]),
                )
            alternatives[-1].append(_comparison(found, text))
            position = found.end()
            if found["joiner"] is None:
                return cls(text, tuple(tuple(terms) for terms in alternatives))
            if found["joiner"] == "or":
                alternatives.append([])

    def holds(self, outcome: Outcome) -> bool | None:
        """Say whether it is true of ``outcome``; None when that can't be known (Kleene)."""
        any_unknown = False
        for terms in self.alternatives:
            values = [term.holds(outcome) for term in terms]
            if all(values):
                return True
            any_unknown = any_unknown or (False not in values)
        return None if any_unknown else False

    def measured(self, outcome: Outcome) -> str:
        """Say what it was decided by, such as ``seconds = 2.31, bad if seconds > 2``."""
        terms = [term.measured(outcome) for terms in self.alternatives for term in terms]
        return ", ".join([*dict.fromkeys(terms), f"bad if {self.text}"])

    @property
    def names(self) -> frozenset[str]:
        """The names of numbers that a program has to print for this to be decided."""
        terms = [term for alternative in self.alternatives for term in alternative]
        return frozenset(
            term.name
            for term in terms
            if not (term.name in STREAMS or is_observed(term.name) or is_of_section(term.name))
        )

    @property
    def tells_streams_apart(self) -> bool:
        """Whether it is about what came on one of the two streams."""
        return any(term.name in _ONE_STREAM for terms in self.alternatives for term in terms)

    @property
    def weighs_resources(self) -> bool:
        """Whether it is about the time or the memory that whet itself measures."""
        return bool(self._resources)

    @property
    def cost(self) -> NumberKind | None:
        """Whether it is about time alone or memory alone, as whet measures them; None: it isn't."""
        kinds = {kind_of(name) for name in self._resources}
        is_alone = len(self._resources) == len(self._names) and len(kinds) == 1
        return kinds.pop() if is_alone else None

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(full_name(term.name) for terms in self.alternatives for term in terms)

    @property
    def _resources(self) -> frozenset[str]:
        return frozenset(each for each in self._names if each in _RESOURCES or is_of_section(each))


def _hint(rest: str) -> str:
    """Return how to write a condition that can't be read: an assignment is a comparison."""
    single = _ASSIGNED.fullmatch(rest)
    if single is not None:
        return f"write `{single['name']} == {single['value']}`, with two `=`"
    return "write it like `seconds > 2`, `stderr ~ NaN` or `exit == 3 and stdout ~ x`"


def _comparison(found: re.Match[str], whole: str) -> Comparison:
    name, symbol, value = found["name"], found["operator"], found["value"]
    if value[:1] in {"'", '"'} and value[-1:] == value[:1]:
        value = value[1:-1]
    if symbol in {"~", "!~"}:
        if name not in STREAMS:
            raise BadCondition(
                f"`{name}` in `{whole}` is not text, so no pattern can match it",
                hint="patterns work on stdout, stderr and output",
            )
        return Comparison(name, symbol, pattern=pattern_of(value, f"`{value}` in `{whole}`"))
    if name in STREAMS:
        raise BadCondition(
            f"`{name} {symbol}` in `{whole}` compares text with a number",
            hint=f"match it with `{name} ~ PATTERN`",
        )
    return Comparison(name, symbol, number=_quantity(name, value, whole))


def pattern_of(text: str, shown: str, error: type[WhetError] = BadCondition) -> re.Pattern[bytes]:
    """Return a regular expression over lines.

    Raises:
        WhetError: ``error``, with the text as ``shown``, if it isn't one.
    """
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except (re.error, UnicodeError, RecursionError, OverflowError) as reason:
        raise error(
            f"{shown} is not a regular expression: {reason}",
            hint="put a backslash before each literal . * + ? ( ) [ ] { } |",
        ) from reason


def _quantity(name: str, value: str, whole: str) -> float:
    kind = kind_of(name)
    number = quantity_of(value, kind)
    if number is None:
        what = {NumberKind.TIME: "time", NumberKind.MEMORY: "size"}.get(kind, "number")
        raise BadCondition(
            f"`{value}` in `{whole}` is not a {what}", hint=f"write {EXAMPLES[kind]}"
        )
    return number


def duration_seconds(text: str) -> float | None:
    """Return the seconds that ``text`` says, such as ``90``, ``200ms`` or ``5min``; None if none."""
    return quantity_of(text, NumberKind.TIME)
