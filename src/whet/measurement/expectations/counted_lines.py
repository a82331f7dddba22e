"""A file's statements with what each took, and what its comments expected of them."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from whet.agent.site.whet_lines.numbering import numbered, sees_variables
from whet.core.value_class import value_class
from whet.measurement.expectations.comments import EACH, KEPT, RUNS, TOTAL, Comment, comments_in

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@value_class(kw_only=True)
class Count:
    """What was counted of a statement, in all processes.

    Attributes:
        runs: how often it began.
        seconds: the time of all runs, the calls in it included; of a recursion, of the outermost. If
            most of what was measured was the counting itself, the most that it can be.
        least_seconds: the least that it can be then.
        kept_bytes: by how much the resident memory grew while it ran.
    """

    runs: int = 0
    seconds: float = 0.0
    least_seconds: float = 0.0
    kept_bytes: int = 0

    @property
    def is_rough(self) -> bool:
        """Whether the time is known only to lie between two ends."""
        return self.least_seconds < self.seconds


@value_class(kw_only=True)
class CountedStatement:
    """A statement with what it took.

    Attributes:
        first: its first line.
        last: its last one; of a compound statement that of all of it.
        is_block: it is compound: `count` is that of its head.
        count: what was counted.
    """

    first: int
    last: int
    is_block: bool
    count: Count


@value_class(kw_only=True)
class CommentScore:
    """What a comment expected, with what came.

    Attributes:
        comment: what was expected.
        first: the first line of the statement that it is about.
        observed: the number, or the most that it can be; None: the statement never ran.
        least: the least that it can be.
        was_met: whether it came true; None: it never ran, or the counting hides it.
    """

    comment: Comment
    first: int
    observed: float | None
    least: float | None
    was_met: bool | None

    @property
    def ratio(self) -> float | None:
        """How many times the guess, or the bound that it passes, the number is at least."""
        if self.observed is None or self.least is None:
            return None
        of = self.comment.range
        return of.ratio(self.least if self.least > of.high else self.observed)


@value_class(kw_only=True)
class CountedLines:
    """A file with what its statements took.

    Attributes:
        statements: in the order of the file.
        scores: what its comments expected.
        misplaced: lines of comments below which no statement stands that is counted.
        unseen: functions that may look at their own variables, and whose lines aren't counted.
    """

    statements: tuple[CountedStatement, ...]
    scores: tuple[CommentScore, ...]
    misplaced: tuple[int, ...]
    unseen: tuple[str, ...]


def statement_count(source: str) -> int:
    """Return how many statements of a source are counted."""
    return len(numbered(ast.parse(source)))


def function_span(source: str, name: str) -> tuple[int, int]:
    """Return the first and the last line of a function's body, by its qualified name."""
    found = next(node for written, node in _functions(ast.parse(source), "") if written == name)
    return found.body[0].lineno, found.end_lineno or found.lineno


def _functions(
    node: ast.AST, within: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", "") if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else ""
        if isinstance(child, _FUNCTIONS):
            yield within + name, child
        yield from _functions(child, f"{within}{name}." if name else within)


def counted_lines(
    source: str, counts: Sequence[Count], name: str, span: tuple[int, int]
) -> CountedLines:
    """Put a file together with what was counted.

    Args:
        source: the file's.
        counts: of each statement, by its number.
        name: the file's, for the message.
        span: first and last line that were asked for.

    Raises:
        BadExpectation: if a comment can't be read.
    """
    tree = ast.parse(source)
    nodes = numbered(tree)
    of_node = {id(node): count for node, count in zip(nodes, counts, strict=True)}
    first, last = span
    asked = [node for node in nodes if first <= _first(node) <= last]
    unseen = [
        each
        for each in ast.walk(tree)
        if isinstance(each, _FUNCTIONS) and first <= each.lineno <= last and sees_variables(each)
    ]
    hidden = {
        id(node) for function in unseen for node in ast.walk(function) if node is not function
    }
    statements = [_statement(node, of_node[id(node)]) for node in asked if id(node) not in hidden]
    scores: list[CommentScore] = []
    misplaced: list[int] = []
    for comment in comments_in(source, name):
        node = _about(comment, nodes)
        is_asked = node is not None and (node in asked or _body_begins(node) == first)
        if node is None or id(node) in hidden:
            if first <= comment.line <= last:
                misplaced.append(comment.line)
        elif is_asked:
            scores.append(_score(comment, node, of_node))
    return CountedLines(
        statements=tuple(statements),
        scores=tuple(scores),
        misplaced=tuple(misplaced),
        unseen=tuple(each.name for each in unseen),
    )


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    first: int = min([node.lineno, *(each.lineno for each in decorators)])
    return first


def _body_begins(node: ast.stmt) -> int:
    """Return the line on which a function's body begins; 0: it is none."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.body[0].lineno
    return 0


def _statement(node: ast.stmt, count: Count) -> CountedStatement:
    is_block = bool(getattr(node, "body", None) or getattr(node, "cases", None))
    return CountedStatement(
        first=_first(node), last=node.end_lineno or node.lineno, is_block=is_block, count=count
    )


def _about(comment: Comment, nodes: Sequence[ast.stmt]) -> ast.stmt | None:
    """Return the statement that a comment is about; None: there is none that is counted."""
    if comment.stands_alone:
        later = [node for node in nodes if _first(node) > comment.line]
        return min(later, key=_first, default=None)
    around = [node for node in nodes if _first(node) <= comment.line <= (node.end_lineno or 0)]
    return max(around, key=_first, default=None)


def _score(comment: Comment, node: ast.stmt, counts: Mapping[int, Count]) -> CommentScore:
    whole, of = _whole(node, counts), comment.range
    most, least = (_observed(of.name, whole, each) for each in (whole.seconds, whole.least_seconds))
    met = None
    if most is not None and least is not None:
        ends = {of.holds(most), of.holds(least)}
        is_outside = least > of.high or most < of.low
        met = ends == {True} or (None if not is_outside else False)
    return CommentScore(
        comment=comment, first=_first(node), observed=most, least=least, was_met=met
    )


def _observed(name: str, count: Count, seconds: float) -> float | None:
    if name == RUNS:
        return count.runs
    if not count.runs:
        return None
    return {
        TOTAL: seconds,
        EACH: seconds / count.runs,
        KEPT: count.kept_bytes / count.runs,
    }[name]


def _whole(node: ast.stmt, counts: Mapping[int, Count]) -> Count:
    """Return what a statement took with all that stands in it; of a function, its calls."""
    inside = [counts[id(each)] for each in _in_frame(node) if id(each) in counts]
    if isinstance(node, _FUNCTIONS):
        runs = inside[0].runs if inside else 0
    else:
        runs, inside = counts[id(node)].runs, [counts[id(node)], *inside]
    return Count(
        runs=runs,
        seconds=sum(each.seconds for each in inside),
        least_seconds=sum(each.least_seconds for each in inside),
        kept_bytes=sum(each.kept_bytes for each in inside),
    )


def _in_frame(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements in one that run in the same frame, or, of a function, in its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                continue
        if not isinstance(child, ast.expr):
            yield from _in_frame(child)


def added(counts: Sequence[Sequence[Count]]) -> list[Count]:
    """Return the counts of several processes together."""
    total: list[Count] = []
    for of_statement in zip(*counts, strict=True):
        first = of_statement[0]
        for each in of_statement[1:]:
            first = replace(
                first,
                runs=first.runs + each.runs,
                seconds=first.seconds + each.seconds,
                least_seconds=first.least_seconds + each.least_seconds,
                kept_bytes=first.kept_bytes + each.kept_bytes,
            )
        total.append(first)
    return total
