"""Whatever processes do, and whenever a trial ends: afterwards nobody is left."""

import os
import random
import time

import pytest
from laboratory import Laboratory, outcome_of, spawners, specimen

from whet.host.process.process_tree import descendants_of


def _below_spawners() -> list[int]:
    return [pid for spawner in spawners() for pid in descendants_of(spawner)]


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [pytest.param(4), pytest.param(200, marks=pytest.mark.long)])
def test_nobody_outlives_a_trial_whatever_its_processes_do(
    laboratory: Laboratory, rounds: int
) -> None:
    chance = random.Random(20)
    laboratory.jobs = 2
    with laboratory.make() as executor:
        for _ in range(rounds):
            limit = chance.choice([None, chance.random() / 2])
            wild = specimen("wild.py", chance.randrange(10**6))
            trial = laboratory.trial("sh", "-c", '"$@"', "sh", *wild, wall_seconds=limit)
            futures = [executor.submit(trial) for _ in range(2)]
            if chance.random() < 0.3:
                time.sleep(chance.random() / 2)
                for future in futures:
                    future.cancel()
                # The next trial starts only when the one before is gone.
                outcome_of(executor.submit(laboratory.trial("true")))
                outcome_of(executor.submit(laboratory.trial("true")))
            else:
                for future in futures:
                    outcome = outcome_of(future)
                    assert outcome.timed_out or outcome.shell_exit_code in {5, 120, 137, 139}, (
                        outcome
                    )
                assert _below_spawners() == []
    assert descendants_of(os.getpid()) == []
