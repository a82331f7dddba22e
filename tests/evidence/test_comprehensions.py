"""A comprehension is recorded alike, whether it has a frame of its own (Python 3.11) or none."""

import sys
from pathlib import Path

import pytest
from recorded_runs import recorded

from whet.evidence.provenance.run.recording import Call
from whet.evidence.provenance.run.source import COMPREHENSIONS

MADE = """\
def twice(number):
    return number * 2


class Table:
    widths = [len(name) for name in ("ab", "c")]


def table(rows):
    name = "outer"
    found = {
        name: [
            twice(each)
            for each in row
            if each
        ]
        for name, row in rows
    }
    for name in {name for name in found}:
        twice(len(found[name]))
    return found, [[twice(each) for each in row] for _, row in rows], name


class Count:
    def __aiter__(self):
        self.left = 2
        return self

    async def __anext__(self):
        if not self.left:
            raise StopAsyncIteration
        self.left -= 1
        return self.left


async def counted():
    return [twice(each) async for each in Count()]


import asyncio

asyncio.run(counted())
table([("a", [1, 2, 0]), ("b", [3])])
[1 // each for each in (1, 0)]
"""


# Function, caller, first line, rounds.
CALLS = [
    ("Table.<listcomp>", "Table", 6, 2),
    ("counted.<locals>.<listcomp>", "counted", 37, 2),
    ("table.<locals>.<dictcomp>", "table", 11, 2),
    ("table.<locals>.<dictcomp>.<listcomp>", "table.<locals>.<dictcomp>", 12, 3),
    ("table.<locals>.<dictcomp>.<listcomp>", "table.<locals>.<dictcomp>", 12, 1),
    ("table.<locals>.<setcomp>", "table", 19, 2),
    ("table.<locals>.<listcomp>", "table", 21, 2),
    ("table.<locals>.<listcomp>.<listcomp>", "table.<locals>.<listcomp>", 21, 3),
    ("table.<locals>.<listcomp>.<listcomp>", "table.<locals>.<listcomp>", 21, 1),
    ("<listcomp>", "<module>", 44, 2),
]
CALLERS = [
    *["counted.<locals>.<listcomp>"] * 2,
    *["table.<locals>.<dictcomp>.<listcomp>"] * 3,
    *["table"] * 2,
    *["table.<locals>.<listcomp>.<listcomp>"] * 4,
]
IS_UNSEEN = sys.version_info[:2] == (3, 12)  # what those of a module and a class go through with


def called_from(call: Call) -> str:
    return "" if call.parent is None else call.parent.code.name


@pytest.mark.slow
def test_a_comprehension_is_recorded_with_its_rounds(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MADE)
    recording, _ = recorded(tmp_path)
    made = [
        (
            call.code.name,
            called_from(call),
            call.code.first_line,
            sum(bool(step.has_changed & {"each", "name", "row"}) for step in call.steps),
        )
        for call in recording.calls
        if call.code.short in COMPREHENSIONS
    ]
    hidden_frame = {"Table", "<module>"} if IS_UNSEEN else set[str]()
    assert made == [
        (name, caller, line, 0 if caller in hidden_frame else rounds)
        for name, caller, line, rounds in CALLS
    ]
    callers = [called_from(each) for each in recording.calls if each.code.name == "twice"]
    assert callers == CALLERS
