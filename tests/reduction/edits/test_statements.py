"""A file with some of its edits: none is the old one, all are the new one, and each edit is a statement."""

import difflib
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.edits.statements import FileEdits, edits_of
from whet.reduction.formats.documents.diff_text import DiffLine, Hunk

BODIES = ["x = 1", "y = x", "return x", "x += 1", "if x:", "for z in y:", "", "# note", "f(x, y)"]


def hunks_between(old: bytes, new: bytes) -> list[Hunk]:
    """Return what `git diff --unified=0` says, by difflib."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    hunks: list[Hunk] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, end, left, right in matcher.get_opcodes():
        if tag != "equal":
            lines = [DiffLine(b"-", line) for line in before[start:end]]
            lines += [DiffLine(b"+", line) for line in after[left:right]]
            hunks.append(Hunk(start + (end > start), b"", tuple(lines)))
    return hunks


def edits_between(old: str, new: str, *, is_python: bool = True) -> FileEdits:
    before, after = (textwrap.dedent(text).encode() for text in (old, new))
    return edits_of(
        before, after, hunks_between(before, after), is_python=is_python, is_by_lines=True
    )


def content(edits: FileEdits, *numbers: int) -> str:
    return edits.content(numbers).decode()


lines = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(BODIES)), max_size=8)


def text_of(drawn: list[tuple[int, str]]) -> str:
    return "".join("    " * depth + body + "\n" for depth, body in drawn)


@given(lines, lines)
def test_no_edits_are_the_old_file_and_all_are_the_new_one(
    old: list[tuple[int, str]], new: list[tuple[int, str]]
) -> None:
    before, after = text_of(old), text_of(new)

    edits = edits_between(before, after, is_python=False)

    assert content(edits) == textwrap.dedent(before)
    assert content(edits, *range(edits.count)) == textwrap.dedent(after)


@st.composite
def functions(draw: st.DrawFn) -> str:
    """Return a source that can be compiled, in which blocks open and close."""
    parts: list[str] = []
    for number in range(draw(st.integers(0, 3))):
        parts.append(f"def f{draw(st.integers(0, 4))}(x, y):\n")
        depth = 1
        for _ in range(draw(st.integers(1, 5))):
            body = draw(st.sampled_from(BODIES))
            parts.append("    " * depth + body + "\n")
            depth += body.endswith(":")
        parts.append("    " * depth + f"return {number}\n")
    return "".join(parts)


@given(functions(), functions(), st.data())
def test_sources_too_and_each_edit_has_a_place(old: str, new: str, data: st.DataObject) -> None:
    edits = edits_between(old, new)

    assert content(edits) == textwrap.dedent(old)
    assert content(edits, *range(edits.count)) == textwrap.dedent(new)
    for each in range(edits.count):
        assert list(edits.places([each]))
        assert edits.hunks_of([each])
    chosen = data.draw(st.sets(st.integers(0, max(edits.count - 1, 0))))
    content(edits, *chosen)  # whatever is chosen can be made


ROUNDING = """
    CENT = Decimal("0.01")


    def cents(value):
        return dec(value).quantize(CENT, rounding=HALF_UP)
"""
PLACES = """
    PLACES = 2


    def cents(value, places=PLACES):
        with localcontext() as ctx:
            ctx.prec = 28
            return dec(value).quantize(quantum(places))
"""


def test_a_statement_that_moves_into_a_new_block_can_be_as_it_was_within_it() -> None:
    edits = edits_between(ROUNDING, PLACES)
    rest = [
        each for each in range(edits.count) if edits.lines_of([each], is_new=True) != frozenset({8})
    ]

    assert len(rest) == edits.count - 1
    made = content(edits, *rest)
    assert (
        "            return dec(value).quantize(CENT, rounding=HALF_UP)\n".removeprefix("    ")
        in made
    )
    assert "        ctx.prec = 28\n" in made


def test_a_constant_that_goes_and_one_that_comes_can_both_be_there() -> None:
    edits = edits_between(ROUNDING, PLACES)
    comes = next(
        each for each in range(edits.count) if edits.lines_of([each], is_new=True) == frozenset({2})
    )

    assert "PLACES = 2" in content(edits, comes)
    assert "CENT = Decimal" in content(edits, comes)


def test_a_loop_that_becomes_a_line_is_one_edit_with_the_variable_it_sets() -> None:
    before = """
        def total(lines):
            value = 0
            for line in lines:
                value += line
            return value
    """
    after = """
        def total(lines):
            valid = [line for line in lines if line]
            value = sum(valid)
            return value
    """

    assert edits_between(before, after).count == 1


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("x = f(1)\ny = g(2)\n", "x = f(3)\ny = g(4)\n", 2),
        ("import a\n", "import a\nimport b\nimport c\n", 2),
        ("import a, b\n", "import a, c\n", 2),  # the old import can stay beside the new one
        ("x = f(\n    1,\n    2,\n)\n", "x = f(\n    3,\n    4,\n)\n", 1),
        ("", "for x in y:\n    f(x)\n    g(x)\n", 1),
        ("f(1)\nh()\n", "g.x = 5\nh()\n", 2),
    ],
)
def test_a_change_falls_into_its_statements(old: str, new: str, count: int) -> None:
    assert edits_between(old, new).count == count


def test_lines_of_a_table_are_edits_and_in_a_language_whet_does_not_read_those_of_one_side_are_one() -> (
    None
):
    old, new = b"a,1\nb,2\n", b"a,1\nc,3\nd,4\nb,2\n"
    hunks = hunks_between(old, new)

    counts = [
        edits_of(old, new, hunks, is_python=False, is_by_lines=is_by_lines).count
        for is_by_lines in (True, False)
    ]

    assert counts == [2, 1]
