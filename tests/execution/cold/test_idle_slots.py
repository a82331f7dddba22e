"""Executors that are opened one after the other share their spawners, and nothing else."""

import os
import signal
from collections.abc import Iterator

import pytest
from laboratory import Laboratory, guardians, outcome_of

from whet.host.trial.idle_slots import IdleSlots


@pytest.fixture
def shared(laboratory: Laboratory) -> Iterator[Laboratory]:
    before = set(guardians())
    laboratory.idle_slots = IdleSlots()
    yield laboratory
    laboratory.idle_slots.close()
    assert set(guardians()) == before


def test_the_next_executor_starts_no_spawner(shared: Laboratory) -> None:
    before = set(guardians())
    shared.run(shared.trial("true"))
    idle = set(guardians()) - before

    outcome = shared.run(shared.trial("sh", "-c", "exit 3"))

    assert outcome.exit_code == 3
    assert set(guardians()) - before == idle
    assert len(idle) == 1


def test_two_executors_at_once_have_two(shared: Laboratory) -> None:
    shared.run(shared.trial("true"))
    with shared.make() as one, shared.make() as other:
        futures = [each.submit(shared.trial("sh", "-c", "exit 3")) for each in (one, other)]
        assert [outcome_of(each).exit_code for each in futures] == [3, 3]


def test_what_a_trial_leaves_behind_is_gone_before_the_next(shared: Laboratory) -> None:
    shared.run(shared.trial("sh", "-c", "sleep 1000 & echo $! > pid"))

    pid = int((shared.work / "pid").read_text())

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_spawner_that_was_killed_meanwhile_is_replaced(shared: Laboratory) -> None:
    before = set(guardians())
    shared.run(shared.trial("true"))
    for pid in set(guardians()) - before:
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert shared.run(shared.trial("sh", "-c", "exit 3")).exit_code == 3


def test_slots_that_come_back_late_are_closed(laboratory: Laboratory) -> None:
    before = set(guardians())
    laboratory.idle_slots = IdleSlots()
    with laboratory.make() as executor:
        assert outcome_of(executor.submit(laboratory.trial("true"))).exit_code == 0
        laboratory.idle_slots.close()

    assert set(guardians()) == before
