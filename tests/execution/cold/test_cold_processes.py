"""Nothing that a trial started outlives it, whatever it does to stay."""

import os
import signal
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo, guardians, outcome_of, spawners, specimen

from whet.core.errors import HostFailure
from whet.core.trial import ResetStep
from whet.host.process.ending import orderly_end
from whet.host.process.process_tree import descendants_of

_MASKS = (b"SigBlk:", b"SigIgn:", b"SigCgt:")
_PATIENCE_SECONDS = 10.0
_OF_THE_C_LIBRARY = 3 << 31  # signals 32 and 33, which glibc lets nobody touch


def test_a_daemon_in_a_session_of_its_own_dies_with_its_trial(laboratory: Laboratory) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        outcome = outcome_of(executor.submit(laboratory.trial(*specimen("daemon.py", held.path))))

        held.wait_until_all_are_dead()
    assert outcome.exit_code == 0
    assert outcome.stdout.head(100) == b"parent is done\n"
    assert [process.was_left_behind for process in outcome.processes] == [False, True]
    assert outcome.processes[1].signal == signal.SIGKILL


@pytest.mark.slow
def test_a_program_that_ignores_sigterm_dies_at_its_timeout(laboratory: Laboratory) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        trial = laboratory.trial(*specimen("stubborn.py", held.path), wall_seconds=0.4)
        outcome = outcome_of(executor.submit(trial))

        held.wait_until_all_are_dead()
    assert outcome.timed_out
    assert outcome.shell_exit_code == 124


def test_a_chain_of_processes_that_never_stands_still_is_killed(laboratory: Laboratory) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        future = executor.submit(laboratory.trial(*specimen("forker.py", held.path)))
        held.wait_for_a_word()
        future.cancel()

        held.wait_until_all_are_dead()


@pytest.mark.slow
def test_a_stopped_process_dies_at_its_timeout(laboratory: Laboratory) -> None:
    trial = laboratory.trial("sh", "-c", "kill -STOP $$", wall_seconds=0.2)

    outcome = laboratory.run(trial)

    assert outcome.timed_out
    assert outcome.signal == signal.SIGKILL


def test_a_process_left_by_a_reset_step_serves_the_command_and_dies_with_it(
    laboratory: Laboratory,
) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        server = f"sh -c 'exec 9>{held.path}; echo $$ >server; sleep 1000' >/dev/null 2>&1 &"
        wait = "until [ -s server ]; do :; done; kill -0 $(cat server)"
        trial = replace(
            laboratory.trial("sh", "-c", wait),
            reset=(ResetStep(command=server, must_succeed=True),),
        )
        outcome = outcome_of(executor.submit(trial))

        held.wait_until_all_are_dead()
    assert outcome.exit_code == 0


def test_a_trial_starts_with_default_signals_and_an_open_mask(laboratory: Laboratory) -> None:
    outcome = laboratory.run(laboratory.trial("cat", "/proc/self/status"))

    lines = [line.split() for line in outcome.stdout.head(4000).splitlines()]
    masks = {line[0]: int(line[1], 16) for line in lines if line[0] in _MASKS}
    assert {name: mask & ~_OF_THE_C_LIBRARY for name, mask in masks.items()} == dict.fromkeys(
        _MASKS, 0
    )


def test_a_trial_gets_its_three_streams_and_what_whet_was_given(laboratory: Laboratory) -> None:
    own = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    inherited = {one for one in own if one > 2 and _is_inheritable(one)}

    outcome = laboratory.run(laboratory.trial("sh", "-c", "ls /proc/$$/fd"))

    assert {int(name) for name in outcome.stdout.head(1000).split()} == {0, 1, 2, *inherited}


def _is_inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def test_a_trial_leads_a_session_of_its_own_in_its_folder(laboratory: Laboratory) -> None:
    text = "echo $$; cut -d' ' -f5,6 /proc/$$/stat; pwd; cd /; mkdir -p /proc/nothing 2>/dev/null"
    with laboratory.make() as executor:
        outcome = outcome_of(executor.submit(laboratory.trial("sh", "-c", text)))
        again = outcome_of(executor.submit(laboratory.trial("pwd")))

    pid, group, session, folder = outcome.stdout.head(1000).split()
    assert pid == group == session
    assert folder == os.fsencode(laboratory.work)
    assert again.stdout.head(1000).strip() == folder, (
        "a program that changes its folder moves alone"
    )


@pytest.mark.parametrize("who", ["itself", "another"])
def test_a_command_whose_parent_is_killed_ends_as_a_trial_with_that_outcome(
    laboratory: Laboratory, who: str
) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        kill = "kill -9 $PPID; " if who == "itself" else ""
        script = f"exec 9>{held.path}; echo said; echo up >&9; {kill}sleep 1000"
        future = executor.submit(laboratory.trial("sh", "-c", script))
        held.wait_for_a_word()
        for spawner in spawners() if who == "another" else ():
            os.kill(spawner, signal.SIGKILL)

        outcome = outcome_of(future)
        assert (outcome.signal, outcome.stdout.head(100)) == (signal.SIGKILL, b"said\n")
        assert "kill -9 $PPID" in outcome.notes[0]
        assert outcome.wall_seconds > 0
        held.wait_until_all_are_dead()
        assert outcome_of(executor.submit(laboratory.trial("true"))).exit_code == 0


@pytest.mark.long
@pytest.mark.parametrize("who", ["spawner", "guardian", "both"])
def test_a_process_of_whets_that_is_stopped_cannot_hold_it_up_for_ever(
    laboratory: Laboratory, who: str
) -> None:
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        script = f"exec 9>{held.path}; echo up >&9; sleep 1000"
        future = executor.submit(laboratory.trial("sh", "-c", script, wall_seconds=0.5))
        held.wait_for_a_word()
        stopped = {"spawner": spawners(), "guardian": guardians()}
        for pid in stopped.get(who, [*guardians(), *spawners()]):
            os.kill(pid, signal.SIGSTOP)

        if who == "guardian":
            assert outcome_of(future).timed_out
        else:
            assert isinstance(future.exception(60), HostFailure)
        held.wait_until_all_are_dead()


def test_close_ends_what_runs_and_what_waits_at_once(laboratory: Laboratory) -> None:
    laboratory.jobs = 2
    executor = laboratory.make()
    with fifo(laboratory.folder) as held:
        script = f"exec 9>{held.path}; echo up >&9; sleep 1000"
        futures = [executor.submit(laboratory.trial("sh", "-c", script)) for _ in range(5)]
        held.wait_for_a_word()
        executor.close()

        held.wait_until_all_are_dead()
    assert all(future.cancelled() for future in futures)
    assert descendants_of(os.getpid()) == []
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(laboratory.trial("true"))


@pytest.mark.parametrize("is_held", [True, False], ids=["by whet", "by Python"])
def test_ctrl_c_while_a_thread_is_started_keeps_no_other_from_its_end(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, *, is_held: bool
) -> None:
    """Who embeds whet may have no handler of whet's: then Python raises in the midst of it."""
    laboratory.jobs = 2
    executor = laboratory.make()
    start, second = threading.Thread.start, list[threading.Thread]()

    def is_disturbed(thread: threading.Thread) -> None:
        monkeypatch.undo()
        start(thread)
        second.append(thread)
        os.kill(os.getpid(), signal.SIGINT)

    with orderly_end() if is_held else nullcontext(), fifo(laboratory.folder) as held:
        script = f"exec 9>{held.path}; echo up >&9; sleep 1000"
        executor.submit(laboratory.trial("sh", "-c", script))
        held.wait_for_a_word()
        monkeypatch.setattr(threading.Thread, "start", is_disturbed)
        with pytest.raises(KeyboardInterrupt):
            executor.submit(laboratory.trial("sh", "-c", script))
        closing = threading.Thread(target=executor.close)
        closing.start()
        for thread in (closing, *second):
            thread.join(_PATIENCE_SECONDS)

        assert not any(thread.is_alive() for thread in (closing, *second))
        held.wait_until_all_are_dead()


def test_a_cancel_of_a_trial_that_has_ended_harms_no_later_one(laboratory: Laboratory) -> None:
    with laboratory.make() as executor:
        first = executor.submit(laboratory.trial("true"))
        outcome_of(first)
        second = executor.submit(laboratory.trial("sh", "-c", "sleep 0.1; exit 5"))

        assert not first.cancel()
        assert outcome_of(second).exit_code == 5


@pytest.mark.slow
def test_many_trials_leave_no_descriptor_process_or_folder(laboratory: Laboratory) -> None:
    trial = laboratory.trial("true")
    with laboratory.make() as executor:
        outcome_of(executor.submit(trial))
        before = _counted(laboratory)
        for _ in range(300):
            outcome_of(executor.submit(trial))
        assert _counted(laboratory) == before
    assert threading.active_count() <= 2


def _counted(laboratory: Laboratory) -> tuple[int, int, int]:
    return (
        len(list(Path("/proc/self/fd").iterdir())),
        len(descendants_of(os.getpid())),
        len(list(laboratory.made.iterdir())),
    )


@pytest.mark.slow
def test_seconds_and_memory_are_those_of_the_whole_tree(laboratory: Laboratory) -> None:
    python = specimen("x")[0]
    hold = "data = bytearray(60 << 20); import time; time.sleep(0.6)"
    outcome = laboratory.run(
        laboratory.trial("sh", "-c", f"'{python}' -Sc '{hold}' & '{python}' -Sc '{hold}' & wait")
    )

    assert outcome.peak_rss_bytes > 120 << 20
    assert 0.6 <= outcome.wall_seconds < 5
    spin = "import os, time\nif os.fork(): os.wait()\nwhile time.process_time() < 0.2: pass"
    assert laboratory.run(laboratory.trial(python, "-c", spin)).cpu_seconds >= 0.4


def test_memory_is_not_that_of_the_process_that_started_it(laboratory: Laboratory) -> None:
    assert laboratory.run(laboratory.trial("sleep", "0.05")).peak_rss_bytes < 4 << 20


def test_reset_steps_are_not_counted_in_the_seconds(laboratory: Laboratory) -> None:
    trial = replace(laboratory.trial("true"), reset=(ResetStep(command="sleep 1"),))

    began = time.monotonic()
    assert laboratory.run(trial).wall_seconds < 1
    assert time.monotonic() - began >= 1
