"""whet killed by SIGKILL while a trial runs: no process stays, and the next whet tidies up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo, guardians, spawners, until

from whet.execution.futures import TrialFuture
from whet.host.process.cleanup_journal import CleanupJournal

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


def _processes(whet: "subprocess.Popen[bytes]") -> dict[str, int]:
    (guardian,), (spawner,) = guardians(whet.pid), spawners(whet.pid)
    return {"whet": whet.pid, "guardian": guardian, "spawner": spawner}


def _kill_at_once(pids: list[int]) -> None:
    for number in (signal.SIGSTOP, signal.SIGKILL):  # so that none of them sees another's end
        for pid in pids:
            os.kill(pid, number)


@pytest.mark.parametrize(
    "victims", ["whet", "spawner", "guardian", "whet spawner", "whet guardian", "guardian spawner"]
)
def test_all_that_a_program_has_started_ends_at_once_whichever_of_whets_processes_are_killed(
    laboratory: Laboratory, victims: str
) -> None:
    inner = laboratory.folder / "inner"
    inner.mkdir()
    with fifo(laboratory.folder) as held:
        # Without its guardian and the spawner, whet knows a process by its environment alone.
        bare = "" if victims == "guardian spawner" else "env -i"
        apart = f"setsid {bare} sh -c 'exec 9>{held.path}; echo up >&9; sleep 1000' & sleep 1000"
        script = f"exec 9>{held.path}; (sleep 1000 &); {apart}"
        with _start(inner, script) as whet:
            held.wait_for_a_word()
            processes = _processes(whet)
            _kill_at_once([processes[each] for each in victims.split()])
            held.wait_until_all_are_dead()  # no other whet has come
            whet.kill()
    CleanupJournal(inner / "made").sweep()
    assert _tree(laboratory) == []
    assert list((inner / "made").iterdir()) == []


def test_all_that_a_program_has_started_ends_at_once_when_all_three_are_killed(
    laboratory: Laboratory,
) -> None:
    inner = laboratory.folder / "inner"
    inner.mkdir()
    with fifo(laboratory.folder) as held:
        apart = f"setsid env -i sh -c 'exec 9>{held.path}; sleep 1000' & "
        script = f"exec 9>{held.path}; (sleep 1000 &); {apart} echo up >&9; sleep 1000"
        with _start(inner, script) as whet:
            held.wait_for_a_word()
            processes = _processes(whet)
            _wait_for_ends(processes["spawner"], 4)  # it has seen the group apart
            _kill_at_once(list(processes.values()))
            held.wait_until_all_are_dead()  # no other whet has come
        CleanupJournal(inner / "made").sweep()
    assert _tree(laboratory) == []
    assert list((inner / "made").iterdir()) == []


def _wait_for_ends(spawner: int, count: int) -> None:
    """Wait until so many ends of pipes report to process groups."""
    asynchronous = 0o20000

    def reporting() -> int:
        infos = [path.read_text() for path in Path(f"/proc/{spawner}/fdinfo").iterdir()]
        return sum(int(info.split()[3], 8) & asynchronous != 0 for info in infos)

    until(lambda: reporting() >= count)


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
