"""The clock may be set while whet is at work."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.faults.clock import set_clock
from set_clock import under_clock

HOUR = 3600
AFTER = """
import sys
from contextlib import ExitStack
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from benchmarks.faults.clock import set_clock
from whet.host.files.file_times import SLACK_NS, Moment
from whet.host.code.saves import is_later

clock, file = map(Path, sys.argv[2:4])
moment = Moment()
assert not moment.is_doubtful
file.touch()
then = file.stat().st_ctime_ns
set_clock(clock, int(sys.argv[4]))
# Their clock may be so much behind, and after a tick that came late it still is for another one.
while file.stat().st_ctime_ns <= then + SLACK_NS:
    file.touch()
print(moment.is_doubtful, is_later(str(file), moment.ns), 0 <= moment.age_ns < 60e9)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"), [(0, 0), (HOUR, 0), (30 * HOUR, 0), (0, HOUR), (0, -HOUR)]
)
def test_what_is_saved_after_the_clock_was_set_is_later(
    tmp_path: Path, before: int, after: int
) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, before)

    with ExitStack() as undone:
        said = subprocess.run(
            [
                *[sys.executable, "-c", AFTER, str(Path(__file__).parents[3])],
                *[str(clock), str(tmp_path / "file"), str(after)],
            ],
            env={**os.environ, **under_clock(clock, undone)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert said.stderr == ""
    assert said.stdout == f"{before != after} True True\n"


@pytest.mark.slow
def test_programs_that_are_killed_under_a_clock_leave_nothing(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    set_clock(clock, HOUR)
    shows = "import os; print(os.environ['FAKETIME_SHARED'], flush=True); os.kill(os.getpid(), 9)"
    with ExitStack() as undone:
        variables = under_clock(clock, undone)
        said = subprocess.run(
            ["sh", "-c", f'"{sys.executable}" -c "{shows}"; "{sys.executable}" -c "{shows}"; :'],
            env={**os.environ, **variables}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    names = set(said.stdout.split())
    assert names == set(variables["FAKETIME_SHARED"].split())  # none took names of its own
    left = {path.name.removeprefix("sem.") for path in Path("/dev/shm").iterdir()}
    assert not left & {name.removeprefix("/") for name in names}
