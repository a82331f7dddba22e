"""Where a flaky failure depends on the order of a set, the place that goes through it is named."""

import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable

FIRST_MATCH = """\
import sys
UNITS = {"s": 1.0, "ms": 0.001, "m": 60.0}

class Reader:
    def __init__(self, without=()):
        self.units = set(UNITS) - set(without)
        self.seen = set()

    def seconds(self, text):
        self.seen.add(text)
        for unit in self.units:
            if text.endswith(unit):
                return float(text.rstrip("ms")) * UNITS[unit]

reader = Reader()
total = sum(reader.seconds(each) for each in ["250ms", "1s", "2m"])
print(", ".join(sorted(reader.seen)))
if total > 200:
    sys.exit(f"{total} seconds are too many")
"""
LAST_ONE = """\
import sys
def settings(layers):
    names = {"default", "user", "system"}
    found = {}
    for name in list(names):
        found.update(layers[name])
    return found
found = settings({"default": {"depth": 1}, "user": {"depth": 3}, "system": {}})
if found["depth"] != 3:
    sys.exit("the user's depth is lost")
"""
TWO_PLACES = """\
import sys
names = {"a", "b", "c", "d"}
one = next(iter(names))
other = list(names)[0]
if one == other == "a":
    sys.exit("both are a")
"""
HASHES = """\
import sys
SHARDS = 2
def shard(name):
    return hash(name) % SHARDS
names = {"anna", "bela", "carl", "dora", "emil"}
rows = [[], []]
for name in names:
    rows[shard(name)].append(name)
print(sorted(names))
if max(map(len, rows)) > 3:
    sys.exit("a shard is too full")
"""
NO_SET = "import sys\nif hash('a') % 2: sys.exit('odd')\nprint(sorted({'b', 'c'}))\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "source", "line"), [(FIRST_MATCH, "self.units", 11), (LAST_ONE, "names", 5)]
)
def test_the_place_whose_order_decides_is_the_cause(
    whet: Whet, program: str, source: str, line: int
) -> None:
    whet.write("main.py", program)

    said = whet("investigate", "--budget", "3m", "--", PYTHON, "main.py")

    answer = " ".join(said.stdout.split())
    assert f"cause: `{source}` at main.py:{line} is a set, and its order decides" in answer
    assert "how sure: shown" in answer


@pytest.mark.long
def test_a_hash_that_decides_is_the_cause_and_no_set_is(whet: Whet) -> None:
    whet.write("main.py", HASHES)

    said = whet("investigate", "--budget", "3m", "--", PYTHON, "main.py")

    answer = " ".join(said.stdout.split())
    assert "cause: `hash(name)` at main.py:4 is another number in each run, and decides: " in answer
    assert "how sure: shown" in answer
    assert "order of sets decides" not in answer
    assert "Sort the set" not in answer
    assert "it depends on the order of a set, which" not in answer


@pytest.mark.long
@pytest.mark.parametrize("program", [TWO_PLACES, NO_SET])
def test_no_place_is_named_where_none_decides_alone(whet: Whet, program: str) -> None:
    whet.write("main.py", program)

    said = whet("investigate", "--budget", "3m", "--", PYTHON, "main.py")

    assert "and its order decides" not in said.stdout


FOURTH = """\
import sys
with open("runs", "a+") as runs:
    runs.write("x")
    runs.seek(0)
    if len(runs.read()) % 4:
        sys.exit("not the fourth run")
"""


@pytest.mark.slow
def test_what_fails_three_times_and_then_passes_is_not_said_to_fail_always(whet: Whet) -> None:
    whet.write("main.py", FOURTH)

    said = whet("investigate", "--budget", "3m", "--", PYTHON, "main.py")

    assert "run 4: GOOD" in said.stdout + said.stderr
    assert "flaky: it failed the same way in" in said.stdout + said.stderr
    assert "in each of" not in said.stdout
