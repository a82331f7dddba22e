"""A test that finds nothing because what it compares only looks alike is told with both sides."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import clues, line_of, recorded

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.provenance.failure.suspects import failing_in
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.near_misses import NearMisses
from whet.evidence.provenance.trace.alike import difference, plain
from whet.evidence.provenance.trace.walk import Walk

JOIN = """\
def total(orders, table):
    amount = 0
    for sku in orders:
        price = table.get(sku)
        if price is not None:
            amount += price
    return amount

amount = total({orders}, {table})
assert amount > 0, "nothing sold"
"""


def misses(folder: Path, program: str, **files: str) -> list[Clue]:
    told = clues(folder, program, **files)
    return [each for each in told if "The two differ in their" in each.says]


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x17F), min_size=1))
def test_case_spaces_and_type_make_no_difference_to_a_reader(text: str) -> None:
    assert plain(repr(text)) == plain(repr(f" {text}\t")) == plain(repr(f"\ufeff{text}"))
    assert plain(repr(text)) == plain(repr(text.encode())) or not text.isascii()


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("'EU'", "'EU '", "spaces"),
        ("'kg'", "'Kg'", "case"),
        ("7", "'7'", "type"),
        ("b'a'", "'a'", "type"),
        ("'007'", "'7'", "way of writing a number"),
        ("0.30000000000000004", "0.3", "way of writing a number"),
        ("'\\ufeffid'", "'id'", "invisible characters"),
        ("'Jos\\xc3\\xa9'", "'Jos\\xe9'", "encoding"),
        ("'\\uff21'", "'A'", "form of characters"),
        ("datetime.date(2024, 1, 2)", "'2024-01-02'", "type"),
        ("datetime.datetime(2024, 1, 2, 0, 0)", "datetime.date(2024, 1, 2)", "type"),
    ],
)
def test_in_what_two_values_differ_is_named(one: str, other: str, said: str) -> None:
    assert plain(one) == plain(other)
    assert difference(one, other) == said


@pytest.mark.parametrize(("one", "other"), [("'a-1'", "'a-2'"), ("'10'", "'1'"), ("1.5", "15")])
def test_other_values_are_no_twins(one: str, other: str) -> None:
    assert plain(one) != plain(other)


def test_a_lookup_that_never_finds_its_key_is_named_with_the_twin(tmp_path: Path) -> None:
    program = JOIN.format(
        orders='[f"a{n:03} " for n in range(9)]', table='{f"A{n:03}": n for n in range(200)}'
    )
    (clue,) = misses(tmp_path, program)
    assert clue.line == line_of(program, "table.get")
    assert (
        "found nothing each of the 9 times: `sku` was 'a000 ' and `table` has 'A000'" in clue.says
    )
    assert clue.sureness is Sureness.SEEN


def test_only_what_is_told_to_be_alike_is_not_told_again_whatever_a_sentence_names(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(JOIN.format(orders="[7, 8, 9]", table='{"7": 1}'))
    recording, _ = recorded(tmp_path)
    sources = Sources()
    failing = failing_in(recording, sources, lambda _path, _line: None)
    assert failing is not None
    walk, at = Walk(recording, sources), Placing(str(tmp_path))
    misses_of = NearMisses(recording, sources, at, walk, lambda _: None)

    named = Clue(says="main.py:7 has 7 and '7'", why="w")
    alike = Clue(says="s", why="w", alike=frozenset({"7", "'7'"}))
    assert len(list(misses_of.clues(failing, [named]))) == 1
    assert not list(misses_of.clues(failing, [named, alike]))


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        pytest.param("if sku in table:", "was false", id="in"),
        pytest.param("if sku not in table: continue\n        else:", "was true", id="not in"),
        pytest.param("for _ in wanted & known:", "found nothing", id="sets"),
        pytest.param("for _ in wanted.intersection(known):", "found nothing", id="intersection"),
        pytest.param("if Counter(table)[sku]:", "found nothing", id="counter"),
    ],
)
def test_other_ways_to_look_something_up_are_seen(tmp_path: Path, line: str, outcome: str) -> None:
    program = JOIN.format(orders="['1', '2', '3']", table="{1: 5, 2: 6, 3: 7}")
    program = program.replace("price = table.get(sku)", "wanted = {sku}").replace(
        "if price is not None:\n            amount += price", f"{line}\n            amount += 1"
    )
    program = program.replace("Counter(table)", "counts").replace(
        "amount = 0\n", "amount, counts, known = 0, Counter(table), set(table)\n"
    )
    (clue,) = misses(tmp_path, f"from collections import Counter\n{program}")
    assert outcome in clue.says
    assert "differ in their type only" in clue.says


def test_one_record_that_misses_what_the_others_meet_is_named(tmp_path: Path) -> None:
    program = """\
import csv

def kilos(rows):
    total = 0.0
    for row in rows:
        if row["unit"] == "kg":
            total += float(row["amount"])
        else:
            total += float(row["amount"]) / 1000
    return total

with open("goods.csv", newline="") as file:
    total = kilos(list(csv.DictReader(file)))
assert round(total, 3) == 10.5, total
"""
    table = "name,unit,amount\nbolt,kg,3\nnut,kg,2\nwire,Kg,4\ntape,g,500\nglue,kg,1\n"
    (clue,) = misses(tmp_path, program, goods_csv=table)
    assert "was false 1 of the 5 times" in clue.says
    assert "goods.csv:4" in clue.record
    assert clue.sureness is Sureness.POSSIBLE


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            JOIN.format(orders="['x', 'y', 'z']", table="{'a': 1, 'b': 2, 'c': 3}"), id="unrelated"
        ),
        pytest.param(
            JOIN.format(orders="['a', 'b']", table="{'a': -1, 'b': -2, 'A': 3}"), id="met"
        ),
        pytest.param(
            "seen = set()\nfor word in ('The', 'the', 'THE', 'a'):\n    if word in seen:\n"
            "        continue\n    seen.add(word)\nassert len(seen) == 5\n",
            id="collected",
        ),
        pytest.param(
            "names = [' Ann', 'Bo ']\nclean = [each for each in names if each == each.strip()]\n"
            "assert clean, names\n",
            id="its own difference is asked for",
        ),
        pytest.param(JOIN.format(orders="[1.0, 2.0]", table="{1: -1, 2: -1}"), id="equal numbers"),
    ],
)
def test_a_test_that_misses_nothing_is_not_told(tmp_path: Path, program: str) -> None:
    assert misses(tmp_path, program) == []
