"""A default that was taken for a key that is hardly another one than a key that is there is told."""

from pathlib import Path

import pytest
from recorded_runs import clues

CUT = """\
PRICES = {"pears": 3.0, "plum": 4.0}


def fruit(line):
    return line.strip("\\n s")


def total(lines):
    return sum(PRICES.get(fruit(each), 1.0) for each in lines)


found = total(["pears\\n", "plum\\n", "figs\\n"])
assert found == 8.0, found
"""


def told(folder: Path, program: str) -> list[tuple[int, str]]:
    return [
        (each.line, each.says) for each in clues(folder, program) if "took the default" in each.says
    ]


def test_a_key_that_was_cut_short_is_named_where_it_was_made(tmp_path: Path) -> None:
    (found,) = told(tmp_path, CUT)
    assert found[0] == 5
    assert "asked `PRICES` for 'pear', and took the default; it has 'pears'" in found[1]


@pytest.mark.parametrize("other", ["pear2", "apple", "pe"])
def test_a_key_that_is_another_one_is_not_told(other: str, tmp_path: Path) -> None:
    program = CUT.replace('{"pears"', f'{{"{other}"')
    assert not told(tmp_path, program)


def test_a_key_that_was_asked_for_too_is_not_told(tmp_path: Path) -> None:
    program = CUT.replace('{"pears"', '{"pearl"').replace("figs", "pearl").replace("8.0", "9.0")
    assert not told(tmp_path, program)


def test_keys_that_look_the_same_are_told(tmp_path: Path) -> None:
    program = (
        "rooms = {'caf\\u00e9': 4}\n"
        "def seats(names):\n"
        "    return [rooms.get(each) for each in names]\n"
        "found = seats(['cafe\\u0301'])\n"
        "assert found[0] == 4\n"
    )
    (found,) = (each.says for each in clues(tmp_path, program) if "was not asked for" in each.says)
    assert "and got `None`" in found
    assert "looks the same, but is of other characters" in found
