"""whet killed by SIGKILL while a trial runs: no process stays, and the next whet tidies up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo

from whet.execution.futures import TrialFuture
from whet.host.belongings import Belongings
from whet.host.process_tree import children_of

_WHET = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from laboratory import Laboratory
laboratory = Laboratory(Path(sys.argv[1]))
laboratory.payloads["d"] = b"payload"
executor = laboratory.make()
trial = laboratory.trial("sh", "-c", sys.argv[2])
executor.submit(trial).result()
"""


def _start(folder: Path, script: str) -> "subprocess.Popen[bytes]":
    program = _WHET.format(tests=str(Path(__file__).parent))
    return subprocess.Popen([sys.executable, "-c", program, str(folder), script])


def _tree(laboratory: Laboratory) -> list[str]:
    return [path.name for path in (laboratory.folder / "tmp").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("and_its_spawner", [False, True], ids=["whet", "whet and its spawner"])
def test_nothing_stays_when_whet_is_killed(laboratory: Laboratory, and_its_spawner: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    inner = laboratory.folder / "inner"
    inner.mkdir()
    with fifo(laboratory.folder) as held:
        daemon = f"setsid sh -c 'exec 9>{held.path}; echo up >&9; sleep 1000' & sleep 1000"
        with _start(inner, f"exec 9>{held.path}; {daemon}") as whet:
            held.wait_for_a_word()
            assert len(_tree(laboratory)) == 1
            spawners = children_of(whet.pid)
            if and_its_spawner:
                for pid in (whet.pid, *spawners):
                    os.kill(pid, signal.SIGSTOP)  # so that neither sees the other's end
                for pid in (*spawners, whet.pid):
                    os.kill(pid, signal.SIGKILL)
            whet.kill()
        if and_its_spawner:
            Belongings(inner / "made").sweep()
        held.wait_until_all_are_dead()

    Belongings(inner / "made").sweep()
    assert _tree(laboratory) == []
    assert list((inner / "made").iterdir()) == []


@pytest.mark.slow
def test_the_program_ends_at_once_when_whet_and_its_spawner_are_killed(
    laboratory: Laboratory,
) -> None:
    inner = laboratory.folder / "inner"
    inner.mkdir()
    with fifo(laboratory.folder) as held:
        with _start(inner, f"exec 9>{held.path}; echo up >&9; exec sleep 1000") as whet:
            held.wait_for_a_word()
            spawners = children_of(whet.pid)
            for pid in (whet.pid, *spawners):
                os.kill(pid, signal.SIGSTOP)
            for pid in (*spawners, whet.pid):
                os.kill(pid, signal.SIGKILL)
        held.wait_until_all_are_dead()  # no other whet has come
    Belongings(inner / "made").sweep()


def test_an_exception_in_a_search_ends_everything(laboratory: Laboratory) -> None:
    laboratory.jobs = 2
    with fifo(laboratory.folder) as held:
        script = f"exec 9>{held.path}; echo up >&9; sleep 1000"

        def search() -> None:
            with laboratory.make() as executor:
                futures.extend(
                    executor.submit(laboratory.trial("sh", "-c", script)) for _ in range(3)
                )
                held.wait_for_a_word()
                raise KeyboardInterrupt

        futures: list[TrialFuture] = []
        with pytest.raises(KeyboardInterrupt):
            search()

        held.wait_until_all_are_dead()
    assert all(future.cancelled() for future in futures)
