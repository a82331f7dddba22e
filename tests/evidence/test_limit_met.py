"""A failure names the limit that explains it, and no other."""

from dataclasses import replace

import pytest

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet, Limits
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.room import Fault, Room
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify
from whet.evidence.signature.limit_met import unnamed_limits

ALL = Limits(
    memory_bytes=64 << 20,
    files=64,
    processes=50,
    file_size_bytes=5000,
    stack_bytes=1 << 20,
    cpu_seconds=3,
)


FAILED = Outcome(exit_code=1)


def classified(limits: Limits, said: str = "", outcome: Outcome = FAILED) -> Failure:
    outcome = replace(outcome, stderr=BytesOutput(said.encode()))
    failure = classify(Trial(command=("x",), cwd="/", limits=limits), outcome)
    assert failure is not None
    return failure


@pytest.mark.parametrize("hits", [0, 1])
def test_a_fault_that_was_hit_goes_before_a_limit_that_refuses_the_same(hits: int) -> None:
    fault = Fault.parse("openat:EMFILE@3")
    assert fault is not None
    limits = replace(ALL, room=Room(faults=(fault,)))
    hit = LimitMet(name="fail", limit=9, reached=1, process=fault.words)
    outcome = replace(FAILED, limits_met=(hit,) * hits)
    failure = classified(limits, "OSError: [Errno 24] Too many open files: 'x'", outcome)
    assert failure.limit == ("fail" if hits else "files")
    assert failure.summary.count("limit `--") == 1


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("OSError: [Errno 24] Too many open files: 'x'", "files"),
        ("bash: /dev/null: Too many open files", "files"),
        ("Error: EMFILE: too many open files, open 'x'", "files"),
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", "processes"),
        ("RuntimeError: can't start new thread", "processes"),
        ("sh: 1: Cannot fork", "processes"),
        ("OSError: [Errno 27] File too large", "file-size"),
        ("OSError: [Errno 12] Cannot allocate memory", "memory"),
        ("ValueError: no limit at all", ""),
    ],
)
def test_what_a_program_says_names_the_limit(said: str, limit: str) -> None:
    line = f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n{said}\n'
    for words in (said, line):
        failure = classified(ALL, words)
        assert failure.limit == limit
        assert ("met the limit `--" in failure.summary) == bool(limit)


@pytest.mark.parametrize(
    ("number", "limit"), [(25, "file-size"), (24, "cpu-seconds"), (11, "stack")]
)
def test_a_signal_names_the_limit(number: int, limit: str) -> None:
    assert classified(ALL, outcome=Outcome(exit_code=None, signal=number)).limit == limit


@pytest.mark.parametrize("said", ["Too many open files", "MemoryError", "File too large"])
def test_a_limit_that_was_not_set_is_not_named(said: str) -> None:
    failure = classified(Limits(processes=50), said)
    assert failure.limit == ""
    assert "met the limit" not in failure.summary


def test_the_limit_is_no_part_of_the_signature() -> None:
    said = "OSError: [Errno 24] Too many open files: 'x'"
    assert classified(ALL, said).signature == classified(Limits(), said).signature


def test_a_kill_for_memory_is_one_bug_wherever_the_last_byte_was_asked_for() -> None:
    met = LimitMet(
        name="memory", limit=5 << 30, reached=4.98 * (1 << 30), process="python", pid=3,
        was_killed=True,
    )  # fmt: skip

    def killed(line: int) -> Failure:
        stack = (Frame(path="/p/train.py", line=line, function="load", in_user_code=True),)
        return classified(
            ALL,
            outcome=Outcome(exit_code=None, signal=9, limits_met=(met,), stacks=(stack,)),
        )

    assert (
        killed(88).signature
        == killed(90).signature
        == FailureSignature(kind=FailureKind.OUT_OF_MEMORY, message="killed by the memory limit")
    )
    assert killed(88).summary == (
        "killed by the memory limit: 4.98 of 5.00 GiB, largest process python (pid 3), "
        "last Python line train.py:88"
    )


def test_what_a_whet_in_the_trial_says_at_its_end_is_not_the_program_s_failure() -> None:
    said = 'Traceback (most recent call last):\n  File "/p/load.py", line 6, in load\n    x()\nMemoryError\n'
    line = (
        "whet: BAD exit 1 · 81 ms · 6.0 MB · MemoryError; met the limit at load.py:6 · trial 944\n"
    )
    outcome = Outcome(exit_code=1)
    assert classified(Limits(), said + line, outcome) == classified(Limits(), said, outcome)


def test_a_whet_in_the_trial_that_tells_of_it_tells_of_the_same_bug() -> None:
    told = "killed by the memory limit: 4.98 of 5.00 GiB, largest process python (pid 3)"
    line = f"whet: BAD SIGKILL · 661 ms · 111 MB · {told} · trial 118\n"
    failure = classified(Limits(), line, Outcome(exit_code=137))
    assert failure.summary == told
    assert failure.signature == FailureSignature(
        kind=FailureKind.OUT_OF_MEMORY, message="killed by the memory limit"
    )


REFUSED = LimitMet(name="processes", limit=3, reached=3)


@pytest.mark.parametrize("outcome", [Outcome(exit_code=0), Outcome(exit_code=1)])
def test_a_refused_process_is_told_where_no_failure_names_the_limit(outcome: Outcome) -> None:
    trial = Trial(command=("x",), cwd="/", limits=Limits(processes=3))
    refused = replace(outcome, limits_met=(REFUSED,))
    refused = refused.with_failure(classify(trial, refused))

    (note,) = unnamed_limits(refused)
    assert "met the limit `--processes 3`" in note
    assert unnamed_limits(outcome) == ()


def test_a_limit_that_a_failure_names_is_told_once() -> None:
    failure = classified(Limits(processes=3), "sh: 1: Cannot fork")
    outcome = Outcome(exit_code=2, limits_met=(REFUSED,)).with_failure(failure)

    assert unnamed_limits(outcome) == ()


def test_memory_that_was_all_used_and_given_back_is_no_note() -> None:
    full = LimitMet(name="memory", limit=1 << 20, reached=1 << 20)

    assert unnamed_limits(Outcome(exit_code=0, limits_met=(full,))) == ()
