"""Source code: what each parser sees, what is left of real programs, and in how many calls."""

import ast
import re
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.source import source_tree
from whet.reduction.formats.source.grammars import LANGUAGES, Parse, parser_for, parser_of
from whet.reduction.formats.source.python_tree import parses_as_python, read_python
from whet.reduction.formats.source.source_offers import FEW_ERRORS, Grammar, cuts
from whet.reduction.formats.source.source_tree import SourceTree, read_tree
from whet.reduction.order import TEXT
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_pass

pytestmark = pytest.mark.skipif(parser_of("c") is None, reason="the grammars are not installed")

STANDARD_LIBRARY = Path(textwrap.__file__).parent

C = b"""#include <stdio.h>
/* a list */
struct node { int value; struct node *next; };

static int total(struct node *list, int from)
{
    int sum = 0;
    for (struct node *each = list; each != NULL; each = each->next) {
        if (each->value > from) {
            sum += each->value;
        } else {
            printf("%d is left out\\n", each->value);
        }
    }
    return sum;
}

int main(int count, char **words)
{
    struct node last = { 3, NULL }, first = { 4, &last };
    // the wrong way round
    return total(0, first) + count;
}
"""

PYTHON_SMALL = b"""class A(B, c=1):
    @property
    async def f(self, a: int = 1, *b) -> str:
        # a note
        with a as x, b:
            return f"{a}" if b else [c for c in {1: 2}]

if a:
    b
elif c:
    A().f(1, 2)
else:
    try:
        d
    except E as e:
        raise
"""

JAVASCRIPT = b"""'use strict';
const LIMIT = 10;

class Basket {
  constructor(items = []) { this.items = items; }
  add(item) { this.items.push(item); return this; }
  total() {
    let sum = 0;
    for (const { price, count } of this.items) { sum += price * count; }
    return sum > LIMIT ? sum * 0.9 : sum;
  }
}

function parse(text) {
  // two letters, then a number
  return text.split(';').map((each) => ({ name: each.slice(0, 2), price: +each.slice(2) }));
}

const basket = new Basket();
for (const item of parse('ab12;cd7')) basket.add({ ...item, count: 1 });
console.log(basket.total(), parse(null));
"""


def tree_of(language: str, payload: bytes) -> SourceTree:
    parse = parser_of(language)
    tree = None if parse is None else read_tree(parse, payload)
    assert tree is not None
    return tree


@pytest.mark.parametrize(
    "language", [each for each in LANGUAGES if parser_for(each)], ids=lambda each: each.name
)
def test_each_installed_grammar_is_of_use(language: object) -> None:
    kind = KINDS[getattr(language, "name", "")]
    payload = b"a b ( { 1\n"

    done = shrunk(payload, fails_if(lambda it: b"b" in it), format_name=kind.name)

    assert b"b" in done.reduction.payload


@pytest.mark.parametrize(
    ("payload", "name", "expected"),
    [
        (C, "", "c"),
        (C, "a.c", "c"),
        (C, "a.cpp", "cpp"),
        (JAVASCRIPT, "", "javascript"),
        (JAVASCRIPT, "a.ts", "typescript"),
        (b"fn main() { }\n", "", "rust"),
        (b"package main\n\nfunc main() {\n}\n", "", "go"),
        (b"#!/bin/sh\necho a\n", "", "bash"),
        (b"import os\n", "", "python"),
        (b"print 'of Python 2'\n", "a.py", "python"),
        (b"a, b\n", "a.py", "python"),
        (b"a(b, c)\nd(e, f)\n", "", ""),
        (b"Import the goods, then leave.\n", "", ""),
        (b"from here to there\n", "", ""),
        (b"function of a thing\n", "", ""),
        (b"import os\n", "notes.c", "c"),
        (b"", "", ""),
    ],
)
def test_name_and_content_decide_on_the_language(payload: bytes, name: str, expected: str) -> None:
    languages = {"python", *(each.name for each in LANGUAGES)}
    found = kinds_of(payload, name=name)[0].name

    assert found == expected if expected else found not in languages


@pytest.mark.parametrize(
    "name", ["ast.py", "dataclasses.py", "contextlib.py", "textwrap.py", "typing.py"]
)
def test_nodes_of_real_python_lie_in_each_other_and_side_by_side(name: str) -> None:
    tree = read_python((STANDARD_LIBRARY / name).read_bytes())

    assert tree is not None
    for node in tree.nodes:
        assert node.parent is None or node.parent.start <= node.start <= node.end <= node.parent.end
        assert all(left.end <= right.start for left, right in pairwise(node.children))
    assert all(tree.payload[start : start + 1] == b"#" for start, _ in tree.comments)


def test_what_ast_leaves_out_is_there() -> None:
    source = "\ufeff@a\ndef é(b, *c, d: int = 1):\n    return {b: c}\n".encode()
    tree = read_python(source)

    assert tree is not None
    found = [(node.kind, tree.text(node).decode()) for node in tree.nodes]
    for expected in [
        ("FunctionDef", "@a\ndef é(b, *c, d: int = 1):\n    return {b: c}"),
        ("starred parameter", "*c"),
        ("parameter", "d: int = 1"),
        ("body", "return {b: c}"),
        ("entry", "b: c"),
    ]:
        assert expected in found


@pytest.mark.parametrize(
    "payload",
    [b"# coding: latin-1\nx = '\xe9'\n", b"x = '\xff'\n", b"def f(:\n", b"a\0b", b"print 'x'\n"],
)
def test_what_this_python_does_not_read_is_refused(payload: bytes) -> None:
    assert read_python(payload) is None


@pytest.mark.parametrize(
    "payload",
    [b"(" * 100_000 + b")" * 100_000, pytest.param(b"-" * 100_000 + b"1", marks=pytest.mark.long), pytest.param(b"1+" * 100_000 + b"1", marks=pytest.mark.long),
     pytest.param(b"a" + b".a" * 100_000, marks=pytest.mark.long), b"not " * 100_000 + b"a"],
)  # fmt: skip
def test_python_nested_too_deep_for_python_is_left_to_the_grammar(payload: bytes) -> None:
    assert read_python(payload) is None
    assert len(tree_of("python", payload).nodes) > 50_000


@pytest.mark.parametrize("name", ["python", "c", "javascript"])
def test_every_candidate_parses(name: str) -> None:
    payload = {
        "python": PYTHON_SMALL,
        "c": C[C.index(b"int main") :],
        "javascript": JAVASCRIPT[JAVASCRIPT.index(b"const basket") :],
    }
    parse = parser_of(name)
    assert parse is not None

    def is_valid(candidate: bytes) -> bool:
        if name == "python":
            return parses_as_python(candidate) is not None
        return not parse(candidate).has_error

    assert is_valid(payload[name])
    for each in KINDS[name].passes:
        check_pass(each, [payload[name]], is_valid=is_valid)


def test_a_payload_with_an_error_may_keep_it() -> None:
    payload = b"int f() { return @; }\nint g() { return 1; }\n"

    done = shrunk(payload, fails_if(lambda it: b"@" in it), format_name="c")

    assert b"g()" not in done.reduction.payload


def test_of_a_text_that_a_grammar_sees_little_but_errors_in_there_is_no_tree() -> None:
    parse = c_parser()
    row = b"lse return i; }\n"

    assert read_tree(parse, C + 1000 * row) is None
    assert read_tree(parse, C + row) is not None


def c_parser() -> Parse:
    parse = parser_of("c")
    assert parse is not None
    return parse


def test_a_text_with_many_errors_is_given_to_the_parser_less_often() -> None:
    tree = read_tree(c_parser(), C * 30)
    assert tree is not None
    offers = [offer for offers in cuts(tree) for offer in offers[:1]]
    asked: list[int] = []

    for errors in (0, 500 * FEW_ERRORS):
        candidates: list[bytes] = []
        parses = never_sound(candidates)
        Grammar().learn(replace(tree, parses=parses, errors=errors, is_row=False), offers)
        asked.append(len(candidates))

    assert 0 < asked[1] < asked[0] / 4


def test_a_parser_that_rejects_too_much_in_a_row_is_asked_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_tree, "REJECTED_BYTES", 500_000)
    asked: list[int] = []

    def parse(payload: bytes) -> Any:
        asked.append(len(payload))
        return c_parser()(payload)

    text = C * 30
    tree = read_tree(parse, text)
    assert tree is not None
    broken = text.replace(b"}", b"", 1)
    asked.clear()

    verdicts = [tree.parses(broken) for _ in range(10_000)]

    assert not any(verdicts)
    assert sum(asked) <= 500_000 + len(text)
    assert not tree.parses(text[: len(C)]), "it has been asked enough"
    again = read_tree(parse, text)
    assert again is not None
    assert again.parses(text[: len(C)])


def test_a_text_that_is_one_large_error_is_not_this_language() -> None:
    text = b"#include <stdio" * 1000  # the parser takes a second for 64 KiB of it
    asked: list[int] = []

    def parse(payload: bytes) -> Any:
        asked.append(len(payload))
        return c_parser()(payload)

    assert read_tree(parse, text) is None
    assert asked == [len(text)]
    assert read_tree(parse, C) is not None


def never_sound(candidates: list[bytes]) -> Callable[[bytes], bool]:
    def parses(candidate: bytes) -> bool:
        candidates.append(candidate)
        return False

    return parses


PYTHON = (STANDARD_LIBRARY / "textwrap.py").read_bytes()


def calls_of(program: ast.Module) -> set[tuple[str, str]]:
    """Return which function of a program has a call of which other."""
    return {
        (outer.name, inner.func.id)
        for outer in ast.walk(program)
        if isinstance(outer, ast.FunctionDef)
        for inner in ast.walk(outer)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)
    }


def needs(holds: Callable[[ast.Module], bool]) -> Judge:
    return fails_if(lambda payload: holds(ast.parse(payload)))


def test_a_function_and_its_call_are_left_of_textwrap() -> None:
    judge = needs(lambda program: ("indent", "predicate") in calls_of(program))

    done = shrunk(PYTHON, judge, format_name="python")

    assert done.reduction.payload.strip() == b"def indent():predicate()"
    assert done.calls <= 120


@pytest.mark.slow
def test_a_function_and_what_it_is_called_with_are_left_of_many() -> None:
    """A program of a hundred lines is run; what it needs is one function and its call."""
    payload = b"".join(
        b"def step_%d(value, scale=%d):\n    '''Step %d.'''\n    total = value * scale\n"
        b"    for each in range(3):\n        total += each\n    return total\n\n\n" % (n, n, n)
        for n in range(12)
    )
    payload += b"def parse(text, base):\n    if text:\n        return int(text, base)\n\n\n"
    payload += b"def main():\n    print(step_3(4))\n    with open('/dev/null') as file:\n"
    payload += b"        return parse('12x', base=10) + step_7(1)\n\n\nmain()\n"

    def holds(candidate: bytes) -> bool:
        done = subprocess.run(
            ["python3", "-S", "-E", "-c", candidate], capture_output=True, check=False
        )
        return (
            re.search(rb"in parse\n(?:    .*\n)*ValueError: invalid literal", done.stderr)
            is not None
        )

    assert holds(payload)
    done = shrunk(payload, fails_if(holds), format_name="python")

    assert done.reduction.payload.strip() == b"def parse(text):\n    int(text)\n\n\nparse('12x')"
    assert done.calls <= 240


@pytest.mark.long
def test_the_error_of_a_compiler_is_left() -> None:
    def holds(candidate: bytes) -> bool:
        done = subprocess.run(
            ["gcc", "-fsyntax-only", "-w", "-x", "c", "-"],
            input=candidate, capture_output=True, check=False,
        )  # fmt: skip
        return b"incompatible type for argument 2 of" in done.stderr

    done = shrunk(C, fails_if(holds), name="a.c")

    assert done.reduction.payload == b"struct a{}b(int,int){struct a a;b(,a)"
    # A second look at the structure, pairs of cuts and merged names cost 230 of these.
    assert done.calls <= 820


@pytest.mark.long
@pytest.mark.needs("node")
def test_what_node_says_of_a_script_is_left_of_it() -> None:
    payload = b"""function price(item) { return item.price.amount; }
const basket = [{ name: 'tea', price: { amount: 3 } }, { name: 'cup' }];
let sum = 0;
for (const item of basket) { sum += price(item); }
console.log(sum);
"""

    def holds(candidate: bytes) -> bool:
        done = subprocess.run(
            ["node", "-e", candidate], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return b"reading 'amount'" in done.stderr

    assert holds(payload)
    done = shrunk(payload, fails_if(holds), name="basket.js")

    assert done.reduction.payload == b"function a(a){a.amount}a()"
    assert done.calls <= 360


def test_a_javascript_method_is_left() -> None:
    judge = fails_if(
        lambda it: re.search(rb"class \w+ *\{.*total\(\) *\{.*for", it, re.DOTALL) is not None
    )

    done = shrunk(JAVASCRIPT, judge, format_name="javascript")

    left = b"class a { total() { for (const a of a) 0 } }"
    assert done.reduction.payload.split() == left.split()
    assert done.calls <= 100


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.sampled_from([b"int f(int a) { return a + 1; }", b"def f(a):\n    return [a, 1]\n"]),
    odd_judges(),
)
def test_only_progress_is_proposed_and_a_second_shrink_finds_nothing(
    payload: bytes, judge: Judge
) -> None:
    for name in ("c", "python"):
        best = payload
        done = shrunk(payload, judge, format_name=name)
        for candidate, verdict in done.told:
            assert TEXT.is_better(candidate.data, best)
            best = candidate.data if verdict is Verdict.BAD else best
        assert done.reduction.payload == best
        again = shrunk(best, judge, format_name=name)
        assert all(verdict is not Verdict.BAD for _, verdict in again.told)
