"""The languages whose grammars whet knows, and how to tell one's source from prose.

A grammar is a Python package of its own (`tree-sitter-c`), imported when a payload may be of its
language. One that isn't installed claims nothing.
"""

import importlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import PurePosixPath
from typing import Any, Protocol, cast

from whet.core.value_class import value_class


class Cursor(Protocol):
    """The part of a walk through a syntax tree that whet uses.

    Attributes:
        node: where it is.
        goto_first_child: go there; False if there is none.
        goto_next_sibling: go there; False if there is none.
        goto_parent: go there; False if there is none.
    """

    node: "SyntaxNode"
    goto_first_child: Callable[[], bool]
    goto_next_sibling: Callable[[], bool]
    goto_parent: Callable[[], bool]


class SyntaxNode(Protocol):
    """The part of a node of tree-sitter that whet uses.

    Attributes:
        type: what the grammar calls it.
        start_byte: where it starts.
        end_byte: where it ends.
        is_named: whether it is more than a keyword or sign.
        is_error: whether it did not parse.
        is_missing: whether it was put in so that the rest parses.
        has_error: whether it or anything in it is one of these.
        walk: starts a walk at it.
    """

    type: str
    start_byte: int
    end_byte: int
    is_named: bool
    is_error: bool
    is_missing: bool
    has_error: bool
    walk: Callable[[], Cursor]


Parse = Callable[[bytes], SyntaxNode]
"""Returns the root of a syntax tree, with errors for the parts that don't parse."""


@value_class(kw_only=True)
class Language:
    """A language.

    Attributes:
        name: one word.
        suffixes: those of its files.
        grammar: the module that has its grammar, without ``tree_sitter_``; empty: as the name.
        function: of that module: it returns the grammar.
        signs: of a payload without a file name: a line that no other language has; None: such a
            payload is never taken for this language.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: str = ""
    function: str = "language"
    signs: re.Pattern[bytes] | None = None


def _line(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"^[ \t]*(?:" + pattern + rb")", re.MULTILINE)


LANGUAGES = (
    Language(
        name="c",
        suffixes=(".c", ".h", ".i"),
        signs=_line(rb"#[ \t]*include[ \t]*[<\"]|int main\([^)]*\)\s*\{|typedef struct\b"),
    ),
    Language(
        name="cpp",
        suffixes=(".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ii", ".cu", ".cuh"),
        signs=_line(rb"using namespace \w+;|template ?<|#include <\w+>|namespace \w+ \{"),
    ),
    Language(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts"),
        function="language_typescript",
        signs=_line(rb"(?:export )?interface \w+ \{|(?:export )?type \w+ = |import type "),
    ),
    Language(name="tsx", suffixes=(".tsx",), grammar="typescript", function="language_tsx"),
    Language(
        name="javascript",
        suffixes=(".js", ".mjs", ".cjs", ".jsx"),
        signs=_line(
            rb"(?:export |async )*function ?\*? ?\w*\(|(?:const|let|var) [\w{\[, }\]]+ = "
            rb"|import .* from ['\"]|module\.exports\b|['\"]use strict['\"]"
        ),
    ),
    Language(
        name="rust",
        suffixes=(".rs",),
        signs=_line(rb"(?:pub )?fn \w+[(<]|impl\b.*\{|use \w+(?:::\w+)+;|#!\[\w+"),
    ),
    Language(name="go", suffixes=(".go",), signs=_line(rb"package \w+[ \t]*\r?$|func \w+\(.*\{")),
    Language(
        name="java",
        suffixes=(".java",),
        signs=_line(rb"import [\w.]+(?:\.\*)?;|(?:public |final |abstract )+class \w+"),
    ),
    Language(
        name="csharp",
        suffixes=(".cs",),
        grammar="c_sharp",
        signs=_line(rb"using [\w.]+;|namespace [\w.]+\s*[;{]"),
    ),
    Language(
        name="ruby",
        suffixes=(".rb", ".rake", ".gemspec"),
        signs=_line(rb"require ['\"]|attr_(?:reader|accessor) :|def \w+[?!]?(?:\(.*\))?[ \t]*\r?$"),
    ),
    Language(
        name="bash", suffixes=(".sh", ".bash"), signs=re.compile(rb"\A#!.*\b(?:ba|da|k|z)?sh\b")
    ),
    Language(
        name="php",
        suffixes=(".php",),
        function="language_php",
        signs=re.compile(rb"\A\s*<\?php\b"),
    ),
    Language(name="scala", suffixes=(".scala", ".sc")),
    Language(name="kotlin", suffixes=(".kt", ".kts")),
    Language(name="swift", suffixes=(".swift",)),
    Language(name="lua", suffixes=(".lua",)),
    Language(name="julia", suffixes=(".jl",)),
    Language(name="haskell", suffixes=(".hs",)),
    Language(name="zig", suffixes=(".zig",)),
    Language(name="css", suffixes=(".css",)),
)
"""Python is told apart by its own parser. The first whose signs fit a payload without a name
may claim it."""

PYTHON = Language(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    signs=_line(
        rb"(?:async )?def \w+\(.*|class \w+[(:].*|import [\w.]+|from [\w.]+ import .*|@[\w.]+"
    ),
)

LOOKED_AT = 1 << 20
"""A program shows a sign of its language in this many bytes; a log can be a thousand times as long."""

SUFFIXES = {suffix: each for each in (PYTHON, *LANGUAGES) for suffix in each.suffixes}


@cache
def parser_of(grammar: str, function: str = "language") -> Parse | None:
    """Return the parser of a grammar; None if it isn't installed.

    Args:
        grammar: its module, without ``tree_sitter_``.
        function: what returns it there.
    """
    try:
        binding = cast("Any", importlib.import_module("tree_sitter"))
        module = cast("Any", importlib.import_module(f"tree_sitter_{grammar}"))
        parser = binding.Parser(binding.Language(getattr(module, function)()))
    except (ImportError, AttributeError, ValueError):  # ValueError: of another ABI
        return None

    def parse(payload: bytes) -> SyntaxNode:
        return cast("SyntaxNode", parser.parse(payload).root_node)

    return parse


def parser_for(language: Language) -> Parse | None:
    """Return the parser of a language; None if its grammar isn't installed."""
    return parser_of(language.grammar or language.name, language.function)


def is_source(language: Language, payload: bytes, name: str) -> bool:
    """Return whether a payload is source code of a language.

    A file name that some language has decides. Without one it must bear a sign of the language
    and parse without an error, so that prose is never taken for a program.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix] is language and parser_for(language) is not None
    if language.signs is None or not language.signs.search(payload, 0, LOOKED_AT):
        return False
    parse = parser_for(language)
    return parse is not None and not parse(payload).has_error
