"""Two uses of one iterator, file or cursor: only a copy for the first one, or a cursor of its own, separates them."""

from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.core.observations.clue import Placing
from whet.evidence.experiments.changes import text_with
from whet.workbench.investigate.experiments.shared_uses import likely_changes, shared_changes

WRONG = {
    "a generator": (
        "def both(rows):\n    first = sum(rows)\n    return first, list(rows)  # here\n"
        "assert both(n for n in range(3)) == (3, [0, 1, 2])\n"
    ),
    "a map of a module": (
        "rows = map(int, '12')\ndef top():\n    return max(rows)\ndef least():\n    return min(rows, default=0)  # here\n"
        "assert top() - least() == 1\n"
    ),
    "an attribute": (
        "class Log:\n    def __init__(self):\n        self.rows = iter('ab')\n    def count(self):\n"
        "        return len([*self.rows])\nlog = Log()\n"
        "found = log.count()\nfound += len(list(log.rows))  # here\nassert found == 4\n"
    ),
    "a file": (
        "with open(__file__) as file:\n    names = [line for line in file if 'no' in line]\n"
        "    text = file.read()  # here\nassert text\n"
    ),
    "a search in an iterator": (
        "known = iter('abc')\nhas_c = 'c' in known\nhas_a = 'a' in known  # here\nassert has_a and has_c\n"
    ),
    "a cursor": (
        "import sqlite3\ncur = sqlite3.connect(':memory:').cursor()\ncur.execute('create table a(n)')\n"
        "cur.executemany('insert into a values (?)', [(1,), (2,)])\ntotal = 0\n"
        "for n, in cur.execute('select n from a'):\n"
        "    cur.execute('select sum(n) from a where n = ?', (n,))  # here\n"
        "    total += cur.fetchone()[0]\nassert total == 3\n"
    ),
}  # fmt: skip
RIGHT = {
    "a header that is read first": (
        "def head(lines):\n    return next(lines).split()\ndef rows(lines):\n    names = head(lines)\n"
        "    return [dict(zip(names, each.split())) for each in lines]\n"
        "assert rows(iter(['a', '1', 'x'])) == [{'a': '1'}, {'a': '2'}]\n"
    ),
    "a cursor whose rows are all read": (
        "import sqlite3\ncur = sqlite3.connect(':memory:').cursor()\nrows = cur.execute('select 1').fetchall()\n"
        "more = cur.execute('select 2').fetchall()\nassert rows + more == [(1,), (3,)]\n"
    ),
    "an iterator without an end": (
        "import itertools\nn = itertools.count()\na = next(n)\nb = next(n)\nassert a == b\n"
    ),
}  # fmt: skip


NUMBERED = (
    "def rest(rows):\n    for _ in range(2):\n        TAKES\n    return sum(rows)\n"
    "assert rest(iter([4, 3, 1])) == 8\n"
)


@pytest.mark.parametrize(
    ("takes", "is_meant"), [("next(rows)", True), ("print(next(rows))", False)]
)
@pytest.mark.parametrize("is_seen", [True, False])
def test_what_is_taken_and_thrown_away_is_mostly_meant(
    takes: str, *, is_meant: bool, is_seen: bool, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(NUMBERED.replace("TAKES", takes))
    recording, _ = recorded(tmp_path, said="AssertionError")
    at = Placing(str(tmp_path))
    paths = [str(tmp_path / "main.py")]
    offered = shared_changes(recording, at) if is_seen else likely_changes(paths, at)
    first = [change.is_telling for _, change in offered if change.line == 4]
    assert first
    assert set(first) == {not is_meant}
    assert {change.line for _, change in offered} == {4}


UNSEEN_WRONG = {
    "a search before a loop": (
        "def lines():\n    yield from 'abc'\ndef total():\n    found = lines()\n    if any(each == 'b' for each in found):\n"
        "        pass\n    n = 0\n    for each in found:  # here\n        n += 1\n    return n\nassert total() == 3\n"
    ),
    "one that is given": (
        "def count(rows):\n    n = 0\n    for _ in rows:\n        n += 1\n    return n\n"
        "def both(rows):\n    first = next(rows)\n    return first, count(rows)  # here\n"
        "assert both(iter('abc')) == ('a', 3)\n"
    ),
    "a test for membership": (
        "def both(rows):\n    known = 'b' in rows\n    return known, list(rows)  # here\n"
        "assert both(map(str.lower, 'ABC')) == (True, ['a', 'b', 'c'])\n"
    ),
}  # fmt: skip
UNSEEN_RIGHT = {
    "a list": (
        "def both(rows):\n    known = 'b' in rows\n    return known, list(rows)\n"
        "assert both(['a', 'b']) == (True, ['b'])\n"
    ),
    "two of their own": (
        "def rows():\n    yield from 'ab'\ndef both():\n    return 'b' in rows(), list(rows())\n"
        "assert both() == (True, ['b'])\n"
    ),
    "a header that is read first": (
        "def both(rows):\n    head = next(rows)\n    return [head + each for each in rows]\n"
        "assert both(iter('abc')) == ['ab', 'ac', 'ad']\n"
    ),
}  # fmt: skip


def passing(program: str, folder: Path, *, is_seen: bool = True) -> list[tuple[str, int]]:
    """Return the places of the changes with which a program passes."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found: list[tuple[str, int]] = []
    at = Placing(str(folder))
    offered = (
        shared_changes(recording, at) if is_seen else likely_changes([str(folder / "main.py")], at)
    )
    for path, change in offered:
        text = text_with(Path(path).read_text(), change)
        space = {"__name__": "__main__", "__file__": str(folder / "main.py")}
        try:
            exec(compile(text, path, "exec"), space)
        except (AssertionError, AttributeError, StopIteration, ZeroDivisionError):
            continue
        assert change.place is not None
        found.append((change.what, change.place[1]))
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_a_use_that_finds_an_object_used_up_is_named_at_the_later_line(
    kind: str, tmp_path: Path
) -> None:
    found = passing(WRONG[kind], tmp_path)
    assert {line for _, line in found} == {line_of(WRONG[kind], "# here")}


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_used_in_turns_on_purpose_is_no_cause(kind: str, tmp_path: Path) -> None:
    assert passing(RIGHT[kind], tmp_path) == []


def test_the_use_says_which_other_one_had_the_same_object(tmp_path: Path) -> None:
    said = {what for what, _ in passing(WRONG["a generator"], tmp_path)}
    assert said == {"`rows` is the same generator that main.py:2 has already read from"}


@pytest.mark.parametrize("kind", UNSEEN_WRONG)
def test_a_use_that_finds_an_object_used_up_is_found_without_a_record_of_the_run(
    kind: str, tmp_path: Path
) -> None:
    program = UNSEEN_WRONG[kind]
    found = passing(program, tmp_path, is_seen=False)
    assert {line for _, line in found} == {line_of(program, "# here")}


@pytest.mark.parametrize("kind", UNSEEN_RIGHT)
def test_what_has_no_position_or_is_used_in_turns_is_no_cause_without_a_record_either(
    kind: str, tmp_path: Path
) -> None:
    assert passing(UNSEEN_RIGHT[kind], tmp_path, is_seen=False) == []
