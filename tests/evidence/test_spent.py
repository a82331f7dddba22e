"""The line that used up an iterator is told where another one needed it, and only there."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Clue, Sureness

ROWS = """\
def rows(text):
    for line in text.split(";"):
        yield float(line)


"""
COUNTED = (
    ROWS
    + """\
def counted(found, label):
    count = sum(1 for _ in found)
    print(label, count)
    return found


print(max(counted(rows("1;2"), "rows")))
"""
)
LISTED = (
    ROWS
    + """\
def mean(values):
    count = len(list(values))
    again = list(values)
    return again[0] / count


print(mean(rows("1;2")))
"""
)
KEPT = (
    ROWS
    + """\
class Batch:
    def __init__(self, text):
        self.rows = rows(text)

    def total(self):
        return sum(self.rows)

    def first(self):
        return next(iter(self.rows))


batch = Batch("1;2")
whole = batch.total()
assert max(batch.rows) == whole
"""
)

EMPTY = (
    ROWS
    + """\
found = (each for each in rows("1;2") if each > 5)
print(max(found))
"""
)
OTHER = (
    ROWS
    + """\
found = rows("1;2")
total = sum(found)
raise KeyError(total if found else 0)
"""
)
WHOLE = (
    ROWS
    + """\
found = list(rows("1;2"))
total = sum(found)
assert max(found) > total
"""
)
FILLED = (
    ROWS
    + """\
def check(values):
    return sum(1 for each in values if each > 5) == 0


def collected(values):
    found = EMPTY
    for each in values:
        FILL
    return found


def first(values):
    check(values)
    found = collected(values)
    return TAKE


print(first(rows("1;2")))
"""
)
TWO_LOOPS = (
    ROWS
    + """\
def collected(values, others):
    found = []
    for each in others:
        if each > 5:
            found.append(each)
    for each in values:
        found.append(each)
    return found


values = rows("1;2")
total = sum(values)
print(collected(values, [1, 2])[0])
"""
)


def told(found: list[Clue]) -> list[Clue]:
    return [each for each in found if "used it up" in each.says]


@pytest.mark.parametrize(
    ("program", "part"),
    [(COUNTED, "sum(1 for"), (LISTED, "len(list("), (KEPT, "sum(self.rows)")],
)
def test_the_line_that_used_it_up_is_the_cause(tmp_path: Path, program: str, part: str) -> None:
    first = clues(tmp_path, program)[0]

    assert told([first])
    assert (first.line, first.sureness) == (line_of(program, part), Sureness.SEEN)


@pytest.mark.parametrize("program", [EMPTY, OTHER, WHOLE])
def test_where_nothing_was_there_or_something_else_failed_nothing_is_told(
    tmp_path: Path, program: str
) -> None:
    assert not told(clues(tmp_path, program))


@pytest.mark.parametrize(
    ("empty", "fill", "take"),
    [
        ("[]", "found.append(each)", "found[0]"),
        ("set()", "found.add(each)", "max(found)"),
        ("{}", "found[each] = each", "found[1.0]"),
        ("{}", "found.setdefault(each, []).append(each)", "list(found)[0]"),
        ("__import__('collections').Counter()", "found[each] += 1", "found.most_common(1)[0]"),
    ],
)
def test_what_a_loop_was_to_fill_is_told_with_the_line_that_used_up_what_it_goes_through(
    tmp_path: Path, empty: str, fill: str, take: str
) -> None:
    program = FILLED.replace("EMPTY", empty).replace("FILL", fill).replace("TAKE", take)
    first = clues(tmp_path, program)[0]

    assert f"the loop at main.py:{line_of(program, 'for each in values:')} never ran" in first.says
    assert "had used up `values`" in first.says
    assert (first.line, first.sureness) == (line_of(program, "sum(1 for"), Sureness.SEEN)


def test_where_another_loop_went_through_something_and_added_nothing_it_may_be_that_one(
    tmp_path: Path,
) -> None:
    assert not [each for each in clues(tmp_path, TWO_LOOPS) if "never ran" in each.says]
