import random
import subprocess
import sys
from pathlib import Path

import killing
import pytest

KILLS = 200


@pytest.mark.slow
def test_200_sigkills_at_random_moments_leave_every_finished_trial_whole(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)

    done = subprocess.run(
        [sys.executable, killing.__file__, str(tmp_path), str(seed), str(KILLS)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"seed {seed}\n{done.stderr}"
    died, ended, begun = map(int, done.stdout.split())
    assert died == KILLS
    assert ended > KILLS, "the load was no load"
    assert begun > ended, "no trial was under way when a whet was killed"
