"""Growing first to shrink later: what is inlined gets smaller than what was shared."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import fails_if, odd_judges

from whet.core.verdict import Verdict
from whet.reduction.detour import GROWING, LEAST_GROWN_BYTES, MOST_GROWTH, MOST_STEPS
from whet.reduction.formats.text.inlining import (
    ANCHOR,
    ENTITY,
    MACRO,
    VARIABLE,
    Definition,
    inlining,
)
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reducer_of
from whet.reduction.statistics import Reduction
from whet.search.proposal import run_search

Judge = Callable[[bytes], Verdict]

YAML = b"base: &b {one: 1, two: [2, 3, 4], three: long text here, four: 5}\nx: *b\ny: *b\n"


def reduced(
    payload: bytes, judge: Judge, name: str, *, may_grow: bool
) -> tuple[Reduction, list[tuple[Reduced, Verdict]]]:
    told: list[tuple[Reduced, Verdict]] = []

    def test(candidate: Reduced) -> Verdict:
        told.append((candidate, judge(candidate.data)))
        return told[-1][1]

    reducer = reducer_of(payload, name=name, may_grow=may_grow)
    return run_search(reducer.reduce(), test), told


def needs_two_parts(payload: bytes) -> Verdict:
    yaml = pytest.importorskip("yaml")
    try:
        found = yaml.safe_load(payload)
        return Verdict.BAD if found["x"]["one"] == 1 and found["y"]["four"] == 5 else Verdict.GOOD
    except (yaml.YAMLError, TypeError, KeyError, ValueError, AttributeError):
        return Verdict.SKIP


def test_an_anchor_is_expanded_where_each_use_needs_another_part_of_it() -> None:
    shared, _ = reduced(YAML, needs_two_parts, "a.yaml", may_grow=False)
    expanded, told = reduced(YAML, needs_two_parts, "a.yaml", may_grow=True)

    assert expanded.payload == b"x: {one: 1}\ny: {four: 5}"
    assert len(expanded.payload) < len(shared.payload)
    assert needs_two_parts(expanded.payload) is Verdict.BAD
    assert any(candidate.is_step and verdict is Verdict.BAD for candidate, verdict in told)


@given(judge=odd_judges(), text=st.sampled_from([YAML, b"a = f(1)\nb = a + a\nprint(a, b)\n"]))
def test_no_step_is_a_result_and_none_is_large(judge: Judge, text: bytes) -> None:
    reduction, told = reduced(text, judge, "a.py" if b"print" in text else "a.yaml", may_grow=True)

    results = [text]
    steps = 0
    for candidate, verdict in told:
        is_better = len(candidate.data) <= len(results[-1]) or not candidate.is_step
        assert is_better or len(candidate.data) <= MOST_GROWTH * len(text) + LEAST_GROWN_BYTES
        steps += candidate.by_pass == GROWING
        if verdict is Verdict.BAD and not candidate.is_step:
            results.append(candidate.data)
    assert reduction.payload == results[-1]
    # Each way is bounded, and the text has few definitions to begin a way with.
    assert steps <= (MOST_STEPS + 1) * 8 * len(results)


@pytest.mark.parametrize(
    ("definition", "payload", "expected"),
    [
        (ANCHOR, b"a: &x [1, 2]\nb: *x\nc: *xy\n", [b"a: [1, 2]\nb: [1, 2]\nc: *xy\n"]),
        (ENTITY, b'<!ENTITY e "text"><a>&e;&f;</a>', [b"<a>text&f;</a>"]),
        (MACRO, b"#define N 1 + 2\nint a = N, NN;\n", [b"int a = 1 + 2, NN;\n"]),
        (VARIABLE, b"x = 1 + 2\ny = x * o.x\n", [b"y = (1 + 2) * o.x\n"]),
        (VARIABLE, b"x = 1\ny = 2\n", []),
        (VARIABLE, b"x = r'\\1'\nf(x)\n", [b"f((r'\\1'))\n"]),
    ],
)
def test_a_definition_goes_into_the_places_of_its_uses(
    definition: Definition, payload: bytes, expected: list[bytes]
) -> None:
    assert list(inlining(definition)(payload)) == expected


def test_json_has_nothing_to_inline() -> None:
    payload = json.dumps({"a": [1, 2, 3]}).encode()

    _, told = reduced(payload, fails_if(lambda it: b"2" in it), "a.json", may_grow=True)

    assert all(candidate.by_pass != GROWING for candidate, _ in told)
