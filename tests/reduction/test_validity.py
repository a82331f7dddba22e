"""A payload that is valid in its own format stays valid while it is made smaller."""

import json
import sys
from pathlib import Path

import pytest

from whet.core.verdict import Verdict
from whet.reduction.preference import Preference
from whet.reduction.reducer import reducer_of
from whet.reduction.validity import lost_header, validity_of

VALID = {
    "a.json": (b'{"a": [1, 2]}', b'{"a": [1'),
    "a.jsonl": (b'{"a": 1}\n\n[2]\n', b'{"a": 1}\n[2'),
    "a.toml": (b"[a]\nb = 1\n", b"[a\nb = 1\n"),
    "a.py": (b"def f():\n    return 1\n", b"def f():\n"),
    "a.xml": (b"<a><b/></a>", b"<a><b/>"),
    "a.yaml": (b"a: [1, 2]\nb: 3\n", b"a: [1, 2\nb: 3\n"),
    "a.yml": (b"a: &x 1\nb: *x\n", b"b: *x\n"),
    "a.csv": (b"a,b\n1,2\n3,4\n", b"a,b\n1\n3,4\n"),
    "a.tsv": (b"a\tb\n1\t2\n", b"a\n1\t2\n"),
    "a.ini": (b"[a]\nb = 1\n", b"b = 1\n"),
}


@pytest.mark.parametrize("name", VALID)
def test_a_valid_payload_may_not_become_one_that_its_parser_refuses(name: str) -> None:
    valid, invalid = VALID[name]
    is_valid = validity_of(valid, name)
    assert is_valid is not None
    assert is_valid(valid)
    assert not is_valid(invalid)


@pytest.mark.parametrize("name", VALID)
def test_what_its_parser_refuses_need_not_become_valid(name: str) -> None:
    assert validity_of(VALID[name][1], name) is None


def test_a_table_may_lose_columns_rows_and_its_quotes() -> None:
    is_valid = validity_of(b'id,"na,me",x\n1,"b",2\n3,c,4\n', "a.csv")
    assert is_valid is not None
    for smaller in (b'id,"na,me"\n1,b\n', b"id\n1\n3", b"1,b,2\n", b""):
        assert is_valid(smaller), smaller


def test_it_is_known_whether_a_header_is_still_there() -> None:
    table = b"id,name\n1,ann\n2,bob\n"
    assert not lost_header(table, b"id,name\n1,b\n", "a.csv")
    assert not lost_header(table, b"name\nann", "a.csv")
    assert lost_header(table, b"1,ann\n", "a.csv")
    assert lost_header(table, b"0", "a.csv")
    assert not lost_header(b"x,1\ny,2\n", b"y,2\n", "a.csv")


def test_of_an_unknown_ending_nothing_is_asked() -> None:
    assert validity_of(b"{}", "a.dat") is None


def test_what_nests_too_deeply_for_a_parser_is_no_error() -> None:
    assert validity_of(b"[" * 100_000, "a.json") is None


def test_the_smallest_json_that_holds_a_word_is_json() -> None:
    payload = b'{"name": "edge", "list": [1, 2, {"crash": true}]}'
    preference = Preference(is_valid=validity_of(payload, "a.json"))
    search = reducer_of(payload, name="a.json", preference=preference).reduce()
    batch = next(search)
    best = b""
    try:
        while True:
            verdicts = [Verdict.BAD if b"crash" in each.data else Verdict.SKIP for each in batch]
            if Verdict.BAD in verdicts:
                verdicts = verdicts[: verdicts.index(Verdict.BAD) + 1]
            for each in batch:
                json.loads(each.data)
            batch = search.send(verdicts)
    except StopIteration as ended:
        best = ended.value.payload
    assert b"crash" in best
    assert json.loads(best)
    assert len(best) < len(payload) / 2


@pytest.mark.parametrize(
    "text", ["raise ImportError('libyaml.so is missing')", "from yaml._nothing import x", ""]
)
def test_a_broken_reader_of_yaml_makes_no_rule_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    pytest.importorskip("yaml")  # it is put back at the end, in place of the broken one
    (tmp_path / "yaml").mkdir()
    if text:  # else a folder of that name is all there is
        (tmp_path / "yaml" / "__init__.py").write_text(text)
    for name in [each for each in sys.modules if each.partition(".")[0] == "yaml"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    assert validity_of(b"a: 1\n", "a.yaml") is None
    assert reducer_of(b"a: 1\n", name="a.yaml") is not None
