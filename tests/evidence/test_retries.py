"""What each attempt of the same work makes anew: with what the first one made, the program passes."""

import sys
from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.evidence.experiments.changes import text_with
from whet.workbench.investigate.experiments.retries import retried_changes

LINK = """
import itertools

class Lost(Exception):
    pass

class Bank:
    def __init__(self):
        self.seen, self.booked, self.calls = {}, [], itertools.count()

    def post(self, key, cents):
        if key not in self.seen:
            self.seen[key] = True
            self.booked.append(cents)
        if next(self.calls) % 3 == 1:
            raise Lost
        return key

def retry(function):
    def call(*args):
        for _ in range(3):
            try:
                return function(*args)
            except Lost:
                pass
    return call

numbers = itertools.count(1)
bank = Bank()
"""
PAID = """
for cents in [5, 7, 7]:
    pay(cents)
assert bank.booked == [5, 7, 7], bank.booked
"""
WRONG = {
    "a call again": """
@retry
def pay(cents):
    key = f'pay-{next(numbers)}'  # here
    return bank.post(key, cents)
""",
    "an argument": """
import uuid
@retry
def pay(cents):
    return bank.post(
        cents=cents,
        key=str(uuid.uuid4()),  # here
    )
""",
    "a loop": """
def pay(cents):
    while True:
        key = next(numbers)  # here
        try:
            return bank.post(key, cents)
        except Lost:
            continue
""",
    "a loop in a loop": """
def pay_all(all_cents):
    for cents in all_cents:
        for _ in range(3):
            try:
                bank.post(('pay', next(numbers)), cents)  # here
                break
            except Lost:
                pass
def pay(cents):
    if cents == 5:
        pay_all([5, 7, 7])
""",
}
RIGHT = {
    "a key of its own for each": """
def pay(cents):
    key = next(numbers)
    for _ in range(3):
        try:
            return bank.post(key, cents)
        except Lost:
            pass
""",
    "another cause": """
import random
@retry
def pay(cents):
    waits = random.random() * 0
    return bank.post((cents, waits), cents)
""",
}


def passing(program: str, folder: Path) -> set[tuple[int, str]]:
    """Return the lines and words of the changes with which a program passes."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found = set[tuple[int, str]]()
    for path, change in retried_changes(recording):
        text = text_with(program, change)
        sys.__dict__.pop("whet_kept", None)
        assert text.count("\n") == program.count("\n")
        try:
            exec(compile(text, path, "exec"), {"__name__": "__main__"})
        except (AssertionError, TypeError):
            continue
        found.add((change.line, change.what))
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_what_each_attempt_makes_anew_is_named_where_it_is_made(kind: str, tmp_path: Path) -> None:
    program = LINK + WRONG[kind] + PAID
    found = passing(program, tmp_path)
    assert {line for line, _ in found} == {line_of(program, "# here")}
    assert all(" gives another value when " in what and "after Lost" in what for _, what in found)


@pytest.mark.parametrize("kind", RIGHT)
def test_what_differs_between_attempts_without_harm_is_no_cause(kind: str, tmp_path: Path) -> None:
    wanted = "[5, 7, 7]" if kind == "another cause" else "[5, 7]"
    program = LINK + RIGHT[kind] + PAID.replace("[5, 7, 7], bank", f"{wanted}, bank")
    assert passing(program, tmp_path) == set()


def test_items_that_fail_one_after_the_other_are_no_attempts_of_the_same(tmp_path: Path) -> None:
    program = "def read(text):\n    try:\n        return int(text)\n    except ValueError:\n        return 0\n"
    program += "total = sum(read(each) for each in ['1', 'x', 'y', '2'])\nassert total == 4\n"
    (tmp_path / "main.py").write_text(program)
    recording, _ = recorded(tmp_path, said="AssertionError")
    assert retried_changes(recording) == []
