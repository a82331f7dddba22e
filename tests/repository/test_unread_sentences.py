"""No code reads back a sentence that whet has made for people: what it must know is a typed value."""

import ast
from collections.abc import Iterator

import pytest

from .tree import ROOT, syntax_of, tracked

SENTENCES = {"says", "why", "remark", "heading", "next_step"}
READS = {
    "startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "split",
    "rsplit", "splitlines", "replace", "find", "index", "count",
}  # fmt: skip
ALLOWED = {
    "src/whet/workbench/investigate/closer/clues.py": 1,  # its lines are joined, whatever they say
}
"""Reading places that are left, by file: only fewer."""


def read_back(module: ast.Module) -> Iterator[int]:
    """Yield the lines on which a sentence is searched or cut."""
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr=method)):
                if name in SENTENCES and method in READS:
                    yield node.lineno
            case ast.Compare(ops=ops, comparators=sides):
                for operation, side in zip(ops, sides, strict=True):
                    is_searched = isinstance(operation, ast.In | ast.NotIn)
                    if is_searched and isinstance(side, ast.Attribute) and side.attr in SENTENCES:
                        yield node.lineno
            case _:
                pass


@pytest.mark.parametrize(
    "text",
    [
        "clue.says.startswith('without')", "'stands in' in clues[0].says", "a.why.partition(' ')[2]",
        "x not in step.remark", "clue.next_step.replace('it', 'that')",
    ],
)  # fmt: skip
def test_a_sentence_that_is_read_back_is_noticed(text: str) -> None:
    assert list(read_back(ast.parse(text))) == [1]


def test_no_sentence_made_for_people_is_read_back() -> None:
    found = {
        str(path.relative_to(ROOT)): len(lines)
        for path in tracked("src/whet/**/*.py", "src/whet/*.py")
        if (lines := list(read_back(syntax_of(path))))
    }
    assert found == ALLOWED
