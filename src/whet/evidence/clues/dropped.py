"""Results that the failing run dropped: those that tell of trouble, and those that are new."""

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum

from whet.core.observations.clue import Clue, Mention, Placing, Sureness, TrailStep
from whet.core.text.code_lines import module_of
from whet.core.text.record import JsonObject, items_of, optional_integer, rows, text, whole
from whet.core.value_class import value_class
from whet.evidence.clues.closer_look import Line, line_of, of_kind

_LONGEST = 60
_MOST = 2
_WHY = "a call told of trouble, and nothing in the program looks at it"
_FIELD = 3


Span = tuple[int, ...]
"""The first line, column, last line and end of a part of a program, as `ast` has them."""


class Trouble(Enum):
    """What a dropped result is, the most telling first."""

    ERRORS = "errors"
    ERROR = "error"
    SHORT = "short"
    LAZY = "lazy"
    GAVE_UP = "gave up"
    FIELDS = "fields"
    STATUS = "status"
    NEW = "new"


@value_class(kw_only=True)
class Field:
    """A field of a dropped record that is empty as long as all goes well.

    Attributes:
        name: its name.
        size: the number of its items; 0 if it isn't a container.
        words: it, or its first item.
    """

    name: str
    size: int
    words: str

    @property
    def says(self) -> str:
        """It in words."""
        if not self.size:
            return f"`{self.name}` is {self.words}"
        many = f"{self.size} items, such as" if self.size > 1 else "1 item,"
        return f"`{self.name}` has {many} {self.words}"


@value_class(kw_only=True)
class Drop:
    """A statement that dropped what a call had returned.

    Attributes:
        at: the statement.
        span: what it dropped.
        trouble: what was dropped.
        targets: of a new value, what it was made from and may have been meant for, by their spans.
        fields: of a record, what tells of trouble.
        count, of: how many results were errors, or how much of it was done, and of how many.
        status: of a process.
        said: the last line of that process, or the error.
        absent: a path that the process was given, and that isn't there after it; empty: none.
        raised: where the error was raised; None: not in the user's code.
    """

    at: Line
    span: Span
    trouble: Trouble
    targets: tuple[Span, ...] = ()
    fields: tuple[Field, ...] = ()
    count: int = 0
    of: int = 0
    status: int = 0
    said: str = ""
    absent: str = ""
    raised: Line | None = None

    def statement_in(self, tree: ast.AST | None) -> ast.Expr | None:
        """Return the statement in the tree of its module; None: it isn't there."""
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Expr) and span_of(node) == self.span:
                return node
        return None

    def value_in(self, tree: ast.AST | None) -> ast.expr | None:
        """Return what was dropped, in the tree of its module; None: it isn't there."""
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Await | ast.Call) and span_of(node) == self.span:
                return node
        return None


def drops_in(told: Sequence[JsonObject]) -> list[Drop]:
    """Return what a run that was looked at has dropped, the most telling first."""
    drops: dict[tuple[str, Span, Trouble], Drop] = {}
    for each in of_kind(told, "dropped"):
        at, word = line_of(each.get("place")), text(each, "trouble")
        trouble = next((one for one in Trouble if one.value == word), None)
        if at is None or trouble is None:
            continue
        drop = Drop(
            at=at, span=_read_span(each.get("span")), trouble=trouble,
            targets=tuple(map(_read_span, items_of(each.get("targets")))),
            fields=tuple(
                Field(name=str(name), size=whole(size), words=str(words))
                for name, size, words in rows(each.get("fields"), _FIELD)
            ),
            count=optional_integer(each, "count") or 0, of=optional_integer(each, "of") or 0,
            status=optional_integer(each, "status") or 0,
            said=text(each, "error", "") or text(each, "said", ""),
            absent=text(each, "absent", ""), raised=line_of(each.get("raised")),
        )  # fmt: skip
        drops.setdefault((at.path, drop.span, trouble), drop)
    order = list(Trouble)
    return sorted(drops.values(), key=lambda each: order.index(each.trouble))


@value_class(kw_only=True)
class Ties:
    """What a dropped result has to do with the value that failed.

    Attributes:
        given: returns what a call of a file was given that the value comes from; empty: nothing.
        lost: returns what an error of a line kept from being changed, and the value comes from.
        has_passed: whether the value came by a line.
    """

    given: Callable[[str, ast.expr], str]
    lost: Callable[[str, int], str]
    has_passed: Callable[[str, int], bool]


def dropped_clues(
    drops: Sequence[Drop],
    ties: Ties,
    at: Placing,
    source_of: Callable[[str], str],
) -> list[Clue]:
    """Return the trouble that was dropped, those first that the failed value has to do with.

    Args:
        drops: what the run has dropped.
        ties: what they have to do with the value that failed.
        at: says where a line is.
        source_of: returns the text of a file.
    """
    clues: list[Clue] = []
    for each in drops:
        value = each.value_in(_tree(source_of(each.at.path)))
        if value is None or each.trouble is Trouble.NEW:
            continue
        clue = Clue(
            says=_says(each, _source(value), at(each.at.path, each.at.number)),
            why=_WHY, path=each.at.path, line=each.at.number, next_step=_next(each, at),
        )  # fmt: skip
        if each.raised is not None:
            raised = at(each.raised.path, each.raised.number)
            step = TrailStep(
                says=f"{each.said} was raised in `{each.raised.function}`", place=raised
            )
            clue = replace(clue, trail=(step,))
        shared = ties.given(each.at.path, value)
        lost = "" if each.raised is None else ties.lost(each.raised.path, each.raised.number)
        if each.trouble is Trouble.STATUS and ties.has_passed(each.at.path, each.at.number):
            clue = replace(
                clue,
                says=f"{clue.says}; the value that failed comes from its output",
                mentions=frozenset({Mention.DROPPED}),
            )
        elif lost or shared:
            did = f"was to change `{lost}`" if lost else f"was given `{shared}`"
            clue = replace(
                clue,
                says=f"{clue.says}; it {did}, which the value that failed comes from",
                sureness=Sureness.SEEN if _is_lost(each, lost, source_of) else Sureness.POSSIBLE,
                mentions=frozenset({Mention.DROPPED} if _leads(each) else ()),
            )
        clues.append(clue)
    clues.sort(key=lambda clue: Mention.DROPPED not in clue.mentions)
    return clues[:_MOST]


def _is_lost(drop: Drop, lost: str, source_of: Callable[[str], str]) -> bool:
    """Whether an error kept something from being done that nobody meant to leave out.

    `gather` is asked to return errors, and who writes `raise` has thought of it.
    """
    is_planned = drop.raised is None or is_raised_by_plan(
        drop.raised.path, drop.raised.number, source_of
    )
    return bool(lost) and drop.of <= 1 and not is_planned


def is_raised_by_plan(path: str, line: int, source_of: Callable[[str], str]) -> bool:
    """Whether a line of a file is a `raise` of the program's own."""
    lines = source_of(path).splitlines()
    return 0 < line <= len(lines) and lines[line - 1].lstrip().startswith("raise")


def _leads(drop: Drop) -> bool:
    """Whether trouble is more likely than other clues: a process mostly ends so by its own plan."""
    return drop.trouble is not Trouble.STATUS or bool(drop.absent)


def _says(drop: Drop, source: str, where: str) -> str:
    match drop.trouble:
        case Trouble.ERRORS if drop.of > 1:
            errors = "is an error" if drop.count == 1 else "are errors"
            return f"{where} drops what `{source}` returned: {drop.count} of {drop.of} results {errors}, {drop.said}"
        case Trouble.ERRORS:
            return f"{where} drops the result of `{source}`, which is an error: {drop.said}"
        case Trouble.ERROR:
            return f"{where} makes an error and doesn't raise it: `{source}`"
        case Trouble.SHORT:
            return (
                f"{where} drops what `{source}` returned: it took {drop.count:,} of {drop.of:,}"
                " bytes, and the rest is lost"
            )
        case Trouble.LAZY:
            return f"{where} drops what `{source}` returned: nothing of it has run"
        case Trouble.GAVE_UP:
            return f"{where} drops the answer of `{source}`: it gave up waiting"
        case Trouble.FIELDS:
            fields = " and ".join(each.says for each in drop.fields)
            return f"{where} drops what `{source}` returned: {fields}"
        case _:
            how = f"signal {-drop.status}" if drop.status < 0 else f"exit status {drop.status}"
            said = f" (it said `{drop.said}`)" if drop.said else ""
            absent = f", and `{drop.absent}` isn't there" if drop.absent else ""
            return f"{where} doesn't look at how `{source}` ended: with {how}{said}{absent}"


def _next(drop: Drop, at: Placing) -> str:
    place = at(drop.at.path, drop.at.number)
    match drop.trouble:
        case Trouble.ERRORS:
            raised = "" if drop.raised is None else at(drop.raised.path, drop.raised.number)
            mend = f" and mend {raised}" if raised else ""
            return f"look at the results at {place}{mend}"
        case Trouble.ERROR:
            return f"raise it at {place}"
        case Trouble.SHORT:
            return f"send the rest, too, at {place} (`sendall` does)"
        case Trouble.LAZY:
            return f"go through it at {place}"
        case Trouble.GAVE_UP:
            return f"look at the answer at {place}"
        case Trouble.STATUS:
            return f"stop at {place} where that isn't 0, and see why the process failed"
        case _:
            return f"look at {drop.fields[0].name} at {place}" if drop.fields else ""


def _read_span(value: object) -> Span:
    return tuple(map(whole, items_of(value)))


def span_of(node: ast.expr | ast.stmt) -> Span:
    """Return where a node begins and ends."""
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def _source(value: ast.expr) -> str:
    source = " ".join(ast.unparse(value).split())
    return source if len(source) <= _LONGEST else f"{source[: _LONGEST - 1]}…"


def _tree(source: str) -> ast.Module | None:
    with suppress(SyntaxError, ValueError, RecursionError):
        return module_of(source)
    return None
