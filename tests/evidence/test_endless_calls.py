"""A `RecursionError` names the calls that come again and again, and what they are given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.clues.endless_calls import endless_clues
from whet.evidence.variables.kept_failure import kept_failures
from whet.host.inspect.failures import read_failures


def clues_of(folder: Path, program: str, data: str = "") -> list[Clue]:
    """Return what is said of a program that fails on its `data.jsonl`."""
    path = folder / "data.jsonl"
    path.write_text(data)
    (folder / "main.py").write_text(program)
    kept = folder / ".told"
    kept.mkdir()
    variables = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(kept), "WHET_LOCALS": "1"}
    subprocess.run(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    at = Placing(str(folder))
    return [
        clue
        for evidence in read_failures(kept)
        for failure in kept_failures(evidence.data)
        for clue in endless_clues(failure, failure.error, at, [(path, data)])
    ]


PROPERTY = """\
class Account:
    def __init__(self, name):
        self._name = name

    @property
    def name(self):
        return self.name

print(Account("ada").name)
"""
GETATTR = """\
class Proxy:
    def __init__(self, inner):
        self.__dict__["target"] = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

Proxy([]).append(3)
"""
EACH_OTHER = """\
class Shape:
    def width(self):
        return self.size()

    def size(self):
        return 2 * self.width()

Shape().size()
"""


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (PROPERTY, "`name` calls itself at main.py:7 with the same `self` each time"),
        (EACH_OTHER, "at main.py:6"),
    ],
)
def test_calls_that_hand_on_what_they_were_given_are_the_cause(
    tmp_path: Path, program: str, says: str
) -> None:
    (clue,) = clues_of(tmp_path, program)
    assert says in clue.says
    assert clue.sureness is Sureness.SEEN


def test_two_functions_that_call_each_other_are_both_named(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, EACH_OTHER)
    assert clue.says in {
        f"{calls}, with the same `self` each time"
        for calls in (
            "`width` calls `size` at main.py:3, which calls `width` at main.py:6",
            "`size` calls `width` at main.py:6, which calls `size` at main.py:3",
        )
    }


def test_an_attribute_that_is_missing_in_its_own_getter_is_named(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, GETATTR)
    assert clue.says.startswith("`__getattr__` calls itself at main.py:6")
    assert clue.line == 6


DRAIN = """\
def drain(queue):
    if not queue:
        return 0
    queue.append(queue[-1])
    return drain(queue)

drain([1])
"""


def test_one_that_branches_may_be_meant_to_end_by_what_it_was_given(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, DRAIN)
    assert clue.says == "`drain` calls itself at main.py:5 with the same `queue` each time"
    assert clue.sureness is Sureness.POSSIBLE
    assert "the condition that should end the calls" in clue.next_step


RING = """\
class Node:
    def __init__(self, name):
        self.name, self.next = name, None

def length(node):
    if node is None:
        return 0
    return 1 + length(node.next)

nodes = [Node(each) for each in "abc"]
for one, two in zip(nodes, nodes[1:] + nodes[:1]):
    one.next = two
print(length(nodes[0]))
"""


def test_data_that_leads_back_to_itself_is_possible_and_not_the_cause(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, RING)
    assert (
        clue.says == "`length` calls itself at main.py:8 with the same `node` again after 3 rounds"
    )
    assert clue.sureness is Sureness.POSSIBLE
    assert clue.next_step == "Find where the data leads back to itself."


def test_a_generator_in_a_function_is_that_function(tmp_path: Path) -> None:
    program = RING.replace("1 + length(node.next)", "sum(length(each) for each in [node.next])")
    (clue,) = clues_of(tmp_path, program)
    assert (
        clue.says == "`length` calls itself at main.py:8 with the same `node` again after 3 rounds"
    )


def test_what_changes_from_call_to_call_is_shown_with_its_last_values(tmp_path: Path) -> None:
    program = (
        "def fact(n):\n    if n == 0.5:\n        return 1\n    return n * fact(n - 1)\n\nfact(3)\n"
    )
    (clue,) = clues_of(tmp_path, program)
    assert clue.says.startswith(
        "`fact` calls itself at main.py:4 with another `n` each time (at last -9"
    )
    assert clue.sureness is Sureness.POSSIBLE
    assert clue.next_step == "Check the condition that should end it."


@pytest.mark.parametrize(
    "program",
    [
        "{}['a']\n",
        "def f(n):\n    return {}[n]\nf(1)\n",
        RING.replace("nodes[:1]", "[None]") + "print(nodes[9])\n",
    ],
)
def test_another_error_has_no_such_clue(tmp_path: Path, program: str) -> None:
    assert clues_of(tmp_path, program) == []


PARENTS = """\
import json

def depth(parents, node):
    above = parents[node]
    return 0 if above is None else 1 + depth(parents, above)

rows = [json.loads(line) for line in open("data.jsonl")]
parents = {row["id"]: row["parent"] for row in rows}
print(max(depth(parents, node) for node in parents))
"""


def _rows(parents: "list[int | str | None]", size: int = 900) -> str:
    rows = enumerate(parents)
    return "".join(json.dumps({"id": n, "parent": up, "size": size}) + "\n" for n, up in rows)


def test_records_that_lead_to_each_other_are_named_with_the_value_that_comes_again(
    tmp_path: Path,
) -> None:
    (clue,) = clues_of(tmp_path, PARENTS, _rows([None, 0, 0, 5, 1, 3, 2, 4]))

    assert "again after 2 rounds: `node` is" in clue.says
    assert "only the records at data.jsonl:4 and data.jsonl:6 have two of these" in clue.says
    assert clue.sureness is Sureness.POSSIBLE
    assert clue.next_step.startswith("Check data.jsonl:4 and data.jsonl:6")


def test_three_records_in_a_circle_are_named(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, PARENTS, _rows([None, 0, 0, 5, 3, 4, 2, 0]))

    assert "only the records at data.jsonl:4, data.jsonl:5 and data.jsonl:6 have" in clue.says


def test_no_record_of_a_circle_is_named_where_others_have_the_same_values(tmp_path: Path) -> None:
    rows = _rows([None, 0, 0, 5, 1, 3, 2, 4]) + '{"id": 8, "parent": 3, "size": 5}\n'
    (clue,) = clues_of(tmp_path, PARENTS, rows)

    assert "`node` is" in clue.says
    assert "data.jsonl" not in clue.says + clue.next_step


def test_a_program_that_goes_round_by_itself_names_no_record(tmp_path: Path) -> None:
    program = PARENTS.replace("parents[node]", "1 - node")
    (clue,) = clues_of(tmp_path, program, _rows([None, 0, 1]))

    assert "`node` is" in clue.says
    assert "data.jsonl" not in clue.says + clue.next_step
