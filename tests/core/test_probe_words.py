"""What the words of `whet probe` mean, and which statement a line stands for."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet.core.probe
from whet.core.errors import BadUsage
from whet.core.probe import (
    Action,
    Target,
    TargetKind,
    Wish,
    changes_something,
    parse_wishes,
    target_of,
    trace_wish,
)
from whet.core.text.code_lines import functions_in, statement_at

CORE = Path(whet.core.probe.__file__).parent
SOURCES = [
    CORE / "text" / "code_lines.py",
    *(CORE / "observations" / name for name in ("evidence.py", "stack.py")),
]

targets = st.sampled_from(
    ["train.py:40", "pkg.mod:func", "a/b.py:Class.method", "func:return", "raise:ValueError"]
)
actions = st.lists(
    st.sampled_from([["stack"], ["mem"], ["die"], ["break"], ["sleep", "0.5"],
                     ["print", "x[1:2]"], ["print", "count", "{'a': 1}"], ["count"]]),
    min_size=1, max_size=4,
)  # fmt: skip
modifiers = st.tuples(
    st.none() | st.just("x > 3"), st.none() | st.integers(0, 99), st.none() | st.integers(1, 99)
)


@given(
    st.lists(st.tuples(st.lists(targets, min_size=1, max_size=3), actions, modifiers), max_size=3)
)
def test_words_say_what_was_put_into_them(
    groups: list[tuple[list[str], list[list[str]], tuple[str | None, int | None, int | None]]],
) -> None:
    words: list[str] = []
    for named, done, (condition, after, every) in groups:
        words += named
        words += [word for each in done for word in each]
        for name, value in (("if", condition), ("after", after), ("every", every)):
            words += [] if value is None else [name, str(value)]
    if not groups:
        with pytest.raises(BadUsage):
            parse_wishes(words)
        return

    wishes = parse_wishes(words)

    assert [[each.text for each in wish.targets] for wish in wishes] == [g[0] for g in groups]
    assert [[[a.name, *a.words] for a in wish.actions] for wish in wishes] == [g[1] for g in groups]
    assert [(w.condition, w.after, w.every) for w in wishes] == [
        (condition or "", after or 0, every or 1) for _, _, (condition, after, every) in groups
    ]


def test_a_target_without_an_action_is_counted() -> None:
    assert parse_wishes(["a.py:3"]) == (
        Wish(
            targets=(Target(text="a.py:3", kind=TargetKind.LINE, file="a.py", line=3),),
            actions=(Action(name="count"),),
        ),
    )


@pytest.mark.parametrize(
    ("word", "file", "module", "line", "name", "kind"),
    [
        ("src/a b.py:12", "src/a b.py", "", 12, "", TargetKind.LINE),
        ("a.py:C.m:return", "a.py", "", 0, "C.m", TargetKind.RETURN),
        ("pkg.mod:*", "", "pkg.mod", 0, "*", TargetKind.CALL),
        ("f:return", "", "", 0, "f", TargetKind.RETURN),
        ("raise:pkg.Error", "", "", 0, "pkg.Error", TargetKind.RAISE),
    ],
)
def test_a_target_is_read(
    word: str, file: str, module: str, line: int, name: str, kind: TargetKind
) -> None:
    assert target_of(word) == Target(
        text=word, file=file, module=module, line=line, name=name, kind=kind
    )


@pytest.mark.parametrize(
    "word", ["x[1:2]", "a.py:0", f"a.py:{10**12}", "a.py:3:return", "lambda: 1", "f", ":return"]
)
def test_what_is_no_target_is_none(word: str) -> None:
    assert target_of(word) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stack"], "comes before any target"),
        (["train"], "is not a target"),
        (["a.py:3", "prnt"], "did you mean `print`"),
        (["a.py:3", "print", "x = 3"], "not a Python expression"),
        (["a.py:3", "print", "await x"], "not a Python expression"),
        (["a.py:3", "if"], "needs an argument"),
        (["a.py:3", "every", "0"], "no number of times"),
        (["a.py:3", "sleep", "soon"], "not a time"),
    ],
)
def test_bad_words_are_refused_with_the_next_step(words: list[str], said: str) -> None:
    with pytest.raises(BadUsage) as raised:
        parse_wishes(words)

    assert said in f"{raised.value} {raised.value.hint}"


def test_a_trace_is_of_functions_alone() -> None:
    (target,) = trace_wish(["pkg.mod:*"]).targets
    assert target.kind is TargetKind.TRACE
    with pytest.raises(BadUsage):
        trace_wish(["train.py:40"])


@pytest.mark.parametrize(
    ("text", "changes"),
    [("x.pop()", True), ("next(rows)", True), ("(y := 3)", True), ("w.add_(1)", True),
     ("x.shape", False), ("len(x)", False), ("x.mean().item()", False), ("f.__class__", False)],
)  # fmt: skip
def test_an_expression_that_changes_something_is_known(text: str, *, changes: bool) -> None:
    assert changes_something(text) is changes


# ---- lines ----


def executed(source: bytes) -> set[int]:
    """Return the lines that CPython's own compiler has code for."""
    found: set[int] = set()
    left = [compile(source, "x", "exec")]
    while left:
        code = left.pop()
        found |= {line for _, _, line in code.co_lines() if line}
        left += [each for each in code.co_consts if isinstance(each, type(code))]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.name))
def test_for_each_line_there_is_a_statement_that_python_comes_to(path: Path) -> None:
    source = path.read_bytes()
    lines = executed(source)
    for line in range(1, source.count(b"\n") + 3):
        found = statement_at(source, line)
        assert found is not None
        assert any(each in lines for each in range(found.first, found.last + 1)), (line, found)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.name))
def test_a_line_with_a_statement_of_its_own_stands_for_that(path: Path) -> None:
    source = path.read_bytes()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Return | ast.Raise | ast.Assign | ast.If | ast.For):
            found = statement_at(source, node.lineno)
            assert found is not None
            assert found.first == node.lineno


SOURCE = '''\
"""Doc."""
from __future__ import annotations

@cached
def f(x):
    """Doc."""
    y = max(
        x,
        2,
    )
    if y:
        return y
    else:
        # nothing
        return 0

class K:
    def m(self): return 1
'''


@pytest.mark.parametrize(
    ("line", "first", "function"),
    [(1, 4, "f"), (4, 4, "f"), (5, 4, "f"), (6, 7, ""), (9, 7, ""), (11, 11, ""), (13, 15, ""),
     (14, 15, ""), (16, 17, ""), (18, 18, "K.m"), (99, 18, "K.m")],
)  # fmt: skip
def test_a_line_without_code_stands_for_the_nearest_statement(
    line: int, first: int, function: str
) -> None:
    found = statement_at(SOURCE, line)

    assert found is not None
    assert (found.first, found.function) == (first, function)


def test_functions_have_the_names_under_which_they_are_written() -> None:
    assert functions_in(SOURCE) == ("f", "K.m")
    assert statement_at('"""Nothing."""\n', 1) is None
