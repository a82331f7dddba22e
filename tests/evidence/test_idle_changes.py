"""A change with which the work isn't done, or only the exit code is another one, is no cause."""

import shutil
from pathlib import Path

import pytest
from recorded_runs import recorded

from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.evidence.experiments.complaints import still_complains, warns_of_more
from whet.evidence.provenance.failure.suspects import failing_in
from whet.evidence.provenance.failure.way import times_of, way_of
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

EXITS = Failure(signature=FailureSignature(kind=FailureKind.EXIT, exit_code=1), summary="1 broken")
RAISES = Failure(
    signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="ValueError"), summary="bad"
)
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: bad\n'


def ran(said: str, complained: str = "", failure: Failure | None = None) -> Outcome:
    return Outcome(
        exit_code=0 if failure is None else 1,
        stdout=BytesOutput(said.encode()),
        stderr=BytesOutput(complained.encode()),
        failure=failure,
    )


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        (ran("no page x\n1 broken\n", failure=EXITS), ran("no page x\n1 broken\n")),
        (ran("no page x\n", failure=EXITS), ran("start\nno page x\ndone\n")),
        (ran("", "no page x\n", EXITS), ran("", "no page x\n")),
        (ran("go\n", TRACE, RAISES), ran("go\n", TRACE)),
        (ran("go\n", TRACE + TRACE, RAISES), ran("go\n", TRACE + TRACE)),
    ],
)
def test_what_says_all_that_the_failure_said_still_complains(
    failed: Outcome, passed: Outcome
) -> None:
    assert still_complains(failed, passed)


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        (ran("no page x\n1 broken\n", failure=EXITS), ran("0 broken\n")),
        (ran("", failure=EXITS), ran("")),
        (ran("go\n", TRACE, RAISES), ran("go\nfine\n")),
        (ran("E  assert 1 == 2\n", "", RAISES), ran("1 passed\n")),
        (ran("go\n", TRACE + TRACE, RAISES), ran("go\n", TRACE)),
    ],
)
def test_what_says_less_or_failed_in_silence_does_not(failed: Outcome, passed: Outcome) -> None:
    assert not still_complains(failed, passed)


LATE = """\
DELAYS = [3, 5, 40]


def worst(delays):
    most = 0
    for late in delays:
        if late > most:
            most = late
    return most


most = worst(DELAYS)
if most > 8:
    raise ValueError(f"{most} minutes late")
"""


@pytest.mark.parametrize(
    ("old", "new", "is_made"),
    [
        ("in delays:", "in delays[:0]:", False),
        ("DELAYS = [3, 5, 40]", "DELAYS = []", False),
        ("late > most", "late < most", True),
        ("most = late", "most = late // 8", True),
    ],
)
def test_a_check_behind_a_loop_that_no_longer_goes_round_is_not_made(
    tmp_path: Path, *, old: str, new: str, is_made: bool
) -> None:
    program = tmp_path / "main.py"
    program.write_text(LATE)
    recording, _ = recorded(tmp_path)
    sources = Sources()
    failing = failing_in(recording, sources, lambda _path, _line: None)
    assert failing is not None
    check = way_of(failing, recording, sources, Walk(recording, sources)).check
    line = LATE[: LATE.index(old)].count("\n") + 1

    program.write_text(LATE.replace(old, new))
    shutil.rmtree(tmp_path / ".told")
    other, _ = recorded(tmp_path)
    assert check.is_made_in(other, edited=str(program), after=line, more_lines=0) is is_made


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_statement_of_several_lines_is_come_to_once_in_each_round(
    tmp_path: Path, rounds: int
) -> None:
    program = f"for each in range({rounds}):\n    assert max(\n        each,\n        int('0'),\n    ) < {rounds - 1}\n"
    path = tmp_path / "main.py"
    path.write_text(program)
    recording, _ = recorded(tmp_path)

    assert times_of(recording, str(path), 2, 5) == rounds
    assert times_of(recording, str(path), 2) > rounds


def test_a_warning_counts_once_and_wherever_it_is_raised() -> None:
    old = "/x/a.py:3: UserWarning: the target type is low\n  f()\n"
    moved = "/x/a.py:5: UserWarning: the target type is low\n  f()\n"
    more = (
        f"{moved}/x/t.py:9: UserWarning: In autocast, but the type is not supported. Disabling.\n"
    )

    assert not warns_of_more(ran("", old, RAISES), ran("", moved))
    assert warns_of_more(ran("", old, RAISES), ran("", more))
    assert not warns_of_more(ran("", more, RAISES), ran("", ""))
