"""A key is missing because a `continue` left out the only line that has it."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

PROGRAM = """\
import re

LINE = re.compile(r"(open|user|close) (\\d+)(?: (\\w+))?$")


def events(path):
    for line in open(path):
        match = LINE.match(line)
        if match is None:
            continue
        yield match.groups()


users, closed = {}, []
for kind, number, name in events("rows.log"):
    if kind == "user":
        users[int(number)] = name
    elif kind == "close":
        closed.append(int(number))
print([users[number] for number in closed])
"""
ROWS = [
    "open 4001", "user 4001 ann", "2 of 4 busy", "close 4001", "open 4002", "user 4002 eve-b",
    "close 4002",
]  # fmt: skip


def test_the_line_that_was_skipped_is_told_with_the_test_that_did_so(tmp_path: Path) -> None:
    found = clues(tmp_path, PROGRAM, rows_log="\n".join(ROWS) + "\n")
    assert found[0].line == line_of(PROGRAM, "if match is None")
    assert "has no 4002: main.py:10 skipped the record at rows.log:6 (`user 4002 eve-b`)" in (
        found[0].says
    )
    assert "`match is None`" in found[0].says
    assert found[0].next_step == "Check the record at rows.log:6, then main.py:9."


@pytest.mark.parametrize("rows", [[*ROWS, "note on 4002"], [*ROWS[:5], ROWS[6]]])
def test_where_none_or_several_lines_with_the_key_were_skipped_nothing_is_said_of_them(
    rows: list[str], tmp_path: Path
) -> None:
    found = clues(tmp_path, PROGRAM, rows_log="\n".join(rows) + "\n")
    assert found
    assert not any("skipped" in each.says for each in found)
