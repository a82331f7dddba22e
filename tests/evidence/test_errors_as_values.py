"""An error that something has handed on as a value is the cause where the program uses it as one."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

GATHERED = """\
import asyncio


async def fetch(shard):
    host = shard["hosts"][0]
    return {"host": host, "rows": 3}


def total(answers):
    count = 0
    for answer in answers:
        count += answer["rows"]
    return count


async def main():
    shards = [{"hosts": ["a"]}, {"hosts": []}]
    print(total(await asyncio.gather(*map(fetch, shards), return_exceptions=True)))


asyncio.run(main())
"""
POOLED = """\
from concurrent.futures import ThreadPoolExecutor


def read(text):
    return int(text)


def outcome(job):
    return job.exception() or job.result()


with ThreadPoolExecutor(1) as pool:
    jobs = [pool.submit(read, each) for each in ("1", "x")]
    found = [outcome(each) for each in jobs]
print(sum(found))
"""
KEPT = """\
def tried(text):
    try:
        return float(text)
    except ValueError as error:
        return error


half = tried("3,5") / 2
print(half)
"""
NAMED = """\
def tried(text):
    try:
        return float(text)
    except ValueError as error:
        return error


errors = [each for each in map(tried, ("1", "x")) if isinstance(each, ValueError)]
print(errors[0].nothing)
"""
OTHER = """\
def tried(text):
    try:
        return float(text)
    except ValueError as error:
        return error


first, second = tried("x"), None
print(second["rows"], first)
"""
SAID = "was raised"


@pytest.mark.parametrize(
    ("program", "part"),
    [(GATHERED, 'shard["hosts"][0]'), (POOLED, "int(text)"), (KEPT, "float(text)")],
    ids=["gathered", "pooled", "kept"],
)
def test_an_error_that_is_used_as_a_value_is_told_where_it_was_raised(
    tmp_path: Path, program: str, part: str
) -> None:
    first, *_ = clues(tmp_path, program)

    assert (first.line, first.sureness) == (line_of(program, part), Sureness.SEEN)
    assert "is the" in first.says
    assert SAID in first.says


@pytest.mark.parametrize("program", [NAMED, OTHER], ids=["meant", "another value"])
def test_an_error_is_no_cause_where_it_is_meant_or_another_value_fails(
    tmp_path: Path, program: str
) -> None:
    said = [each for each in clues(tmp_path, program) if each.sureness is Sureness.SEEN]

    assert not any(SAID in each.says for each in said)


PART = """\
import json

with open("shards.json") as file:
    shards = json.load(file)
for shard in shards:
    print(shard["hosts"][0])
"""


def test_a_part_of_what_was_read_has_not_become_so_later(tmp_path: Path) -> None:
    rows = '[{"hosts": ["a"]},\n {"hosts": []}]\n'

    said = [each.says for each in clues(tmp_path, PART, shards_json=rows)]

    assert any("is empty" in each for each in said)
    assert not any("later" in each for each in said)


def test_what_was_emptied_after_it_was_made_has_become_so_later(tmp_path: Path) -> None:
    program = 'rows = sorted([3, 1])\nfound = {"rows": rows}\nwhile rows:\n    rows.pop()\nprint(found["rows"][0])\n'

    (first, *_) = clues(tmp_path, program)

    assert "and became so later" in first.says
