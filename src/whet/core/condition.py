"""The small language of ``--bad-if``: measurements and output patterns, three-valued.

condition = conjunction { "or" conjunction }
conjunction = comparison { "and" comparison }
comparison = NAME ( ">" | ">=" | "<" | "<=" | "==" | "!=" | "~" | "!~" ) VALUE
"""

import operator
import re
from collections.abc import Callable

from whet.core.errors import BadCondition, WhetError
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
_NUMBER = re.compile(
    r"(?P<number>[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|nan|inf)\s*(?P<unit>[A-Za-z]*)",
    re.IGNORECASE,
)
_UNITS = {
    "": 1.0,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "kib": 1024.0,
    "mib": 1024.0**2,
    "gib": 1024.0**3,
}
_TIME_UNITS = frozenset({"", "ms", "s", "m", "min", "h", "d"})
_NUMERIC_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_STREAMS = ("stdout", "stderr", "output")
_ONE_STREAM = frozenset({"stdout", "stderr", "stdout_bytes", "stderr_bytes"})
_RESOURCES = frozenset({"seconds", "wall_seconds", "cpu_seconds", "peak_memory", "peak_rss_bytes"})


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
        value = _number_of(self.name, outcome)
        return None if value is None else _NUMERIC_OPERATORS[self.operator](value, self.number)

    def measured(self, outcome: Outcome) -> str:
        """Say what was measured, or whether its pattern was found."""
        if self.pattern is not None:
            is_found = self.holds(outcome) is (self.operator == "~")
            text = self.pattern.pattern.decode("utf-8", "replace")
            return f"`{text}` {'is' if is_found else 'is not'} in {self.name}"
        value = _number_of(self.name, outcome)
        return f"the output has no {self.name}" if value is None else f"{self.name} = {value:.6g}"

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
                    hint="write it like `seconds > 2`, `stderr ~ NaN` or `exit == 3 and stdout ~ x`",
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
        """The names of numbers that a program has to report for this to be decided."""
        terms = [term for alternative in self.alternatives for term in alternative]
        return frozenset(
            term.name for term in terms if term.name not in _STREAMS and term.name not in _OBSERVED
        )

    @property
    def tells_streams_apart(self) -> bool:
        """Whether it is about what came on one of the two streams."""
        return any(term.name in _ONE_STREAM for terms in self.alternatives for term in terms)

    @property
    def weighs_resources(self) -> bool:
        """Whether it is about the time or the memory that whet itself measures."""
        return any(term.name in _RESOURCES for terms in self.alternatives for term in terms)


def _comparison(found: re.Match[str], whole: str) -> Comparison:
    name, symbol, value = found["name"], found["operator"], found["value"]
    if value[:1] in {"'", '"'} and value[-1:] == value[:1]:
        value = value[1:-1]
    if symbol in {"~", "!~"}:
        if name not in _STREAMS:
            raise BadCondition(
                f"`{name}` in `{whole}` is not text, so no pattern can match it",
                hint="patterns work on stdout, stderr and output",
            )
        return Comparison(name, symbol, pattern=pattern_of(value, f"`{value}` in `{whole}`"))
    if name in _STREAMS:
        raise BadCondition(
            f"`{name} {symbol}` in `{whole}` compares text with a number",
            hint=f"match it with `{name} ~ PATTERN`",
        )
    return Comparison(name, symbol, number=_quantity(value, whole))


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


def _quantity(value: str, whole: str) -> float:
    found = _NUMBER.fullmatch(value)
    if found is None or found["unit"].lower() not in _UNITS:
        raise BadCondition(
            f"`{value}` in `{whole}` is not a number",
            hint="write 2, 0.5, 1e-3, 200ms, 2s, 3min, 500MB or 2GiB",
        )
    return float(found["number"]) * _UNITS[found["unit"].lower()]


def _exit_of(outcome: Outcome) -> float:
    return outcome.shell_exit_code


_OBSERVED: dict[str, Callable[[Outcome], float]] = {
    "seconds": lambda outcome: outcome.wall_seconds,
    "wall_seconds": lambda outcome: outcome.wall_seconds,
    "cpu_seconds": lambda outcome: outcome.cpu_seconds,
    "peak_memory": lambda outcome: outcome.peak_rss_bytes,
    "peak_rss_bytes": lambda outcome: outcome.peak_rss_bytes,
    "exit": _exit_of,
    "stdout_bytes": lambda outcome: outcome.stdout.size_bytes,
    "stderr_bytes": lambda outcome: outcome.stderr.size_bytes,
}


def _number_of(name: str, outcome: Outcome) -> float | None:
    if name in _OBSERVED:
        return _OBSERVED[name](outcome)
    return outcome.measurements.get(name)


def duration_seconds(text: str) -> float | None:
    """Return the seconds that ``text`` says, such as ``90``, ``200ms`` or ``5min``; None if none."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or found["unit"].lower() not in _TIME_UNITS:
        return None
    return float(found["number"]) * _UNITS[found["unit"].lower()]
