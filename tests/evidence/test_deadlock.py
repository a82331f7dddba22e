"""Threads that wait for each other are named, each with its line; others are not."""

import pytest

from whet.core.observations.stack import ProcessStack, ThreadWait
from whet.evidence.stacks.deadlock import deadlock_sentence


def wait(thread: int, lock: str, holder: int) -> ThreadWait:
    return ThreadWait(
        thread=thread, name=f"T{thread}", lock=lock, holder=holder, path="/x/hang.py", line=thread
    )


@pytest.mark.parametrize(
    ("waits", "told"),
    [
        ([], ""),
        ([wait(1, "a", 2)], ""),
        ([wait(1, "a", 2), wait(2, "b", 3)], ""),
        ([wait(1, "a", 0), wait(2, "b", 1)], ""),
        (
            [wait(2, "a", 1), wait(1, "b", 2)],
            "T1 holds a, waits for b at hang.py:1; T2 holds b, waits for a at hang.py:2",
        ),
        ([wait(1, "a", 1)], "T1 holds a, waits for a itself at hang.py:1"),
        (
            [wait(3, "", 1), wait(1, "a", 3)],
            "T1 waits for a at hang.py:1; T3 holds a, waits for the end of T1 at hang.py:3",
        ),
        (
            [wait(9, "c", 1), wait(1, "a", 2), wait(2, "b", 1)],
            "T1 holds b, waits for a at hang.py:1; T2 holds a, waits for b at hang.py:2",
        ),
    ],
)
def test_only_a_circle_is_a_deadlock(waits: list[ThreadWait], told: str) -> None:
    said = deadlock_sentence([ProcessStack(pid=1), ProcessStack(pid=2, waits=tuple(waits))])

    assert said == (f"deadlock: {told}" if told else "")


def test_a_long_circle_is_cut() -> None:
    waits = [wait(each, f"lock{each}", (each + 1) % 9) for each in range(9)]

    assert deadlock_sentence([ProcessStack(pid=1, waits=tuple(waits))]).endswith("; and 5 more")
