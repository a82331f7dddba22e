"""Whether a test fails only after an earlier one that leaves state behind."""

import ast
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.budget import StopReason
from whet.core.errors import BadUsage, BaselineDoesNotFail
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.code_lines import module_of
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.evidence.printed.reported_tests import told_to_pass
from whet.host.trial.agent_tasks import AgentTasks
from whet.reduction.commands.selection import Tests
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.investigate.steps.left_state import left_state
from whet.workbench.shrink.pytest_command import read_pytest_command
from whet.workbench.shrink.shrink_tests import FewestTests, fewest_tests
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.tested import Tested

_SURE = 2
"""How often whet reruns each side from the start, to rule out chance."""

_MOST_SURE = 7
"""How often at most, where it fails only sometimes: both sides together leave no doubt."""

_MOST_NAMED = 3
_WHY = "if a test passes alone, an earlier one left something behind"
_TELL_ALL = ("-rpfE",)


def fewer_tests(work: Work, baseline: Baseline) -> tuple[Baseline, tuple[Clue, ...]]:
    """See whether the test that fails needs earlier ones; the rest then runs no others.

    Returns:
        what the command does then, and what is to be said of it; else as it was, and nothing.
    """
    if not _can_tell(work):
        return baseline, ()
    clues: tuple[Clue, ...] = ()
    with work.steps.step("Run the test alone", _WHY):
        options = CommandOptions(budget=work.budget, jobs=work.options.jobs, cold=True)
        try:
            fewest = fewest_tests(work.session, work.trial, baseline, "", options)
        except (BadUsage, BaselineDoesNotFail) as error:
            work.steps.conclude(f"unknown: {error}")
            return baseline, ()
        if fewest.stopped is StopReason.INTERRUPTED or not fewest.search.best:
            work.steps.conclude(f"unknown: {fewest.stopped.value}")
            return baseline, ()
        is_flaky = not baseline.reproduction.is_deterministic
        if len(fewest.kept) == 1:
            sentence = f"`{fewest.failing}` fails alone{', too' if is_flaky else ''}"
        else:
            times = min(max(_SURE, baseline.repeats), _MOST_SURE) if is_flaky else _SURE
            sentence, clues = _needing_others(work, fewest, times)
        if is_flaky and not clues:
            work.steps.conclude(sentence)
            return baseline, ()
        work.tests = fewest
        smaller, is_same = _as_smaller(work, baseline, fewest)
        rest = "; whet continues with only these tests" if is_same else ""
        work.steps.conclude(f"{sentence}{rest}")
    return smaller, clues


def _can_tell(work: Work) -> bool:
    """Whether it is a pytest command that reads none of the payloads."""
    if work.trial.payloads:
        return False
    with suppress(BadUsage):
        read_pytest_command(work.trial.command, Path(work.trial.cwd))
        return not work.history.is_pinned
    return False


def _needing_others(work: Work, fewest: FewestTests, times: int) -> tuple[str, tuple[Clue, ...]]:
    """Run both sides again; say that the others bring the failure if nothing contradicts."""
    failing, others = fewest.failing, [each for each in fewest.kept if each != fewest.failing]
    alone = _run(work, fewest, (failing,), times)
    after = _run(work, fewest, fewest.kept, times)
    passes = all(told_to_pass(each.outcome, failing) for each in alone)
    fails = all(each.verdict is Verdict.BAD for each in after)
    if not (passes and fails):
        return f"whether `{failing}` passes alone is unclear", ()
    path, line = place_of_test(others[-1], work.trial.cwd)
    at = f" ({Placing(work.trial.cwd)(path, line)})" if line and len(others) == 1 else ""
    who = " and ".join(f"`{each}`" for each in others)
    if len(others) > _MOST_NAMED:
        who = f"{len(others)} earlier tests, the last of them `{others[-1]}`"
    says = f"`{failing}` passes alone and fails after {who}{at}"
    first = "that test leaves" if len(others) == 1 else "those tests leave"
    clue = Clue(
        says=says,
        why=f"alone it passed in {len(alone)} of {len(alone)} runs; with the others before it, it failed in"
        f" {len(after)} of {len(after)}",
        path=path,
        line=line,
        sureness=Sureness.POSSIBLE,
        trials=tuple(each.own_number for each in (*alone, *after)),
        next_step=f"Find what changes while {first} runs: the code that changes it may be wrong; else"
        " restore it in the test, with `monkeypatch` or in a fixture.",
    )
    state = left_state(work, fewest, _telling(fewest, fewest.kept))
    said = "; ".join([says, *(each.says for each in state)])
    return said, (*state, clue)


def _run(work: Work, fewest: FewestTests, tests: Tests, times: int) -> list[Tested[None]]:
    """Run tests from their start, often enough."""
    trial = _telling(fewest, tests)
    return work.session.repeat(trial, fewest.oracle, f"{len(tests)} tests", times=times)


def _telling(fewest: FewestTests, tests: Tests) -> Trial:
    """Return what runs tests, and tells which of them pass."""
    command = replace(fewest.command, options=(*fewest.command.options, *_TELL_ALL))
    return replace(fewest.trial, command=command.on(tests))


def _as_smaller(work: Work, baseline: Baseline, fewest: FewestTests) -> tuple[Baseline, bool]:
    """Have the rest run only the tests that are needed, if they show the same failure."""
    if len(fewest.kept) == len(fewest.collected):
        return baseline, False
    tasks = AgentTasks(keeps_locals=True)  # the rest looks at what its frames held
    ran = replace(work.session, tasks=tasks).run(fewest.trial, baseline.oracle, "fewer tests")
    if ran.verdict is not Verdict.BAD:
        return baseline, False
    work.whole = work.trial
    work.trial = replace(work.trial, command=fewest.trial.command)
    # Of what failed only sometimes, these tests in this order have failed in each run.
    attempts = baseline.reproduction.same_failures
    quicker = replace(
        baseline.reproduction, attempts=attempts, other_failures=(),
        wall_seconds=ran.outcome.wall_seconds,
    )  # fmt: skip
    return replace(baseline, outcome=ran.outcome, reproduction=quicker, repeats=1), True


def place_of_test(test: str, cwd: str) -> tuple[str, int]:
    """Return the file and the line of a test by its name; line 0: it isn't written there."""
    file, *names = test.partition("[")[0].split("::")
    path = str(Path(cwd, file).resolve())
    try:
        scope: list[ast.stmt] = module_of(Path(path).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return path, 0
    line = 0
    for name in names:
        place = next(
            (
                each
                for each in scope
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and each.name == name
            ),
            None,
        )
        if place is None:
            return path, 0
        line, scope = place.lineno, place.body
    return path, line
