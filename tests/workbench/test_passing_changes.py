"""Of the changes that let a command pass, the one that the bad value came by leads."""

import runpy
from pathlib import Path

import pytest

from whet.core.budget import OutOfTimeError
from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.evidence.experiments.variations import Variation
from whet.evidence.provenance.failure.way import Check, Way
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.experiments.varied import Varied, vary
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import Baseline

PROGRAM = """\
low, high = 3, 3
picked = high > low
fits = low < 3
check(picked, fits)
"""
PICKED, FITS = 2, 3
FAILED = Outcome(
    exit_code=1,
    failure=Failure(
        signature=FailureSignature(kind=FailureKind.EXIT, exit_code=1), summary="exit 1"
    ),
)


def _varied(
    folder: Path, followed: set[int], *, ends_early: bool = False, is_exact: bool = False,
    program: str = PROGRAM,
) -> Varied:  # fmt: skip
    """Vary a program that passes if either of two lines says so, perhaps until it has passed once."""
    path = folder / "main.py"
    path.write_text(program)
    made: list[dict[str, object]] = []

    def run(tasks: AgentTasks) -> tuple[int, Outcome]:
        assert tasks.edit is not None
        if ends_early and any(each["picked"] or each["fits"] for each in made):
            raise OutOfTimeError
        changed = folder / "changed.py"
        changed.write_text(tasks.edit[1])
        made.append(runpy.run_path(str(changed), {"check": lambda *_: None}))
        is_good = bool(made[-1]["picked"] or made[-1]["fits"])
        return len(made), Outcome(exit_code=0) if is_good else FAILED

    way = Way(
        places=((str(path), PICKED), (str(path), FITS)),
        active={},
        failing=(str(path), 4),
        check=Check(str(path), 4, 1, is_exact=is_exact, is_specific=False),
        kind_of=lambda *_: "",
        followed=frozenset((str(path), line) for line in followed),
    )
    reproduction = Reproduction(
        attempts=3, same_failures=3, other_failures=(), wall_seconds=0.01, peak_rss_bytes=0,
        exit_code=1, trials=(1,),
    )  # fmt: skip
    baseline = Baseline(outcome=FAILED, oracle=AnyFailure(), reproduction=reproduction, repeats=1)

    def confirm(path: str, change: Variation, *, is_cause: bool = True) -> tuple[int, ...]:
        return () if is_cause else (change.line, len(path))

    return vary(baseline, way, run, Placing(str(folder)), confirm)


def _lines(clues: tuple[Clue, ...]) -> list[int]:
    return [each.line for each in clues]


def test_the_only_passing_change_that_the_value_came_by_leads(tmp_path: Path) -> None:
    for first, other in ((PICKED, FITS), (FITS, PICKED)):
        varied = _varied(tmp_path, {first})

        assert varied.is_on_the_way
        assert _lines(varied.likely) == [first]
        (also,) = varied.likely[0].trail
        assert f"main.py:{other} it passes" in also.says


def test_a_program_that_speaks_of_the_command_is_quoted_as_it_is(tmp_path: Path) -> None:
    low = '{"the command": 3}["the command"]'
    varied = _varied(tmp_path, {PICKED}, program=PROGRAM.replace("low < 3", f"{low} < 3"))

    (also,) = varied.likely[0].trail
    assert f"instead of `{low} < 3`" in also.says
    assert also.says.endswith(f"main.py:{FITS} it passes")


def test_where_the_value_came_by_none_or_both_no_change_leads(tmp_path: Path) -> None:
    for followed in (set[int](), {PICKED, FITS}):
        varied = _varied(tmp_path, followed)

        assert not varied.is_on_the_way
        assert sorted(_lines(varied.likely)) == [PICKED, FITS]


def test_the_first_change_that_passes_does_not_lead_where_as_likely_ones_are_untried(
    tmp_path: Path,
) -> None:
    varied = _varied(tmp_path, {PICKED, FITS}, ends_early=True)
    assert (varied.likely, varied.is_on_the_way, varied.is_cut) == ((), False, True)
    assert len(varied.others) == 1


def test_it_leads_where_the_check_states_the_value_that_it_wants(tmp_path: Path) -> None:
    varied = _varied(tmp_path, {PICKED, FITS}, ends_early=True, is_exact=True)
    assert (len(varied.likely), varied.others) == (1, ())


STARTED = """\
import asyncio


async def store(rows, at):
    asyncio.ensure_future(send(rows))
    return [each * 2 + at for each in rows if each != at and each > 1]
"""


@pytest.mark.parametrize("also", ["", "each > 1 + 1"])
def test_a_task_that_nobody_waits_for_is_the_cause_where_two_values_are_to_be_the_same(
    tmp_path: Path, also: str
) -> None:
    path = tmp_path / "main.py"
    path.write_text(STARTED)
    asked: list[str] = []

    def run(tasks: AgentTasks) -> tuple[int, Outcome]:
        assert tasks.edit is not None
        asked.append(tasks.edit[1])
        passes = "await asyncio" in asked[-1] or bool(also and also in asked[-1])
        return len(asked), Outcome(exit_code=0) if passes else FAILED

    way = Way(
        places=((str(path), 5), (str(path), 6)),
        active={},
        failing=(str(path), 9),
        check=Check(str(path), 9, 1, is_exact=False, is_specific=False, is_equal=True),
        kind_of=lambda *_: "",
    )
    reproduction = Reproduction(
        attempts=3, same_failures=3, other_failures=(), wall_seconds=0.01, peak_rss_bytes=0,
        exit_code=1, trials=(1,),
    )  # fmt: skip
    baseline = Baseline(outcome=FAILED, oracle=AnyFailure(), reproduction=reproduction, repeats=1)

    varied = vary(baseline, way, run, Placing(str(tmp_path)), lambda *_, **__: (1, 2))

    (cause,) = varied.cause
    assert (cause.line, cause.sureness) == (5, Sureness.SHOWN)
