"""What a program writes is kept whole, whatever it is and however much."""

import hashlib
import os
import resource
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo, outcome_of, specimen

from whet.core.limits import Limits
from whet.core.trial import ResetStep
from whet.host.trial.capture import IN_MEMORY_BYTES, FileOutput

_BLOCK = b"\xff\xfe\x00whet" * 16384


def _talked_digest(size: int) -> str:
    digest = hashlib.sha256()
    for _ in range(size // len(_BLOCK)):
        digest.update(_BLOCK)
    digest.update(_BLOCK[: size % len(_BLOCK)])
    return digest.hexdigest()


@pytest.mark.parametrize("size", [0, 1, IN_MEMORY_BYTES, IN_MEMORY_BYTES + 1, 3_000_001])
def test_bytes_that_are_no_text_and_end_no_line_are_kept_whole(
    laboratory: Laboratory, size: int
) -> None:
    outcome = laboratory.run(laboratory.trial(*specimen("talker.py", size)))

    assert outcome.stdout.size_bytes == size
    assert outcome.stdout.digest == _talked_digest(size)
    assert outcome.stdout.head(10) == _BLOCK[: min(10, size)]
    assert outcome.stderr.tail(100) == str(size).encode()


def _talk(laboratory: Laboratory, size: int) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = laboratory.run(laboratory.trial(*specimen("talker.py", size)))

    assert outcome.stdout.size_bytes == size
    assert outcome.stdout.digest == _talked_digest(size)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 32 << 10


@pytest.mark.slow
def test_200_mb_are_kept_in_little_memory(laboratory: Laboratory) -> None:
    _talk(laboratory, 200_000_000)


@pytest.mark.long
def test_1_gb_is_kept_in_little_memory(laboratory: Laboratory) -> None:
    _talk(laboratory, 1_000_000_000)


def test_a_program_that_closes_its_output_goes_on(laboratory: Laboratory) -> None:
    outcome = laboratory.run(laboratory.trial(*specimen("closer.py")))

    assert outcome.exit_code == 7
    assert outcome.stdout.head(100) == b"before\n"
    assert outcome.stderr.head(100) == b"after\n"
    assert outcome.wall_seconds >= 0.05


def test_a_long_output_that_cannot_be_written_down_is_lost_and_the_trial_is_not(
    laboratory: Laboratory,
) -> None:
    with laboratory.make() as executor:
        outcome_of(executor.submit(laboratory.trial("true")))
        laboratory.cleanup_journal._folder = Path("/proc/none")
        outcome = outcome_of(executor.submit(laboratory.trial(*specimen("talker.py", 1_000_000))))
        laboratory.cleanup_journal._folder = laboratory.made

    assert (outcome.exit_code, outcome.stderr.head(100)) == (0, b"1000000")
    assert outcome.stdout.size_bytes <= IN_MEMORY_BYTES
    assert any(note.startswith("whet lost the output after") for note in outcome.notes)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_longer_than_its_limit_ends_the_trial_and_is_kept_up_to_it(
    laboratory: Laboratory, stream: str
) -> None:
    script = "yes" if stream == "stdout" else "yes >&2"
    trial = replace(laboratory.trial("sh", "-c", script), limits=Limits(output_bytes=100_001))

    outcome = laboratory.run(trial)

    assert outcome.overran_output
    kept = outcome.stdout if stream == "stdout" else outcome.stderr
    assert kept.size_bytes == 100_001
    assert kept.tail(3) == b"y\ny"


def test_output_of_exactly_the_limit_is_no_overrun(laboratory: Laboratory) -> None:
    trial = replace(laboratory.trial("printf", "12345"), limits=Limits(output_bytes=5))

    outcome = laboratory.run(trial)

    assert not outcome.overran_output
    assert (outcome.exit_code, outcome.stdout.head(10)) == (0, b"12345")


def test_the_end_of_a_trial_is_that_of_its_command_not_of_its_output(
    laboratory: Laboratory,
) -> None:
    # This process, which is no part of the trial, holds the other end of its output open.
    go = laboratory.work / "go"
    os.mkfifo(go)
    with laboratory.make() as executor, fifo(laboratory.folder) as held:
        script = f"echo $$ >{held.path}; read line <go; echo said"
        future = executor.submit(laboratory.trial("sh", "-c", script))
        held.wait_for_a_word()
        pid = int(os.read(held.descriptor, 100))
        with Path(f"/proc/{pid}/fd/1").open("wb"):
            go.write_text("go\n")
            assert outcome_of(future).stdout.head(100) == b"said\n"


def test_measures_are_the_last_number_on_stdout_else_on_stderr(laboratory: Laboratory) -> None:
    text = "echo loss: 3.5; echo loss: 0.25; echo loss: 9 >&2; echo acc=7 >&2; echo bad: x"
    measures = {
        "loss": "loss: ([0-9.]+)",
        "acc": "^acc=([0-9]+)",
        "bad": "bad: (.)",
        "none": "nowhere: ([0-9])",
    }
    trial = replace(laboratory.trial("sh", "-c", text), measures=measures)

    assert laboratory.run(trial).measurements == {"loss": 0.25, "acc": 7.0}


def test_a_measure_is_found_at_the_end_of_a_long_output(laboratory: Laboratory) -> None:
    text = "head -c 3000000 /dev/zero; echo; echo loss: 4"
    trial = replace(laboratory.trial("sh", "-c", text), measures={"loss": "^loss: ([0-9]+)"})

    outcome = laboratory.run(trial)

    assert isinstance(outcome.stdout, FileOutput)
    assert outcome.measurements == {"loss": 4.0}


def test_a_reset_step_writes_into_no_stream_of_the_command(laboratory: Laboratory) -> None:
    step = ResetStep(command="echo reset; echo reset >&2; exit 3", must_succeed=False)
    trial = replace(laboratory.trial("sh", "-c", "echo out; echo err >&2"), reset=(step,))

    outcome = laboratory.run(trial)

    assert (outcome.stdout.head(100), outcome.stderr.head(100)) == (b"out\n", b"err\n")
    assert (outcome.exit_code, outcome.failed_reset) == (0, None)


def test_a_reset_step_that_must_succeed_and_fails_is_the_outcome(laboratory: Laboratory) -> None:
    steps = (
        ResetStep(command="touch first"),
        ResetStep(command="echo why; exit 3"),
        ResetStep(command="touch third"),
    )
    trial = replace(laboratory.trial("touch", "command"), reset=steps)

    outcome = laboratory.run(trial)

    assert (outcome.exit_code, outcome.failed_reset) == (3, "echo why; exit 3")
    assert outcome.stderr.head(100) == b"why\n"
    assert [path.name for path in laboratory.work.iterdir()] == ["first"]


def test_reset_steps_run_in_order_with_the_folder_and_environment_of_the_command(
    laboratory: Laboratory,
) -> None:
    steps = (
        ResetStep(command='echo "$WORD" >>log'),
        ResetStep(command="cat - >>log; false", must_succeed=False),
        ResetStep(command="echo two >>log"),
    )
    trial = replace(laboratory.trial("cat", "log"), reset=steps, environment={"WORD": "one"})

    assert laboratory.run(trial).stdout.head(100) == b"one\ntwo\n"


def test_a_timeout_counts_reset_steps_too(laboratory: Laboratory) -> None:
    trial = replace(
        laboratory.trial("true", wall_seconds=0.1), reset=(ResetStep(command="sleep 1000"),)
    )

    outcome = laboratory.run(trial)

    assert (outcome.timed_out, outcome.failed_reset) == (True, "sleep 1000")


def test_overrides_of_the_environment_hold_for_one_trial_alone(laboratory: Laboratory) -> None:
    laboratory.environment = {**os.environ, "KEPT": "kept", "CHANGED": "before"}
    show = laboratory.trial("sh", "-c", "echo $KEPT $CHANGED $ADDED")
    before = dict(os.environ)
    with laboratory.make() as executor:
        changed = replace(show, environment={"CHANGED": "after", "ADDED": "added"})
        with_overrides = outcome_of(executor.submit(changed))
        without = outcome_of(executor.submit(show))

    assert with_overrides.stdout.head(100) == b"kept after added\n"
    assert without.stdout.head(100) == b"kept before\n"
    assert dict(os.environ) == before


def test_a_full_disk_loses_output_and_says_so_but_not_the_trial(laboratory: Laboratory) -> None:
    scratch = laboratory.folder / "scratch"
    scratch.mkdir()
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a small file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", scratch], check=True)
    try:
        outcome = laboratory.run(laboratory.trial(*specimen("talker.py", 3_000_000)))
    finally:
        subprocess.run(["umount", "-l", scratch], check=True)

    assert outcome.exit_code == 0
    assert outcome.stderr.tail(100) == b"3000000", "the program went on to its end"
    assert outcome.stdout.size_bytes == 256 << 10
    assert any("No space left" in note for note in outcome.notes)


def test_the_file_of_a_long_output_goes_to_whoever_keeps_it(laboratory: Laboratory) -> None:
    outcome = laboratory.run(laboratory.trial(*specimen("talker.py", 1_000_000)))
    assert isinstance(outcome.stdout, FileOutput)
    kept: Path = outcome.stdout.path

    assert kept.parent == laboratory.folder / "scratch"
    laboratory.cleanup_journal.discard_all()
    assert not kept.exists()
