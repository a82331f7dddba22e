"""What the comments of a source expect: ``# expect: 40 ms`` behind a statement, or above one.

comment = "# expect:" part { "," part }
part = [ "~" | "<" | "<=" | ">" | ">=" ] VALUE [ "total" ]      such as 40 ms, 2s..4s, < 100 MB
     | [ … ] NUMBER ( "calls" | "times" )
"""

import io
import re
import tokenize
from collections.abc import Iterator

from whet.core.condition import Condition
from whet.core.errors import BadCondition, BadExpectation
from whet.core.measurements import NumberKind, quantity_of
from whet.core.number_range import NumberRange, range_of, range_of_comparison
from whet.core.value_class import value_class

EACH, TOTAL, KEPT, RUNS = "each.seconds", "total.seconds", "each.kept_memory", "runs.count"
"""What a part is about: the time of one run, of all runs, the memory that one keeps, how many runs."""

_COMMENT = re.compile(r"#\s*expect\s*:\s*(.*)")
_PART = re.compile(
    r"(?P<operator>~|<=|>=|<|>)?\s*(?P<value>.*?)\s*(?P<word>\b(?:calls?|times|runs?|total|each))?"
)
_COUNTED = frozenset({"call", "calls", "times", "run", "runs"})
_HINT = "write `# expect: 40 ms`, `# expect: 2s..4s total`, `# expect: < 100 MB` or `# expect: 10 calls`"


@value_class(kw_only=True)
class Comment:
    """One part of a comment.

    Attributes:
        line: where it stands.
        stands_alone: nothing but the comment is on the line: it is about the next statement.
        text: the part, as it is written.
        statement: its operator and value, as behind the name of a number in ``--expect``.
        range: what it allows; its name is `EACH`, `TOTAL`, `KEPT` or `RUNS`.
    """

    line: int
    stands_alone: bool
    text: str
    statement: str
    range: NumberRange


def comments_in(source: str, name: str) -> tuple[Comment, ...]:
    """Return what the comments of a source expect.

    Raises:
        BadExpectation: naming file, line and word, if one can't be read.
    """
    found: list[Comment] = []
    for line, alone, text in _written(source):
        for part in text.split(","):
            try:
                statement, of = _range(part.strip())
            except BadExpectation as error:
                raise BadExpectation(f"{name}:{line}: {error}", hint=error.hint) from error
            found.append(
                Comment(
                    line=line, stands_alone=alone, text=part.strip(), statement=statement, range=of
                )
            )  # fmt: skip
    return tuple(found)


def _written(source: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the comments' lines, whether each has its line for itself, and what it says."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                yield token.start[0], not token.line[: token.start[1]].strip(), match[1].strip()
    except (tokenize.TokenError, SyntaxError):
        return  # Python itself says so


def _range(part: str) -> tuple[str, NumberRange]:
    match = _PART.fullmatch(part)
    assert match is not None  # it takes anything
    operator, value, word = match["operator"] or "~", match["value"], match["word"] or ""
    name = _name(value, word)
    if name is None:
        raise BadExpectation(f"can't read `{part}` behind `# expect:`", hint=_HINT)
    try:
        if operator == "~":
            of = range_of(f"{name} ~ {value}")
        else:
            condition = Condition.parse(f"{name} {operator} {value}")
            of = range_of_comparison(condition.alternatives[0][0])
    except (BadExpectation, BadCondition) as error:
        shown = str(error).replace(f"{name} {operator} ", "")  # the name is whet's own
        raise BadExpectation(shown, hint=_HINT) from error
    if of is None:
        raise BadExpectation(f"can't read `{part}` behind `# expect:`", hint=_HINT)
    return f"{operator} {value}", of


def _name(value: str, word: str) -> str | None:
    """Return what a part is about, by its unit; None: it has none."""
    if word in _COUNTED:
        return RUNS
    last = re.split(r"\s*(?:\.\.|…|\bto\b|±|\+-|\+/-)\s*", value)
    for end in last:
        if end[-1:].isdigit() or end[-1:] in {"%", "."}:
            continue
        if quantity_of(end, NumberKind.TIME) is not None:
            return TOTAL if word == "total" else EACH
        if quantity_of(end, NumberKind.MEMORY) is not None:
            return KEPT
    return None
