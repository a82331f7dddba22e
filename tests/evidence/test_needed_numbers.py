"""Whether a run's line worked on small integers, on an iterator, or called `bool`: only there such a change is tried."""

from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.evidence.experiments.repairs import repairs_of
from whet.workbench.investigate.experiments.needed import is_met

NARROW = """\
import numpy as np

small, wide = np.arange(4, dtype="uint8"), np.arange(4)
{statement}  # here
assert wide.sum() == 7, wide.sum()
"""
ASKED = """\
kinds = {"dry": KIND}
for name, text in {"dry": "0"}.items():
    made = kinds[name](text)  # here
assert made == 7, made
"""


def met(folder: Path, program: str, words: str) -> bool:
    """Return whether a program's run had what its changes that say some words need."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    line = line_of(program, "# here")
    changes = [each for each in repairs_of(program) if words in each.what and each.line == line]
    assert changes
    return any(is_met(each.needs, str(folder / "main.py"), recording) for each in changes)


@pytest.mark.parametrize(
    ("statement", "is_narrow"),
    [
        ("less = small - small[::-1]", True), ("less = small - 1", True), ("small += small", True),
        ("less = np.diff(small)", True), ("less = wide - 1", False), ("less = small - wide", False),
        ("less = 3 - 4", False),
    ],
)  # fmt: skip
def test_only_operations_of_small_integers_are_tried_with_larger_ones(
    tmp_path: Path, *, statement: str, is_narrow: bool
) -> None:
    pytest.importorskip("numpy")
    program = NARROW.replace("{statement}", statement)
    assert met(tmp_path, program, "integers of a fixed size") is is_narrow


@pytest.mark.parametrize(("kind", "is_bool"), [("bool", True), ("int", False)])
def test_only_where_a_line_calls_bool_a_text_is_taken_otherwise(
    tmp_path: Path, *, kind: str, is_bool: bool
) -> None:
    program = ASKED.replace("KIND", kind)
    assert met(tmp_path, program, "any text but an empty one") is is_bool


LOOKED_UP = """\
from collections import defaultdict

seen = KIND
late = [each for each in [1, 3]
        if not seen[each]]  # here
assert len(seen) == 7, seen
"""


@pytest.mark.parametrize(
    ("kind", "makes_keys"), [("defaultdict(list, {1: [2]})", True), ("{1: [2], 3: []}", False)]
)
def test_only_of_a_dict_that_makes_its_keys_a_look_up_is_tried_that_makes_none(
    tmp_path: Path, *, kind: str, makes_keys: bool
) -> None:
    assert met(tmp_path, LOOKED_UP.replace("KIND", kind), "adds a key") is makes_keys


CHECKED = """\
def comparable(values):
    sorted(values)  # here
    return values


total = sum(comparable(GIVEN))
assert total == 6, total
"""


@pytest.mark.parametrize(("given", "is_once"), [("iter([1, 2, 3])", True), ("[1, 2, 2]", False)])
def test_what_is_gone_through_and_given_back_is_kept_where_it_can_be_gone_through_once(
    given: str, tmp_path: Path, *, is_once: bool
) -> None:
    program = CHECKED.replace("GIVEN", given)
    assert met(tmp_path, program, "`values` can be iterated only once") == is_once
