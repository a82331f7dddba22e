"""Statements of a Python file that were added lately, put into an older text of that file.

Only what fails is taken over: the statements on the way to the failure that the older text lacks,
and the names that they need. What else was added with them may be the bug itself.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from whet.core.value_class import value_class

MARKED_EXIT = 86
"""The exit code of a program that reaches the statement, in a text that is marked."""

_MARK = f'__import__("os")._exit({MARKED_EXIT})'
_MOST_LINES = 4_000
"""Texts that differ in more lines than this aren't compared: it takes too long."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@value_class(kw_only=True)
class Piece:
    """Lines that were added together.

    Attributes:
        first: number of the first line, from 1.
        last: number of the last line.
        check: the lines among them that are run where the older text is checked; (0, 0): none.
    """

    first: int
    last: int
    check: tuple[int, int] = (0, 0)


@value_class(kw_only=True)
class GraftedLines:
    """Statements of a text, to be put into older ones.

    Attributes:
        source: the text that has them.
        pieces: the statements, in their order.
    """

    source: str
    pieces: tuple[Piece, ...]

    def into(self, older: str, *, is_marked: bool = False) -> str | None:
        """Return an older text with the statements; None: they have no place in it.

        Args:
            older: the older text; one that has the statements stays as it is.
            is_marked: end the program where it reaches the checked statement, with `MARKED_EXIT`.
        """
        lines, old = _lines(self.source), _lines(older)
        matches = alignment(lines, old)
        taken = {number for piece in self.pieces for number in range(piece.first, piece.last + 1)}
        if matches is None:
            return None
        missing = [each for each in self.pieces if not _is_there(each, matches)]
        if not missing:
            return self._marked_text(older, matches) if is_marked else older
        has_check = any(each.check[0] for each in self.pieces)
        if is_marked and has_check and not any(each.check[0] for each in missing):
            return None
        images = _images(matches, taken, len(lines), len(old))
        made, shift = list(old), 0
        for piece in missing:
            added = self._text_of(piece, lines, is_marked=is_marked)
            at = self._place(piece, images, made, shift, added)
            if at is None:
                return None
            made[at:at] = added
            shift += len(added)
        return "\n".join(made)

    def _place(
        self,
        piece: Piece,
        images: Mapping[int, int],
        text: Sequence[str],
        shift: int,
        added: Sequence[str],
    ) -> int | None:
        """Return before which line of the text a piece belongs; None: no place is in its scope."""
        scope = _scope_at(self.source, piece.first)
        for place in _candidates(piece, images, _lines(self.source), text, shift):
            made = "\n".join([*text[:place], *added, *text[place:]])
            if scope is not None and _scope_at(made, place + 1) == scope:
                return place
        return None

    def _marked_text(self, older: str, matches: Mapping[int, int]) -> str:
        """Return a text that has all of them, with the mark in place of the checked statement."""
        lines = _lines(older)
        for piece in self.pieces:
            first, last = piece.check
            if first:
                lines[matches[first - 1] : matches[last - 1] + 1] = [
                    _mark_like(lines[matches[first - 1]])
                ]
        return "\n".join(lines)

    @staticmethod
    def _text_of(piece: Piece, lines: Sequence[str], *, is_marked: bool) -> list[str]:
        text = list(lines[piece.first - 1 : piece.last])
        first, last = piece.check
        if is_marked and first:
            start = first - piece.first
            text[start : last - piece.first + 1] = [_mark_like(text[start])]
        return text


def added_statements(
    source: str, before: str, lines_called: Sequence[int], failing: int = 0
) -> GraftedLines | None:
    """Return the statements on the way to a failure that an older text lacks; None: there are none.

    Args:
        source: the text that fails.
        before: the older text.
        lines_called: the lines of it in which the failure's stack calls the next function.
        failing: the line that fails; it has to be among the statements. 0: it is in another file.
    """
    lines = _lines(source)
    matches = alignment(lines, _lines(before))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if matches is None:
        return None
    added = frozenset(number + 1 for number in range(len(lines)) if number not in matches)
    pieces: dict[int, Piece] = {}
    for number in (*lines_called, failing):
        piece = _piece_at(tree, number, added)
        if piece is not None:
            pieces[piece.first] = piece if number == failing else replace(piece, check=(0, 0))
        elif number and number == failing:
            return None
    if not pieces:
        return None
    whole = [*pieces.values(), *_needed(tree, list(pieces.values()), added, _names_of(before))]
    whole.sort(key=lambda each: (each.first, -each.last))
    apart: list[Piece] = []
    for piece in whole:
        if not apart or piece.first > apart[-1].last:
            apart.append(piece)
        elif piece.check != (0, 0):
            apart[-1] = replace(apart[-1], check=piece.check)
    return GraftedLines(source=source, pieces=tuple(apart))


def changed_check(source: str, before: str, failing: int) -> frozenset[int]:
    """Return the lines of a check that an older text lacks or has otherwise; empty: it is none.

    What else it asks for is asked of values that may have been there before.

    Args:
        source: the text that fails.
        before: the older text.
        failing: the line that fails.
    """
    lines = _lines(source)
    matches = alignment(lines, _lines(before))
    try:
        path = _path_to(ast.parse(source), failing)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    if matches is None or not path:
        return frozenset()
    added = frozenset(number + 1 for number in range(len(lines)) if number not in matches)
    around = _condition_around(path)
    conditions: list[ast.stmt] = list(_left_before(path))
    conditions += [path[-1]] if isinstance(path[-1], ast.Assert) else []
    conditions += [] if around is None else [around]
    if not any(_is_new(each, added) for each in conditions):
        return frozenset()
    whole = [*conditions, *(path[-1:] if around is None else around.body)]
    return frozenset(number for each in whole for number in _header(each))


def alignment(new: Sequence[str], old: Sequence[str]) -> dict[int, int] | None:
    """Return which line of one text is which of another, from 0; None: they differ too much."""
    start = 0
    while start < min(len(new), len(old)) and new[start] == old[start]:
        start += 1
    end = 0
    while end < min(len(new), len(old)) - start and new[-1 - end] == old[-1 - end]:
        end += 1
    inner_new, inner_old = new[start : len(new) - end], old[start : len(old) - end]
    if len(inner_new) + len(inner_old) > _MOST_LINES:
        return None
    matches = {at: at for at in range(start)}
    matcher = SequenceMatcher(None, inner_new, inner_old, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            matches[start + block.a + step] = start + block.b + step
    for step in range(1, end + 1):
        matches[len(new) - step] = len(old) - step
    return matches


def _lines(text: str) -> list[str]:
    return text.split("\n")


def _mark_like(line: str) -> str:
    text = line.lstrip()
    mark = f"elif {_MARK}: pass" if text.startswith("elif ") else _MARK
    return line[: len(line) - len(text)] + mark


def _is_there(piece: Piece, matches: Mapping[int, int]) -> bool:
    return all(number - 1 in matches for number in range(piece.first, piece.last + 1))


def _images(
    matches: Mapping[int, int], taken: set[int], count: int, old_count: int
) -> dict[int, int]:
    """Return where the lines beside the pieces are in the older text; both ends are at its ends."""
    images = {new: old for new, old in matches.items() if new + 1 not in taken}
    return {**images, -1: -1, count: old_count}


def _candidates(
    piece: Piece, images: Mapping[int, int], lines: Sequence[str], text: Sequence[str], shift: int
) -> Iterator[int]:
    """Yield the places for a piece in a text, the most likely first."""
    after, before = piece.last, piece.first - 2
    while after not in images and after < len(lines) and not lines[after].strip():
        after += 1
    while before not in images and before >= 0 and not lines[before].strip():
        before -= 1
    if after in images:
        place = images[after] + shift
        while place > 0 and not text[place - 1].strip():
            place -= 1
        yield place
    if before in images:
        yield images[before] + 1 + shift
    if after not in images and before not in images:
        yield from _inside_a_block(piece, images, shift)


def _inside_a_block(piece: Piece, images: Mapping[int, int], shift: int) -> Iterator[int]:
    """Yield the place in a block that was written anew with as many lines."""
    start = max(each for each in images if each < piece.first - 1)
    end = min(each for each in images if each > piece.last - 1)
    size = piece.last - piece.first + 1
    if end - start - 1 - size == images[end] - images[start] - 1:
        yield images[start] + (piece.first - 1 - start) + shift


def _scope_at(text: str, number: int) -> tuple[str, ...] | None:
    """Return in which functions, classes and blocks a line is; None: the text doesn't parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    path = _path_to(tree, number)
    return tuple(
        getattr(each, "name", type(each).__name__) for each in path if _first(each) < number
    )


def _path_to(tree: ast.Module, number: int) -> list[ast.stmt]:
    """Return the statements that hold a line, the outermost first."""
    path: list[ast.stmt] = []
    node: ast.AST = tree
    while True:
        inner = next((each for each in _statements(node) if _holds(each, number)), None)
        if inner is None:
            return path
        path.append(inner)
        node = inner


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly in a node, those of handlers and cases too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.excepthandler, ast.match_case)):
            yield from _statements(child)


def _holds(statement: ast.stmt, number: int) -> bool:
    return _first(statement) <= number <= _last(statement)


def _first(statement: ast.stmt) -> int:
    decorators = statement.decorator_list if isinstance(statement, _SCOPES) else []
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _header(statement: ast.stmt) -> range:
    """Return the lines of a statement without those of the statements in it."""
    inner = [_first(each) for each in _statements(statement)]
    end = max(_first(statement), min(inner) - 1) if inner else _last(statement)
    return range(_first(statement), end + 1)


def _is_new(statement: ast.stmt, added: frozenset[int]) -> bool:
    return any(number in added for number in _header(statement))


def _piece_at(tree: ast.Module, number: int, added: frozenset[int]) -> Piece | None:
    """Return what was added around a line that fails; None: it is older."""
    path = _path_to(tree, number)
    if not path:
        return None
    at = len(path) - 1
    if not _is_new(path[at], added):
        # A condition that became stricter raises what it has always raised.
        around = _condition_around(path)
        if around is None or not _is_new(around, added):
            return None
        last = _last(around.body[-1])  # what else it does isn't put in a second time
        return Piece(first=_first(around), last=last, check=(_first(around), last))
    while at > 0 and not isinstance(path[at - 1], _SCOPES) and _is_new(path[at - 1], added):
        at -= 1
    check = path[at]
    while at > 0 and _is_new(path[at - 1], added):
        at -= 1
    return Piece(first=_first(path[at]), last=_last(path[at]), check=(_first(check), _last(check)))


def _condition_around(path: Sequence[ast.stmt]) -> ast.If | None:
    """Return the condition under which the last statement of a path raises; None: it has none."""
    *outer, last = path
    if outer and isinstance(last, ast.Raise) and isinstance(outer[-1], ast.If):
        return outer[-1] if last in outer[-1].body else None
    return None


def _left_before(path: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the conditions under which a block is left before the `raise` that ends a path."""
    *outer, last = path
    if not outer or not isinstance(last, ast.Raise):
        return
    for sibling in _statements(outer[-1]):
        if sibling is last:
            return
        if isinstance(sibling, ast.If) and not sibling.orelse:
            end = sibling.body[-1]
            # A `return` with a value belongs to a search, not to a check.
            if isinstance(end, ast.Continue) or (isinstance(end, ast.Return) and end.value is None):
                yield sibling


def _needed(
    tree: ast.Module, pieces: Sequence[Piece], added: frozenset[int], known: set[str]
) -> Iterator[Piece]:
    """Yield the added statements that bind names which the pieces use, and no older one binds.

    Args:
        tree: of the text.
        pieces: what uses them.
        added: the lines that were added.
        known: the names that the older text binds in its module.
    """
    scopes: list[ast.AST] = [tree]
    for piece in pieces:
        scopes += [each for each in _path_to(tree, piece.first) if isinstance(each, _SCOPES)]
    covered = {number for piece in pieces for number in range(piece.first, piece.last + 1)}
    wanted = _loaded(tree, covered)
    seen: set[int] = set()
    while wanted:
        name = wanted.pop()
        binding = _added_binding(scopes, name, added)
        is_known = name in known and binding in tree.body
        if binding is None or is_known or _first(binding) in seen | covered:
            continue
        seen.add(_first(binding))
        lines = range(_first(binding), _last(binding) + 1)
        wanted |= _loaded(tree, set(lines))
        yield Piece(first=lines[0], last=lines[-1])


def _added_binding(scopes: Iterable[ast.AST], name: str, added: frozenset[int]) -> ast.stmt | None:
    """Return the added statement that binds a name; None: there is none, or an older one too."""
    for scope in scopes:
        binding = [each for each in _own(scope) if name in _bound(each)]
        arguments = getattr(scope, "args", None)
        is_argument = arguments is not None and any(
            isinstance(each, ast.arg) and each.arg == name for each in ast.walk(arguments)
        )
        if is_argument:
            return None
        if binding:
            return binding[0] if all(_is_new(each, added) for each in binding) else None
    return None


def _own(scope: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, without those of the scopes in it."""
    for statement in _statements(scope):
        yield statement
        if not isinstance(statement, _SCOPES):
            yield from _own(statement)


def _names_of(text: str) -> set[str]:
    try:
        return {name for each in _own(ast.parse(text)) for name in _bound(each)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its scope, its blocks left out."""
    if isinstance(statement, _SCOPES):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(each.asname or each.name).partition(".")[0] for each in statement.names}
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt):
                continue
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                names.add(child.id)
            waiting.append(child)
    return names


def _loaded(tree: ast.Module, numbers: set[int]) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno in numbers
    }
