"""What comments expect, and of which statement."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.site.whet_lines.numbering import numbered
from whet.core.errors import BadExpectation
from whet.measurement.expectations.comments import EACH, KEPT, RUNS, TOTAL, comments_in
from whet.measurement.expectations.counted_lines import (
    CommentScore,
    Count,
    counted_lines,
    function_span,
)
from whet.measurement.expectations.section_comments import section_expectations


@pytest.mark.parametrize(
    ("text", "name", "low", "high"),
    [
        ("40 ms", EACH, 0.04 / 1.5, 0.06),
        ("~ 40ms ± 10%", EACH, 0.036, 0.044),
        ("2s..4s", EACH, 2, 4),
        ("2..4 s", EACH, 2, 4),
        ("3 s total", TOTAL, 2, 4.5),
        ("100 MB", KEPT, 1e8 / 1.5, 1.5e8),
        ("10 calls", RUNS, 10 / 1.5, 15),
        ("10..12 times", RUNS, 10, 12),
    ],
)
def test_a_part_is_about_what_its_unit_says(text: str, name: str, low: float, high: float) -> None:
    (comment,) = comments_in(f"x = 1  # expect: {text}\n", "a.py")

    assert comment.range.name == name
    assert (comment.range.low, comment.range.high) == pytest.approx((low, high))
    assert not comment.stands_alone


def test_a_comment_has_parts_and_bounds() -> None:
    source = "# expect: < 40 ms, 100 MB, >= 3 calls\nx = 1\n"

    time, memory, runs = comments_in(source, "a.py")

    assert time.stands_alone
    assert time.range.holds(0.03)
    assert not time.range.holds(0.04)
    assert memory.range.name == KEPT
    assert runs.range.holds(3)


@pytest.mark.parametrize("text", ["fast", "40", "3 parsecs", "", "40 ms,", "4s..2s", "40 ms 3"])
def test_what_cannot_be_read_is_refused_with_file_and_line(text: str) -> None:
    with pytest.raises(BadExpectation) as caught:
        comments_in(f"\nx = 1  # expect: {text}\n", "a.py")

    assert str(caught.value).startswith("a.py:2: ")
    assert text.rsplit(",", maxsplit=1)[-1].strip() in str(caught.value)
    assert ".seconds" not in str(caught.value)


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=40))
def test_text_and_comments_that_state_nothing_are_left_alone(text: str) -> None:
    word = text.replace("expect", "").replace("\n", " ").replace("\r", " ").replace("\f", " ")
    source = f"x = {word!r}  # {''.join(c for c in word if c.isprintable())}\ny = '# expect: 3 s'\n"

    assert comments_in(source, "a.py") == ()


SOURCE = """\
# expect: 10 ms
def load(n):
    'doc'
    for i in range(n):  # expect: 6 ms
        work(i)  # expect: 2 ms, 3 calls
    return n
def unused():
    x = 1  # expect: 1 s
    return locals()
load(3)
# expect: 4 s
"""


def scores(counts: dict[str, Count], span: tuple[int, int] = (1, 99)) -> dict[int, CommentScore]:
    nodes = numbered(ast.parse(SOURCE))
    lines = SOURCE.splitlines()
    of_nodes = [counts.get(lines[node.lineno - 1].strip().split("(")[0], Count()) for node in nodes]
    counted = counted_lines(SOURCE, of_nodes, "a.py", span)
    assert counted.unseen == (("unused",) if span == (1, 99) else ())
    assert counted.misplaced == ((8, 11) if span == (1, 99) else ())
    return {each.comment.line: each for each in counted.scores if each.comment.range.name == EACH}


def seconds(runs: int, most: float, least: float | None = None) -> Count:
    return Count(runs=runs, seconds=most, least_seconds=most if least is None else least)


COUNTS = {
    "for i in range": seconds(1, 0.001),
    "work": seconds(3, 0.009),
    "return n": seconds(1, 0.0),
}


def test_a_comment_above_a_block_is_about_all_that_stands_in_it() -> None:
    found = scores(COUNTS)

    assert {line: each.first for line, each in found.items()} == {1: 2, 4: 4, 5: 5}
    assert found[1].observed == pytest.approx(0.010)  # a call of the function
    assert found[4].observed == pytest.approx(0.010)  # a run of the loop
    assert found[5].observed == pytest.approx(0.003)  # a run of the line
    assert [found[line].was_met for line in (1, 4, 5)] == [True, False, True]
    assert found[4].ratio == pytest.approx(0.010 / 0.006)


def test_a_time_that_is_mostly_the_counting_proves_only_what_both_its_ends_do() -> None:
    rough = {**COUNTS, "work": seconds(3, 0.009, 0.0)}
    unknown, above = scores(rough)[5], scores({**rough, "work": seconds(3, 0.09, 0.03)})[5]

    assert unknown.was_met is None
    assert above.was_met is False
    assert above.ratio == pytest.approx(5)  # at least
    assert scores({**rough, "work": seconds(3, 0.002, 0.0)})[5].was_met is False


def test_a_function_alone_has_its_own_comment_too() -> None:
    span = function_span(SOURCE, "load")

    assert span == (3, 6)
    assert sorted(scores(COUNTS, span)) == [1, 4, 5]


def test_comments_at_sections_are_expectations_of_a_run() -> None:
    source = """\
import whet
with whet.section("load data"):  # expect: 40 ms, < 100 MB
    rows = read()  # expect: 30 ms
# expect: 2s..4s total
@whet.section("train")
def train():
    with section("step", objects=True), open("x"):  # expect: 10 calls
        pass
with whet.section(name):  # expect: 1 s
    pass
"""

    assert section_expectations(source, "a.py") == (
        "load_data.seconds ~ 40 ms",
        "load_data.kept_memory < 100 MB",
        "train.seconds ~ 2s..4s",
        "step.count ~ 10",
    )
