"""What holds for every payload and every oracle."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, odd_judges, shrunk, shrunk_ahead

from whet.core.verdict import Verdict
from whet.reduction.edit import siblings, splice
from whet.reduction.formats.documents.json_tree import parse_json
from whet.reduction.formats.tables.csv_table import parse_csv
from whet.reduction.formats.text.pieces import parse_bytes, parse_lines, parse_tokens, parse_words
from whet.reduction.order import TEXT

pytestmark = pytest.mark.slow

values = st.recursive(
    st.none() | st.integers(-20, 300) | st.text(alphabet='ab"\\é', max_size=3) | st.floats(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=6,
)
tables = st.lists(
    st.lists(st.sampled_from(["1", "a", '"x,y"', '""', "7.5"]), min_size=2, max_size=2),
    min_size=1,
    max_size=4,
)
payloads = st.one_of(
    st.binary(max_size=10),
    st.text(alphabet="ab1 \n(,)\"'", max_size=14).map(str.encode),
    values.map(lambda value: json.dumps(value).encode()),
    tables.map(lambda rows: "".join(",".join(row) + "\r\n" for row in rows).encode()),
    st.sampled_from([b"if a:\n    b(1)\n    if c:\n        d\n", b"\xef\xbb\xbfa,b\n1,2\n"]),
)


@given(payloads, odd_judges())
def test_only_progress_is_proposed_and_nothing_twice(payload: bytes, judge: Judge) -> None:
    best, seen = payload, {payload}

    for candidate, verdict in shrunk(payload, judge).told:
        assert TEXT.is_better(candidate.data, best)
        assert candidate.data not in seen
        seen.add(candidate.data)
        if verdict is Verdict.BAD:
            best = candidate.data


@given(payloads, odd_judges())
def test_the_result_is_the_last_bad_candidate(payload: bytes, judge: Judge) -> None:
    done = shrunk(payload, judge)

    bad = [candidate.data for candidate, verdict in done.told if verdict is Verdict.BAD]
    assert done.reduction.payload == (bad[-1] if bad else payload)
    assert done.reduction.is_minimal


@given(payloads, odd_judges(), st.integers(2, 9))
def test_the_number_of_jobs_changes_nothing(payload: bytes, judge: Judge, jobs: int) -> None:
    assert shrunk_ahead(payload, judge, jobs) == shrunk(payload, judge).reduction


@given(payloads, odd_judges())
def test_no_byte_line_token_or_word_can_go_alone(payload: bytes, judge: Judge) -> None:
    smallest = shrunk(payload, judge).reduction.payload

    for parse in (parse_bytes, parse_lines, parse_tokens, parse_words):
        bounds = parse(smallest).bounds
        for place in range(len(bounds) - 1):
            rest = smallest[: bounds[place]] + smallest[bounds[place + 1] :]
            assert not TEXT.is_better(rest, smallest) or judge(rest) is not Verdict.BAD


@given(values.map(lambda value: json.dumps(value).encode()), odd_judges())
def test_no_json_value_can_go_alone(payload: bytes, judge: Judge) -> None:
    smallest = shrunk(payload, judge, format_name="json").reduction.payload

    tree = parse_json(smallest)
    assert tree is not None
    for node in tree.nodes:
        spans = [(child.outer_start, child.end) for child in node.children]
        for cut in siblings(spans):
            rest = splice(smallest, [cut])
            assert not TEXT.is_better(rest, smallest) or judge(rest) is not Verdict.BAD
        for child in node.children:
            hoisted = smallest[: node.start] + smallest[child.start : child.end]
            hoisted += smallest[node.end :]
            assert not TEXT.is_better(hoisted, smallest) or judge(hoisted) is not Verdict.BAD


@given(tables, odd_judges())
def test_no_row_and_no_column_can_go_alone(rows: list[list[str]], judge: Judge) -> None:
    payload = "".join(",".join(row) + "\n" for row in rows).encode()
    smallest = shrunk(payload, judge, format_name="csv").reduction.payload

    table = parse_csv(smallest)
    if table is None:
        return
    rests = [smallest[: row.start] + smallest[row.end :] for row in table.rows]
    for column in range(max(len(row.cells) for row in table.rows)):
        cuts = [siblings(row.cells)[column] for row in table.rows if len(row.cells) > column]
        rests.append(splice(smallest, cuts))
    for rest in rests:
        assert not TEXT.is_better(rest, smallest) or judge(rest) is not Verdict.BAD


@given(payloads, odd_judges())
def test_the_statistics_add_up(payload: bytes, judge: Judge) -> None:
    done = shrunk(payload, judge)

    assert done.reduction.candidates == done.calls
    bad = sum(verdict is Verdict.BAD for _, verdict in done.told)
    assert sum(each.successes for each in done.reduction.passes) == bad
    saved = len(payload) - len(done.reduction.payload)
    assert sum(each.saved_bytes for each in done.reduction.passes) == saved
    assert {each.name for each in done.reduction.passes} == {each.by_pass for each, _ in done.told}
