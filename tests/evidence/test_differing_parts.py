"""Of two containers that aren't equal, the part that differs is named and followed back."""

import ast
from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness
from whet.evidence.provenance.failure.differing import sides_of

TOTALS = """\
RATES = {"de": 0.19, "fr": 0.2, "at": 0.02}


def totals(orders):
    result = {}
    for country, price in orders:
        due = price * RATES[country]  # rate
        result[country] = result.get(country, 0) + due  # add
    return result


"""
ROWS = """\
def rows(people):
    out = []
    for name, age in people:
        grown = age + 1 if name.startswith(" ") else age
        out.append({"name": name, "age": grown * 1, "tags": [name[:1]]})  # row
    return out


made = rows([("ann", 3), (" bob", 4)])
"""


@pytest.mark.parametrize(
    "test",
    [
        'assert found == {"de": 19.0, "at": 20}',
        'assert {"de": 19.0, "at": 20} == found',
        'assert found == {"at": 20, "de": 19}, "they differ"',
        'if found == {"de": 19.0, "at": 20}:\n    pass\nelse:\n    raise ValueError("no")',
    ],
)
def test_the_value_of_a_dict_that_differs_is_named_with_the_line_that_made_it(
    tmp_path: Path, test: str
) -> None:
    program = f'{TOTALS}found = totals([("de", 100), ("at", 100)])\n{test}\n'
    (clue, *_) = clues(tmp_path, program)
    assert clue.says.startswith("`found['at']` is 2.0 and not 20 at ")
    assert clue.line == line_of(program, "# add")
    assert clue.sureness is Sureness.POSSIBLE


def test_a_part_deep_inside_is_named_with_all_keys_to_it(tmp_path: Path) -> None:
    wanted = '[{"name": "ann", "age": 3, "tags": ["a"]}, {"name": " bob", "age": 4, "tags": [" "]}]'
    program = f"{ROWS}assert made == {wanted}\n"
    (clue, *_) = clues(tmp_path, program)
    assert clue.says.startswith("`made[1]['age']` is 5 and not 4 at ")
    assert "(`grown * 1`)" in clue.says
    program = program.replace('"age": 4', '"age": 5').replace('[" "]', '["b"]')
    (clue, *_) = clues(tmp_path, program)
    assert clue.says.startswith("`made[1]['tags'][0]` is ' ' and not 'b' at ")


def test_an_element_that_the_other_side_has_not_is_named(tmp_path: Path) -> None:
    program = (
        "kept = []\n"
        "for name in ['ann', 'bob', 'eve']:\n"
        "    if len(name) > 2:\n"
        "        kept.append(name.upper())  # kept\n"
        "assert kept == ['ANN', 'BOB']\n"
    )
    (clue, *_) = clues(tmp_path, program)
    assert clue.says.startswith("`kept[2]` is 'EVE', and the other side has none at ")
    assert clue.line == line_of(program, "# kept")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[1, 2.0, True]", "[1.0, 2, 1]"),
        ("(1, 2)", "[1, 2]"),
        ("[1, 2, 3]", "[2, 3]"),
        ("[float('nan')]", "[float('nan')]"),
        ("{1, 2}", "{1, 3}"),
        ("list(range(5000))", "list(range(1, 5001))"),
    ],
)
def test_where_no_part_stands_for_the_difference_none_is_named(
    tmp_path: Path, left: str, right: str
) -> None:
    program = (
        f"def made(each):\n    return each\n\n\nfound = made({left})\nassert found == {right}, 1\n"
    )
    if left == "[1, 2.0, True]":
        program = program.replace("==", "!=")
    assert not [each for each in clues(tmp_path, program) if " and not " in each.says]


@pytest.mark.parametrize(
    ("name", "is_for_parts"),
    [
        ("assertEqual", True), ("assert_equal", True), ("assertListEqual", True), ("equals", True),
        ("assert_array_equal", True), ("assertCountEqual", False), ("assertAlmostEqual", False),
        ("assert_not_equal", False), ("equalize", False),
    ],
)  # fmt: skip
def test_only_what_compares_part_by_part_is_taken_for_a_comparison(
    name: str, *, is_for_parts: bool
) -> None:
    (statement,) = ast.parse(f"self.{name}(made, [1, 2])").body
    assert (sides_of(statement) is not None) == is_for_parts


DUES = """\
from datetime import date
from decimal import Decimal


def due(hours):
    return {name: Decimal(count) * Decimal("22.50") for name, count in hours.items()}  # due


"""


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (
            '{"ann": Decimal("180.0"), "bob": Decimal("202.50")}',
            "`found['bob']` is Decimal('180.00') and not",
        ),
        ('{"ann": Decimal("180.0"), "bob": Decimal("180")}', ""),
        ('{**found, "bob": Decimal("180")}', ""),
    ],
)
def test_a_part_that_is_made_of_literals_is_stated_too(
    tmp_path: Path, wanted: str, says: str
) -> None:
    program = f'{DUES}found = due({{"ann": 8, "bob": 8}})\nassert found == {wanted} and not found\n'
    if says:
        program = program.replace(" and not found", "")
    told = " ".join(each.says for each in clues(tmp_path, program))
    assert says in told
    assert ("and not" in told) is bool(says)


@pytest.mark.parametrize(("count", "is_told"), [("9", True), ("8", False)])
def test_what_a_statement_of_several_lines_called_on_its_first_one_is_looked_at(
    tmp_path: Path, count: str, *, is_told: bool
) -> None:
    program = f"{DUES}due({{'bob': 7}})\nassert due({{'ann': 8, 'bob': 8}}) == {{\n"
    program += (
        f"    'ann': Decimal('180.0'),\n    'bob': Decimal({count}) * Decimal('22.50'),\n}}\n"
    )
    program = program.replace(
        f"Decimal({count}) * Decimal('22.50')", f"Decimal('{int(count) * 22.5}')"
    )
    if not is_told:
        program = program.replace("\n}\n", "\n    'eve': Decimal('0'),\n}\n")
    told = " ".join(each.says for each in clues(tmp_path, program))
    assert ("['bob']` is Decimal('180.00') and not Decimal('202.5')" in told) is is_told
