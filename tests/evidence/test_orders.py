"""A line that makes an order is named if the order that something else has lets it pass, and others don't."""

from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.core.observations.clue import Placing
from whet.evidence.experiments.changes import Change, text_with
from whet.workbench.investigate.experiments.orders import order_changes

ROWS = (
    "rows = [('d', 4), ('a', 1), ('e', 5), ('b', 2), ('c', 3)]\nids = [each for each, _ in rows]\n"
)
WRONG = {
    "rows that are sorted": ROWS + "rows.sort()  # here\nfound = dict(zip(ids, [n for _, n in rows]))\nassert found == {'d': 4, 'a': 1, 'e': 5, 'b': 2, 'c': 3}\n",
    "labels that are sorted": ROWS + "labels = sorted(ids)  # here\nfound = {k: n for k, (_, n) in zip(labels, rows)}\nassert found == {'d': 4, 'a': 1, 'e': 5, 'b': 2, 'c': 3}\n",
    "labels of a set": ROWS + "labels = sorted(set(ids))  # here\nfound = {k: n for k, (_, n) in zip(labels, rows)}\nassert found == {'d': 4, 'a': 1, 'e': 5, 'b': 2, 'c': 3}\n",
    "rows backwards": ROWS + "rows.reverse()  # here\nfound = dict(zip(ids, [n for _, n in rows]))\nassert found == {'d': 4, 'a': 1, 'e': 5, 'b': 2, 'c': 3}\n",
}  # fmt: skip
RIGHT = {
    "an order that doesn't matter": ROWS + "assert sum(n for _, n in sorted(rows)) == 16\n",
    "a wrong value": ROWS
    + "labels = sorted(set(ids))\nassert dict(zip(labels, 'vwxyz'))['a'] == 'u'\n",
}


def ends_well(text: str) -> bool:
    try:
        exec(compile(text, "main.py", "exec"), {"__name__": "__main__"})
    except (AssertionError, ValueError, ZeroDivisionError):
        return False
    return True


def shown(program: str, folder: Path) -> list[Change]:
    """Return the changes with which a program passes, and with at most one of its controls."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found: list[Change] = []
    for _, change in order_changes(recording, Placing(str(folder))):
        others = [
            Change(node=change.node, what="", instead="", edit=each) for each in change.beside
        ]
        passed = sum(ends_well(text_with(program, each)) for each in others)
        if ends_well(text_with(program, change)) and passed <= 1:
            found.append(change)
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_the_line_that_makes_another_order_than_what_it_is_used_with_is_named(
    kind: str, tmp_path: Path
) -> None:
    lines = {each.line for each in shown(WRONG[kind], tmp_path)}
    assert lines == {line_of(WRONG[kind], "# here")}


@pytest.mark.parametrize("kind", RIGHT)
def test_an_order_with_which_nothing_changes_is_no_cause(kind: str, tmp_path: Path) -> None:
    assert shown(RIGHT[kind], tmp_path) == []
