"""The names in a data file that are no key of a program, though ones like them are: one may be a slip."""

import ast
import re
from collections.abc import Iterator, Sequence

from whet.core.value_class import value_class
from whet.evidence.clues.records_in import SETTINGS
from whet.evidence.experiments.changes import parsed
from whet.evidence.experiments.vocabulary import spelt_alike

_OF_SETTINGS = (*SETTINGS, ".env", ".yaml", ".yml", ".properties")
_TABLES = (".csv", ".tsv")
_SETTING = re.compile(r"^[ \t]*(?:export[ \t]+|-[ \t]+)?[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*[=:]", re.MULTILINE)  # fmt: skip
_JSON = re.compile(r"\"([A-Za-z_][\w-]*)\"[ \t]*:")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_MOST_NAMES, _LEAST = 200, 3


@value_class
class UnreadKey:
    """A name in a data file.

    Attributes:
        line: where it stands first.
        name: the name.
        instead: one that the program has.
        text: the file with that in its place.
        is_misspelt: they differ in a letter or two, and not in a part, which may be meant.
    """

    line: int
    name: str
    instead: str
    text: str
    is_misspelt: bool


def unread_keys(name: str, text: str, sources: Sequence[str]) -> Iterator[UnreadKey]:
    """Yield the names of a file that are no key of the program, each as one that is.

    Args:
        name: the file's.
        text: what it says.
        sources: the texts of the program's modules.
    """
    words = {each for source in sources for each in _keys_of(source)}
    folded = {_folded(each) for each in words}
    ends = tuple({_folded(end) for source in sources for end in _ends_of(source)})
    keys = _keys_in(name.lower(), text)
    own = {_folded(each) for each in keys}
    others = sorted(each for each in words if _folded(each) not in own)
    for key, (line, span) in list(keys.items())[:_MOST_NAMES]:
        is_made = _folded(key).startswith(ends) or _folded(key).endswith(ends)
        if len(key) < _LEAST or _folded(key) in folded or is_made:
            continue
        parts = _more_or_less(key, others)
        for instead in dict.fromkeys((*parts, *spelt_alike(key, others))):
            changed = text[: span[0]] + instead + text[span[1] :]
            if name.lower().endswith((".json", ".jsonl", ".ndjson")):
                changed = text.replace(f'"{key}"', f'"{instead}"')
            yield UnreadKey(line, key, instead, changed, instead not in parts)


def _keys_of(source: str) -> Iterator[str]:
    """Yield what a module may look up: its texts of one word, attributes, fields, and what `**` may give."""
    tree = parsed(source)
    nodes = [] if tree is None else list(ast.walk(tree))
    takes_any = any(isinstance(each, ast.keyword) and each.arg is None for each in nodes)
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if _NAME.fullmatch(text):
                yield text
            case ast.Attribute(attr=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.arg(arg=name) if takes_any:
                yield name
            case _:
                pass


def _ends_of(source: str) -> Iterator[str]:
    """Yield the texts in f-strings, of which a module may make a key."""
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        for each in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(each, ast.Constant) and len(str(each.value)) >= _LEAST:
                yield str(each.value)


def _keys_in(name: str, text: str) -> dict[str, tuple[int, tuple[int, int]]]:
    """Return the names, each with its first line and its place in the text."""
    if name.endswith(_OF_SETTINGS):
        found = [(each[1], each.span(1)) for each in _SETTING.finditer(text)]
    elif name.endswith((".json", ".jsonl", ".ndjson")):
        found = [(each[1], each.span(1)) for each in _JSON.finditer(text)]
    elif name.endswith(_TABLES):
        head = text.partition("\n")[0]
        found = [(each[0], each.span()) for each in _NAME.finditer(head)]
    else:
        found = []
    keys: dict[str, tuple[int, tuple[int, int]]] = {}
    for key, span in found:
        keys.setdefault(key, (text.count("\n", 0, span[0]) + 1, span))
    return keys


def _folded(word: str) -> str:
    return word.replace("-", "_").casefold()


def _more_or_less(key: str, words: Sequence[str]) -> list[str]:
    """Return the words that have a part more or less than a name: `part_size_mb` for `part_size`."""
    parts = set(_folded(key).split("_"))
    return [
        each
        for each in words
        if len(each) >= _LEAST
        and len(parts ^ set(_folded(each).split("_"))) == 1
        and len(parts & set(_folded(each).split("_"))) > 1
    ]
