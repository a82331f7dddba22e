"""What is known of a module's text without its syntax tree, and its code with hooks.

A tree has two hundred objects for each kilobyte of text: kept for each module of a large package,
they make every collection of garbage, and every frozen copy, slower than the program itself is.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import marshal

from ..hiding.nodes import blocks, walk, walk_statements
from ..hiding.typed import cast
from .prefix_check import FUNCTIONS, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Protocol, Union

    from .prefix_check import Key

    Names = tuple[str, ...]
    # changes a tree; and a mark: what decides how, beside the text; empty: that isn't known
    Rewrite = tuple[Callable[[ast.Module, bytes], None], bytes]
    # flags of the compiler, `has_last_words`, `names_of_functions`, and the code with hooks
    Facts = tuple[int, bool, dict[Key, Union[Names, None]], CodeType]

    class Store(Protocol):
        """Keeps bytes by the text of a module, from one run to the next."""

        def load(self, source: bytes) -> bytes:
            """Return what is kept for a text; empty: nothing is."""
            ...

        def save(self, source: bytes, data: bytes) -> None:
            """Keep something for a text, if that can be done."""
            ...
else:
    from ..hiding import nodes as ast


_CLEAN = b"\0clean\0"
"""Before a text, where what is kept has no hooks but in inner functions: no source begins so."""

FORM = 4
"""Of what is kept. Hooks that look otherwise, or other facts, get another number."""


def names_of_functions(tree: ast.Module) -> dict[Key, Names | None]:
    """Return where the definition of each function has put it: the names of the classes around it, and its own.

    Returns:
        by key: None, two functions share it; no names: it is inside of another function.
    """
    found: dict[Key, Names | None] = {}
    for node, names in _functions(tree, ()):
        key = key_of(node)
        found[key] = None if key in found else names
    return found


def _functions(node: ast.AST, around: Names | None) -> Iterator[tuple[ast.FunctionDef, Names]]:
    """Yield the functions below a node.

    Args:
        node: a module, or a statement.
        around: the names of the classes around; None: a function is.
    """
    for block in blocks(node).values():
        for each in block:
            if isinstance(each, FUNCTIONS):
                function = cast("ast.FunctionDef", each)
                yield function, () if around is None else (*around, function.name)
                yield from _functions(each, None)
            elif isinstance(each, ast.ClassDef):
                yield from _functions(each, None if around is None else (*around, each.name))
            else:
                yield from _functions(each, around)


_LAST_WORDS = (b"__del__", b"async", b"weakref")
"""Also a coroutine that nobody awaits, a task that is pending and a weak reference may be heard."""


def has_last_words(text: bytes, tree: ast.Module) -> bool:
    """Whether objects of a module may do something when the interpreter is taken apart."""
    if any(word in text for word in _LAST_WORDS):
        return True
    return b"yield" in text and any(
        isinstance(node, (ast.Try, ast.With)) and any(map(_is_yield, walk(node)))
        for node in walk_statements(tree)
    )


def _is_yield(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def load_facts(store: Store, text: bytes) -> Facts | None:
    """Return what is kept of a text; None: nothing that can be read is."""
    facts = _load(store, text)
    return cast("Facts", tuple(facts)) if facts else None


def save_facts(store: Store, text: bytes, facts: Facts) -> None:
    """Keep what is known of a text for the next run."""
    _save(store, text, facts)


def load_clean(store: Store, text: bytes) -> CodeType | None:
    """Return the code with hooks in inner functions alone; None: none is kept."""
    found = _load(store, _CLEAN + text)
    return cast("CodeType", found[0]) if found else None


def save_clean(store: Store, text: bytes, code: CodeType) -> None:
    """Keep the code with hooks in inner functions alone."""
    _save(store, _CLEAN + text, (code,))


def _load(store: Store, text: bytes) -> list[object]:
    data = store.load(text)
    try:
        form, *parts = marshal.loads(data) if data else (0,)
    except Exception:  # noqa: BLE001 - spoilt by a crash of the machine
        return []
    return parts if form == FORM else []


def _save(store: Store, text: bytes, parts: Union[Facts, tuple[CodeType]]) -> None:
    store.save(text, marshal.dumps((FORM, *parts)))


def data_of(code: CodeType) -> bytes:
    """Return a code as bytes, which no collection of garbage goes through."""
    return marshal.dumps(code)


def code_of(data: bytes) -> CodeType | None:
    """Return the code that `data_of` made bytes of; None: there are none."""
    return cast("CodeType", marshal.loads(data)) if data else None
