"""The places at which a module goes through what may be a set, or asks for a hash, and its text with that fixed."""

import ast
from collections.abc import Collection, Iterator
from contextlib import suppress

from whet.evidence.experiments.changes import MOST_BYTES, parsed

_IN_ORDER = {"list", "tuple", "enumerate", "iter", "zip", "map", "filter", "min", "max", "reversed"}
_METHODS = {"join", "fromkeys", "extend"}
SCATTERED = "__import__('zlib').crc32(('{}' + repr(each)).encode())"
KEYS = ("repr(each)", "-int.from_bytes(repr(each).encode()[:48].ljust(48, bytes(1)), 'big')",
        *map(SCATTERED.format, "abcd"))  # fmt: skip
"""The orders that are tried, as the key of an `each`: ascending, descending, and some without a sense."""

# A CRC isn't good enough: of texts of one length, all of its numbers hang together.
_HASHED = "(lambda each: int.from_bytes(__import__('hashlib').sha256(({!r} + repr(each)).encode()).digest()[:7], 'big'))"
_ORDERED = "(lambda some: sorted(some, key=lambda each: {}) if isinstance(some, (set, frozenset)) else some)"


def iterations(source: str) -> tuple[ast.expr, ...]:
    """Return the expressions through which a module goes in their own order, and its calls of `hash`.

    None if it can't be read.
    """
    tree = parsed(source)
    return () if tree is None else tuple(_iterated(tree))


def _iterated(tree: ast.AST) -> Iterator[ast.expr]:
    for node in _outside_of_texts(tree):
        match node:
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated, is_async=0):
                found = [iterated]
            case ast.Starred(value=unpacked, ctx=ast.Load()):
                found = [unpacked]
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _IN_ORDER:
                found = arguments
            case ast.Call() if is_hash(node):
                found = [node]
            case ast.Call(func=ast.Attribute(attr=name), args=arguments) if name in _METHODS:
                found = arguments
            case _:
                found = []
        for each in found:
            if isinstance(
                each,
                ast.Name
                | ast.Attribute
                | ast.Call
                | ast.BinOp
                | ast.Set
                | ast.SetComp
                | ast.Subscript,
            ):
                yield each


def is_hash(node: ast.AST) -> bool:
    """Whether a node asks for the hash of something."""
    match node:
        case ast.Call(func=ast.Name(id="hash"), args=[_], keywords=[]):
            return True
        case _:
            return False


def _outside_of_texts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what isn't in an f-string, in which not every expression can be written."""
    yield tree
    for each in ast.iter_child_nodes(tree):
        if not isinstance(each, ast.JoinedStr):
            yield from _outside_of_texts(each)


def text_in_order(source: str, nodes: Collection[ast.expr], key: str) -> str:
    """Return a module's text with what is a set at some places put in an order, and a hash made of a text alone.

    Empty: it can't be written.

    Args:
        source: the module's text.
        nodes: the places, of its `iterations`.
        key: one of `KEYS`.
    """
    tree = parsed(source)
    if tree is None:
        return ""
    editor = _Editor({_place(each) for each in nodes}, key)
    with suppress(ValueError, RecursionError):
        text = ast.unparse(editor.visit(tree))
        return text if len(text.encode()) < MOST_BYTES else ""
    return ""


class _Editor(ast.NodeTransformer):
    def __init__(self, places: Collection[tuple[object, ...]], key: str) -> None:
        self._places = places
        self._ordered, self._hashed = _ORDERED.format(key), _HASHED.format(key)

    def visit(self, node: ast.AST) -> ast.AST:
        is_wanted = isinstance(node, ast.expr) and _place(node) in self._places
        inner: ast.AST = self.generic_visit(node)
        if not is_wanted or not isinstance(inner, ast.expr):
            return inner
        made = self._hashed if is_hash(node) else self._ordered
        function = ast.parse(made, mode="eval").body
        arguments = inner.args if isinstance(inner, ast.Call) and is_hash(node) else [inner]
        return ast.Call(func=function, args=arguments, keywords=[])


def _place(node: ast.expr) -> tuple[object, ...]:
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
