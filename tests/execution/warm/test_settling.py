"""What is saved while a copy makes itself ready for an earlier save."""

import threading
from collections.abc import Callable
from concurrent.futures import wait

import pytest
from laboratory import Laboratory
from workshop import SLOW, opened, outcome_of

from whet.core.limits import Limits
from whet.core.room import Room

BEGIN = f"import other\n{SLOW}"


@pytest.mark.parametrize(
    "later",
    [
        {"main.py": f"{BEGIN}print('later', other.said())\n"},
        {"other.py": "def said():\n    return 'other'\n"},
        pytest.param({"main.py": f"{BEGIN}print('later'\n"}, marks=pytest.mark.long),
        pytest.param(
            {"other.py": "def said():\n    return open('data').read()\n", "data": "3\n"},
            marks=pytest.mark.long,
        ),
        {"data": "2\n"},
        {"data": None},
        pytest.param({"main.py": f"import os\n{BEGIN}print('later')\n"}, marks=pytest.mark.long),
    ],
)
def test_the_answer_is_that_of_what_was_saved_last(
    laboratory: Laboratory, later: dict[str, str | None]
) -> None:
    to_do: list[Callable[[], None]] = []

    def settle() -> None:
        while to_do:
            to_do.pop()()

    with opened(laboratory, settle=settle) as workshop:
        text = f"{BEGIN}print(other.said(), open('data').read())\n"
        workshop.write({"main.py": text, "other.py": "def said():\n    return 1\n", "data": "1\n"})
        workshop.run()
        workshop.write({"main.py": f"{text}print('edited')\n"})
        to_do.append(lambda: workshop.write(later))

        workshop.run()

        assert not to_do


@pytest.mark.parametrize("limits", [Limits(), Limits(files=200), Limits(room=Room())])
def test_a_run_from_the_start_begins_with_what_was_saved_last(
    laboratory: Laboratory, limits: Limits
) -> None:
    with opened(laboratory, settle=lambda: workshop.write({"main.py": "print(2)\n"})) as workshop:
        workshop.write({"main.py": "print(1)\n"})
        workshop.limits = limits

        assert outcome_of(workshop).stdout.head(100) == b"2\n"


def test_the_copy_stays_that_made_itself_ready_for_the_earlier_one(laboratory: Laboratory) -> None:
    to_do: list[Callable[[], None]] = []

    def settle() -> None:
        while to_do:
            to_do.pop()()

    with opened(laboratory, settle=settle) as workshop:
        workshop.write({"main.py": f"{SLOW}print('first')\n"})
        workshop.run()
        workshop.write({"main.py": f"{SLOW}print('second')\n"})
        to_do.append(lambda: workshop.write({"main.py": f"{SLOW}print('third')\n"}))
        outcome = workshop.run()

        assert outcome.stdout.head(100) == b"third\n"
        assert workshop.starts[-1].place
        assert not workshop.starts[-1].why_not_deeper


@pytest.mark.parametrize("is_given_up", [False, True], ids=["in the same run", "in the next run"])
def test_what_a_save_has_changed_can_be_taken_back_meanwhile(
    laboratory: Laboratory, *, is_given_up: bool
) -> None:
    to_do: list[Callable[[], object]] = []

    def settle() -> None:
        while to_do:
            to_do.pop()()

    with opened(laboratory, settle=settle) as workshop:
        files: dict[str, str | None] = {"main.py": f"{SLOW}print('first')\n"}
        workshop.write(files)
        workshop.run()
        workshop.write({"main.py": f"{SLOW}print('second')\n"})
        to_do.append(lambda: workshop.write(files))
        if is_given_up:
            given_up = threading.Event()
            to_do.append(lambda: given_up.wait(20))
            future = workshop.warm.submit(workshop.trial())
            future.cancel()
            given_up.set()
            wait([future])

        outcome = workshop.run()

        assert outcome.stdout.head(100) == b"first\n"
        assert workshop.starts[-1].place


def test_a_run_that_is_given_up_meanwhile_does_not_go_on(laboratory: Laboratory) -> None:
    gates: list[threading.Event] = []

    def settle() -> None:
        for gate in gates:
            gate.wait(20)

    with opened(laboratory, settle=settle) as workshop:
        workshop.write({"main.py": f"{SLOW}print('first')\n"})
        workshop.run()
        workshop.write({"main.py": f"{SLOW}print('second')\n"})
        gates.append(threading.Event())
        future = workshop.warm.submit(workshop.trial())
        while not future.running():
            pass
        future.cancel()
        workshop.write({"main.py": f"{SLOW}while True: pass\n", "other.py": "pass\n"})
        gates[0].set()

        # It waits until the other one is over.
        assert workshop.warm.submit(workshop.trial("other.py")).result(timeout=20).exit_code == 0
