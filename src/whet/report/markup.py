"""Text of programs as HTML: coloured, folded where it is long, and never markup itself."""

import re
from collections.abc import Iterable, Iterator
from itertools import starmap

from markupsafe import Markup, escape

from whet.core.text.shown_text import visible
from whet.report.answer import Answer
from whet.report.wording import unbroken

_MOST_COLOURED = 50_000
"""Characters; a longer text gets a single colour."""
_FOLDED_LINES = 30
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
"""Code in a sentence."""
_CLASSES = (
    ("Comment", "c"), ("String", "s"), ("Number", "n"), ("Keyword", "k"), ("Decorator", "f"),
    ("Function", "f"), ("Class", "f"), ("Builtin", "b"),
)  # fmt: skip
_SIDES = {"-": "gone", "+": "new", "@": "hunk"}


def prose(text: str) -> Markup:
    """Return a sentence on one line; what is in backticks as code."""
    parts = CODE.split(unbroken(text))
    rendered = (
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
    return Markup().join(rendered)


def source(answer: Answer) -> Markup:
    """Return the source in the box: each line with its number, the one that matters marked."""
    if answer.source is None:
        return Markup()
    lines = [visible(text) for _, text, _ in answer.source_lines]
    rows = [
        Markup('<span class="row{}"><span class="no">{}</span><span class="src">{}</span></span>')
        .format(" it" if is_it else "", number, line_text)
        for (number, _, is_it), line_text in zip(
            answer.source_lines, _coloured(lines, answer.source.path), strict=True
        )
    ]  # fmt: skip
    return Markup("<pre>{}</pre>").format(Markup().join(rows))


def diff(text: str) -> Markup:
    """Return a diff: what goes, what comes and where, each in its colour."""
    return _folded([_diff_line(line) for line in visible(text).rstrip("\n").split("\n")])


def block(text: str) -> Markup:
    """Return what a program said."""
    return _folded([escape(line) for line in visible(text).rstrip("\n").split("\n")])


def _folded(lines: list[Markup]) -> Markup:
    """Return lines as they stand; many of them under a line that opens them."""
    whole = Markup("<pre>{}</pre>").format(Markup("\n").join(lines))
    if len(lines) <= _FOLDED_LINES:
        return whole
    return Markup("<details><summary>{} lines</summary>{}</details>").format(len(lines), whole)


def linked(numbers: Iterable[int], known_numbers: frozenset[int]) -> Markup:
    """Return numbers of trials, each a link to its row if it has one."""
    links = [
        Markup('<a href="#trial-{0}">{0}</a>').format(number)
        if number in known_numbers
        else str(number)
        for number in sorted(set(numbers))
    ]
    word = "trial" if len(links) == 1 else "trials"
    return Markup("{} {}").format(word, Markup(", ").join(links)) if links else Markup()


def _diff_line(line: str) -> Markup:
    is_name = line.startswith(("--- ", "+++ ", "diff "))
    return _word("hunk" if is_name else _SIDES.get(line[:1], ""), line)


def _coloured(lines: list[str], path: str) -> list[Markup]:
    """Return lines of a source with the words of its language in colours."""
    rows: list[list[tuple[str, str]]] = [[]]
    if sum(map(len, lines)) <= _MOST_COLOURED:
        for kind, text in _words("".join(f"{line}\n" for line in lines), path):
            first, *others = text.split("\n")
            rows[-1].append((kind, first))
            rows += [[(kind, other)] for other in others]
    *rows, _ = rows  # what follows the last line end
    if ["".join(part for _, part in row) for row in rows] != lines:
        rows = [[("", line)] for line in lines]
    return [Markup().join(starmap(_word, row)) for row in rows]


def _word(kind: str, text: str) -> Markup:
    return Markup('<span class="{}">{}</span>').format(kind, text) if kind else escape(text)


def _words(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Return each word of a text with its colour; without a language known, none has one."""
    from rich.syntax import Syntax

    lexer = Syntax("", Syntax.guess_lexer(path), tab_size=0).lexer
    if lexer is None:
        yield "", text
        return
    for kind, part in lexer.get_tokens(text):
        words = str(kind).split(".")  # such as `Token.Literal.String.Doc`
        yield next((name for word, name in _CLASSES if word in words), ""), part
