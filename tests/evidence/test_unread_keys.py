"""A name in a data file that is no key of the program is tried as one that is spelt nearly like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.experiments.unread_keys import unread_keys

PROGRAM = """\
DEFAULTS = {"part_size_mb": 0, "parallel": 4}


class Options:
    time_zone: str = "UTC"


def split(size, part_size):
    return settings["retries"], row["amount"], options.batch
"""


def told(name: str, text: str, program: str = PROGRAM) -> list[tuple[int, str, str]]:
    return [(each.line, each.name, each.instead) for each in unread_keys(name, text, [program])]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.toml", "[upload]\npart_size = 3\nparallel = 2\n", [(2, "part_size", "part_size_mb")]),
        ("a.ini", "[x]\nretires: 3\n", [(2, "retires", "retries")]),
        ("a.env", "export TIMEZONE=CET\nBATCH=3\n", []),
        ("a.env", "export timezone=CET\n", [(1, "timezone", "time_zone")]),
        ("a.yaml", "jobs:\n  - paralell: 3\n", [(2, "paralell", "parallel")]),
        ("a.json", '{"options": {"bacth": 3}}', [(1, "bacth", "batch")]),
        ("a.csv", "day,amuont\n1,2\n", [(1, "amuont", "amount")]),
        ("a.txt", "part_size = 3\n", []),
        ("a.toml", "part-size-mb = 3\n", []),
        ("a.toml", "part_size = 3\npart_size_mb = 3\n", []),
    ],
)
def test_only_a_name_that_is_no_key_and_is_like_one_is_told(
    name: str, text: str, expected: list[tuple[int, str, str]]
) -> None:
    assert told(name, text) == expected


def test_a_parameter_is_a_key_only_where_a_call_takes_a_whole_mapping() -> None:
    text = "part_size = 3\n"
    assert told("a.toml", text) == [(1, "part_size", "part_size_mb")]
    assert told("a.toml", text, PROGRAM + "split(**options)\n") == []


def test_a_key_that_an_f_string_may_make_is_left_alone() -> None:
    text = "net_price_eur = 3\n"
    program = "x = row['price_eur']\n"
    assert told("a.toml", text, program) == [(1, "net_price_eur", "price_eur")]
    assert told("a.toml", text, program + "y = row[f'{kind}_price_eur']\n") == []


@given(st.text("abc_=:\n \"'[],{}", max_size=60), st.sampled_from(["toml", "json", "csv", "yaml"]))
def test_the_changed_file_has_the_key_of_the_program_and_nothing_else_is_changed(
    text: str, kind: str
) -> None:
    program = "x = ['abc_a', 'bac', 'cab_bc']\n"
    for each in unread_keys(f"a.{kind}", text, [program]):
        assert each.instead in each.text
        assert each.text.replace(each.instead, each.name) == text.replace(each.instead, each.name)
        assert 1 <= each.line <= text.count("\n") + 1
