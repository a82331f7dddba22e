"""What a user prefers decides which candidates are tried, and what passes is kept on the way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk, shrunk_ahead

from whet.core.errors import BadUsage
from whet.core.verdict import Verdict
from whet.reduction.formats.documents.json_tree import JSON
from whet.reduction.order import TEXT
from whet.reduction.passing import MOST_NEIGHBOURS, differing, neighbours
from whet.reduction.payload_kinds import pretty_of
from whet.reduction.preference import MEASURES, Preference, patterns_of
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reducer_of
from whet.search.proposal import run_search

texts = st.text(alphabet='ab1 \n(,)"', max_size=16).map(str.encode)


def told(payload: bytes, judge: Judge, preference: Preference) -> list[tuple[bytes, Verdict]]:
    """Reduce; return each candidate with its verdict."""
    asked: list[tuple[bytes, Verdict]] = []

    def test(candidate: Reduced) -> Verdict:
        asked.append((candidate.data, judge(candidate.data)))
        return asked[-1][1]

    run_search(reducer_of(payload, preference=preference).reduce(), test)
    return asked


@given(texts, odd_judges(), st.sampled_from(sorted(MEASURES)))
def test_what_is_counted_never_rises(payload: bytes, judge: Judge, objective: str) -> None:
    measure = MEASURES[objective]
    best = payload
    for candidate, verdict in told(payload, judge, Preference(objective=objective)):
        assert measure(candidate) <= measure(best)
        best = candidate if verdict is Verdict.BAD else best


def test_tokens_count_more_than_bytes_where_they_are_the_objective() -> None:
    order = Preference(objective="tokens").order_within(TEXT)

    assert order.is_better(b"a_long_name", b"a b")
    assert not TEXT.is_better(b"a_long_name", b"a b")
    assert order.is_better(b"a", b"a_long_name")  # among equals what reads best


@given(texts, odd_judges())
def test_what_must_be_kept_is_in_every_candidate(payload: bytes, judge: Judge) -> None:
    payload += b"K7"

    asked = told(payload, judge, Preference(keep=(re.compile(rb"K\d"),)))

    assert all(re.search(rb"K\d", candidate) for candidate, _ in asked)


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    with pytest.raises(BadUsage, match="matches nothing"):
        patterns_of(["^b"], b"abc")
    assert patterns_of(["^b"], b"a\nbc")


@given(texts, odd_judges(), st.integers(2, 5))
def test_what_passes_nearby_was_judged_good_and_is_the_same_with_many_jobs(
    payload: bytes, judge: Judge, jobs: int
) -> None:
    done = shrunk(payload, judge)

    good = {candidate.data for candidate, verdict in done.told if verdict is Verdict.GOOD}
    nearest = done.reduction.nearest_passing
    assert (nearest is None) == (not good)
    assert nearest is None or nearest in good
    assert shrunk_ahead(payload, judge, jobs).nearest_passing == nearest


def test_the_nearest_is_one_character_away() -> None:
    judge = fails_if(lambda it: b"1/2" in it)

    reduction = shrunk(b"first,3\nrow,1/2\nlast,4\n", judge).reduction

    assert reduction.payload == b"1/2"
    assert reduction.nearest_passing is not None
    assert max(len(reduction.payload), len(reduction.nearest_passing)) - sum(
        differing(reduction.payload, reduction.nearest_passing)
    ) == 1  # fmt: skip


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_what_two_payloads_share_is_found(one: bytes, other: bytes) -> None:
    start, end = differing(one, other)

    assert one[:start] == other[:start]
    assert one[len(one) - end :] == other[len(other) - end :]
    assert start + end <= min(len(one), len(other))
    if one != other and start < min(len(one), len(other)):
        assert one[start] != other[start]


@given(st.binary(min_size=1, max_size=300))
def test_neighbours_are_few_and_differ_in_one_place(payload: bytes) -> None:
    found = list(neighbours(payload))

    assert len(found) <= MOST_NEIGHBOURS
    for each in found:
        assert max(len(each), len(payload)) - sum(differing(each, payload)) <= 1


FLAT = b"""{"users":[{"name":"somebody with a long name","scores":[1,2.50,3e5]},\
{"name":"somebody else"}],"x":{}}"""

INDENTED = b"""{
  "users": [
    {"name": "somebody with a long name", "scores": [1, 2.50, 3e5]},
    {"name": "somebody else"}
  ],
  "x": {}
}"""

WALL = b"""\xef\xbb\xbf[
  10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
  10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
  10, 10, 1
]"""


@pytest.mark.parametrize(
    ("payload", "pretty"),
    [
        (b'{"a":1}', None),
        (FLAT, INDENTED),
        (b"\xef\xbb\xbf[%s1]" % (b"10," * 40), WALL),
        (b'{"a":1}\n' * 30, None),
        (b"[" * 100 + b"]" * 100, None),
        (b'{"a": "not json' + b"x" * 100, None),
    ],
)
def test_json_is_laid_out_as_a_person_does(payload: bytes, pretty: bytes | None) -> None:
    assert pretty_of(payload) == pretty
    if pretty is not None:
        assert JSON.parse(pretty) is not None
        assert pretty_of(pretty) is None
