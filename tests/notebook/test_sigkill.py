import random
import subprocess
import sys
from pathlib import Path

import killing
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("kills", [40, pytest.param(200, marks=pytest.mark.long)])
def test_sigkills_at_random_moments_leave_every_finished_trial_whole(
    tmp_path: Path, kills: int
) -> None:
    seed = random.SystemRandom().randrange(2**32)

    done = subprocess.run(
        [sys.executable, killing.__file__, str(tmp_path), str(seed), str(kills)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"seed {seed}\n{done.stderr}"
    died, ended, begun = map(int, done.stdout.split())
    assert died == kills
    assert ended > kills, "the load was no load"
    assert begun > ended, "no trial was under way when a whet was killed"
