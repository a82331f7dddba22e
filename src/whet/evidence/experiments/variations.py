"""The one-token changes of the lines on the path of a bad value, most likely first."""

import ast
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import takewhile

from whet.core.text.literal import literal_in
from whet.core.value_class import value_class
from whet.evidence.experiments.changes import MOST_BYTES, parsed
from whet.evidence.experiments.single_changes import (
    KindOf,
    SingleChange,
    Vocabulary,
    changes_of,
)
from whet.evidence.experiments.statement_changes import statement_changes_of

_NEVER = (ast.Import, ast.ImportFrom, ast.Assert, ast.Global, ast.Nonlocal)
_OUTSIDE = {
    "open", "mkdir", "rmdir", "unlink", "remove", "rmtree", "rename", "replace_file", "chdir", "putenv",
    "unsetenv", "umask", "chmod", "chown", "kill", "system", "run", "Popen", "check_call",
    "check_output", "call", "write_text", "write_bytes", "connect", "exit", "_exit", "touch",
    "symlink_to", "move", "copyfile", "copytree", "execute", "executemany", "sleep",
}  # fmt: skip
"""What acts on the world outside of the program: never left out, never given other words."""
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVING = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_OFFSET = re.compile(r" [+-] 1$")
_ONE_MORE = re.compile(r" [+-] 1(?=[)\]:,]|$)")
_NUMBER = re.compile(r"[(]?-?[0-9.e]+[)]?")
_SHOWN = 70


@value_class(kw_only=True)
class Variation:
    """A module with one thing changed.

    Attributes:
        line: the line of the change.
        old, new: the source there, before and after.
        text: the whole text of the changed module.
        rank: how seldom this kind is the slip, from 0.
        more_lines: how many lines the module has gained.
    """

    line: int
    old: str
    new: str
    text: str
    rank: int
    more_lines: int = 0

    @property
    def is_offset(self) -> bool:
        """Whether it only adds to a number, which hides a wrong one made anywhere."""
        return bool(_OFFSET.search(self.new)) or bool(_NUMBER.fullmatch(self.new))

    @property
    def order(self) -> tuple[int, bool]:
        """Its place among others: one more or less, the end of a range too, comes last of its rank."""
        is_one = self.old in _without_one(self.new) or self.new in _without_one(self.old)
        return self.rank, self.is_offset or is_one


def _without_one(text: str) -> list[str]:
    """Return a text without each `+ 1` or `- 1` in it."""
    ones = _ONE_MORE.finditer(text)
    return [text[: each.start()] + text[each.end() :] for each in ones]


@value_class
class _Text:
    """A module's text with the offset of each of its lines, in bytes."""

    content: bytes
    starts: tuple[int, ...]

    @classmethod
    def of(cls, source: str) -> "_Text":
        content, starts = source.encode(), [0]
        for line in content.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return cls(content, tuple(starts))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        lines = [each.lineno for each in getattr(node, "decorator_list", [])]
        first = min([node.lineno, *lines])
        begin = self.starts[first - 1] + (node.col_offset if first == node.lineno else 0)
        if first != node.lineno:
            begin += node.col_offset
        return begin, self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)


def variations_of(
    source: str,
    lines: Sequence[int],
    fixed: AbstractSet[int],
    kind_of: KindOf,
    beside: Sequence[str] = (),
) -> Iterator[Variation]:
    """Yield the changes of lines of a module, in the order of the lines.

    Args:
        source: the module's text.
        lines: those that may be wrong.
        fixed: those that stay: they decide whether the failing line is reached at all.
        kind_of: tells the type that something on a line had.
        beside: the texts of the program's other modules.
    """
    tree = parsed(source)
    if tree is None:
        return
    others = [each for each in map(parsed, beside) if each is not None]
    text, words = _Text.of(source), Vocabulary.of(tree, kind_of, others)
    numbers = set(lines)
    variations: dict[int, list[Variation]] = {}
    texts = {source}
    for node, around in _nodes(tree, ()):
        line = getattr(node, "lineno", 0)
        if line not in numbers or line in fixed or _is_fixed(node, around):
            continue
        changes: Iterator[SingleChange] = iter(())
        if isinstance(node, ast.expr):
            changes = changes_of(node, around, words)
        elif isinstance(node, ast.stmt):
            changes = statement_changes_of(node, around)
        for change in changes:
            last = change.until
            if last is not None and (last.lineno in fixed or _is_fixed(last, around)):
                continue
            variation = _changed(text, change)
            if variation is not None and variation.text not in texts:
                texts.add(variation.text)
                variations.setdefault(line, []).append(variation)
    for line in dict.fromkeys(lines):
        yield from variations.get(line, ())


def deciding_lines(source: str, active: AbstractSet[int]) -> set[int]:
    """Return the lines that decide whether the lines of active calls are reached.

    Those are the heads of what is around them, and the tests in the same function that leave it,
    or leave a loop of it: with one of them changed a check may just not be made.
    """
    tree = parsed(source) or ast.Module([], [])
    numbers: set[int] = set()
    for node, around in _nodes(tree, ()):
        if not isinstance(node, ast.stmt):
            continue
        inside = {each.lineno for each in ast.walk(node) if isinstance(each, ast.stmt)}
        if isinstance(node, _COMPOUND) and inside & active:
            numbers |= set(range(node.lineno, _head_end(node) + 1))
        if not isinstance(node, ast.If) or not any(isinstance(e, _LEAVING) for e in ast.walk(node)):
            continue
        own = next((each for each in reversed(around) if isinstance(each, _FUNCTIONS)), tree)
        if any(isinstance(each, ast.stmt) and each.lineno in active for each in ast.walk(own)):
            numbers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return numbers


def _head_end(node: ast.stmt) -> int:
    body: list[ast.stmt] = getattr(node, "body", [])
    return max(node.lineno, body[0].lineno - 1) if body else node.lineno


def _nodes(
    node: ast.AST, around: tuple[ast.AST, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    for each in ast.iter_child_nodes(node):
        yield each, (*around, node)
        if not isinstance(each, ast.JoinedStr):  # before Python 3.12 places in it are wrong
            yield from _nodes(each, (*around, node))


def _is_fixed(node: ast.AST, around: Sequence[ast.AST]) -> bool:
    """Whether a node is never changed: what it does reaches outside of the program, or is a check."""
    for each in (*around, node):
        if isinstance(each, _NEVER) or _reaches_outside(each):
            return True
    return (
        isinstance(node, ast.stmt)
        and not isinstance(node, (*_FUNCTIONS, *_COMPOUND))
        and any(map(_reaches_outside, ast.walk(node)))
    )


def _reaches_outside(node: ast.AST) -> bool:
    name_of = node.func if isinstance(node, ast.Call) else None
    return getattr(name_of, "attr", getattr(name_of, "id", "")) in _OUTSIDE


def _changed(text: _Text, change: SingleChange) -> Variation | None:
    node = change.node
    begin, end = text.span(node)[0], text.span(change.until or node)[1]
    old = text.content[begin:end].decode("utf-8", "replace")
    if isinstance(node, ast.expr):
        if _dump(old) != ast.dump(node):
            return None  # a place in a text, or a line that continues
        new = change.instead
        replacement = (
            new if node.col_offset and text.content[begin - 1 : begin] == b"(" else f"({new})"
        )
    else:
        new = change.instead
        replacement = new.replace("\n", "\n" + " " * node.col_offset)
    content = text.content[:begin] + replacement.encode() + text.content[end:]
    if len(content) >= MOST_BYTES:
        return None
    decoded_text = content.decode("utf-8", "replace")
    if parsed(decoded_text) is None:
        return None
    shown_old, shown_new = old, new
    if isinstance(node, ast.stmt):
        both = [node] if change.until is None else [node, change.until]
        shown_old, shown_new = _first_difference("\n".join(map(ast.unparse, both)), new)
    shown_old, shown_new = _around_the_difference(_one_line(shown_old), _one_line(shown_new))
    return Variation(
        line=node.lineno, old=shown_old, new=shown_new, text=decoded_text, rank=change.rank,
        more_lines=replacement.count("\n") - old.count("\n"),
    )  # fmt: skip


def _first_difference(old: str, new: str) -> tuple[str, str]:
    """Return the line that was changed, moved or put in, of statements of many lines."""
    before, after = ([line.strip() for line in text.splitlines()] for text in (old, new))
    if before == after[::-1]:
        return "; ".join(before), "; ".join(after)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    )
    if after[:same] + after[same + 1 :] == before:  # one more line
        if same < len(before):
            return before[same], f"{after[same]}; {before[same]}"
        is_outside = not new.splitlines()[-1].startswith(" ")
        return before[-1], f"{before[-1]}; {after[-1]}{' after the loop' if is_outside else ''}"
    if same < min(len(before), len(after)):
        return before[same], after[same]
    is_moved = len(before) == len(after)
    return before[-1], f"{after[-1]} after the loop" if is_moved else after[-1]


def _dump(text: str) -> str:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.dump(ast.parse(f"({text})", mode="eval").body)
    return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _around_the_difference(old: str, new: str) -> tuple[str, str]:
    """Return two texts, cut to what differs if they are long.

    The text of a string may be written in several ways: then its characters are compared.
    """
    if max(len(old), len(new)) > _SHOWN:
        old, new = _characters(old, new)
    begin = max(0, _alike(old, new) - _SHOWN // 3)
    if max(len(old), len(new)) <= _SHOWN:
        begin = 0
    return _cut(old, begin), _cut(new, begin)


def _characters(old: str, new: str) -> tuple[str, str]:
    """Return two string literals as their characters, each in quotes; other texts as they are."""
    try:
        values = [literal_in(each) for each in (old, new)]
    except ValueError:
        return old, new
    if not all(isinstance(each, str) and each.isprintable() for each in values):
        return old, new
    return f"'{values[0]}'", f"'{values[1]}'"


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _cut(text: str, begin: int) -> str:
    text = text if begin == 0 else f"…{text[begin:]}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
