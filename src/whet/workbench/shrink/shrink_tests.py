"""`whet shrink --tests`: which tests, in which order, make one fail that may pass alone."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.budget import StopReason
from whet.core.errors import BadUsage, BaselineDoesNotFail
from whet.core.event import Notice
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.printed.reported_tests import (
    TestFails,
    collected_tests,
    exception_told,
    failed_tests,
    tests_in_order,
)
from whet.host.trial.trial_secrets import masked_words
from whet.reduction.commands.selection import Tests, reduce_tests
from whet.search.proposal import Search
from whet.workbench.files.pasted_line import stored_line
from whet.workbench.shrink.pytest_command import (
    PytestCommand,
    read_pytest_command,
    without_memory,
    words_for,
)
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch, ShrunkCommand
from whet.workbench.trials.reproduce import Baseline, reproduce, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session

_SEED = re.compile(rb"(?:random seed: |--randomly-seed=)(\d+)")
_SIDE_BY_SIDE = re.compile(rb"(?m)bringing up nodes|\d+ workers? \[|^(?:\[gw0\]|gw0 [\[I])")
_SUMMARY = ("-rfE",)
_IN_ORDER = ("--verbosity=1",)


def shrink_tests(
    bench: Workbench, request: TrialRequest, named: str, options: CommandOptions
) -> ShrunkCommand:
    """Find the fewest tests before one with which it fails.

    Args:
        bench: the workbench.
        request: the pytest command.
        named: the test that fails, as pytest shows it, or its end; empty: the first that fails.
        options: how to search.

    Raises:
        BadUsage: if the command is no pytest, or there is no such test.
        BaselineDoesNotFail: if no test fails, or not that one.
    """
    trial = bench.for_search(bench.build_trial(request))
    read_pytest_command(trial.command, Path(trial.cwd))
    with open_session(bench, "shrink", request, trial) as session:
        baseline = reproduce(session, trial, attempts=1)
        fewest = fewest_tests(session, trial, baseline, named, options)
        search = fewest.search
        result = ShrunkCommand(
            what="tests", before=len(fewest.collected), kept=fewest.kept,
            line=stored_line(session, fewest.trial, baseline, fewest.oracle), trial=fewest.trial, stopped=fewest.stopped,
            trials=search.trials, cached=search.cached, wall_seconds=search.wall_seconds,
            remark=_remark(fewest.failing, search.best),
        )  # fmt: skip
        session.conclude(result.stopped, result.facts)
    return result


@value_class(kw_only=True)
class FewestTests:
    """The fewest tests with which one fails.

    Attributes:
        command: the pytest command that runs chosen tests.
        collected: all tests, in order.
        failing: the one that fails.
        oracle: judges whether it does.
        search: how they were found.
        stopped: why the search ended.
        trial: runs those that are left.
    """

    command: PytestCommand
    collected: Tests
    failing: str
    oracle: TestFails
    search: CommandSearch[Tests]
    stopped: StopReason
    trial: Trial

    @property
    def kept(self) -> Tests:
        """Return those that are left."""
        return self.search.best or self.collected


def fewest_tests(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    named: str,
    options: CommandOptions,
) -> FewestTests:
    """Find the fewest tests before one with which it fails, of a pytest command seen to fail.

    One that fails only sometimes is first run alone as often as makes it clear whether it passes
    there, and the others keep the order of a run in which it failed.

    Raises:
        BadUsage: if the command is no pytest, or there is no such test.
        BaselineDoesNotFail: if no test fails, or not that one.
    """
    command = read_pytest_command(trial.command, Path(trial.cwd))
    pytest = _Pytest(session, trial, command)
    is_flaky = not baseline.reproduction.is_deterministic
    ran, order = pytest.in_order(baseline) if is_flaky else (baseline.outcome, ())
    collected, failing, oracle = pytest.find(ran, named, order)
    patient = with_patience(trial, baseline.reproduction.wall_seconds)
    subsets: list[Tests | None] = []

    def as_trial(tests: Tests) -> Trial:
        return replace(patient, command=pytest.command.on(tests))

    def begin(_: Tests) -> Search[Tests, None]:
        subsets.append((yield from reduce_tests(collected, failing)))

    search: CommandSearch[Tests] = CommandSearch(
        session=session, oracle=oracle, repeats=1, options=options,
        best=(), begin=begin, as_trial=as_trial,
        label=lambda tests: f"{len(tests)} tests",
    )  # fmt: skip
    if is_flaky and _fails_alone(session, as_trial((failing,)), oracle, baseline.repeats):
        search.best, stopped = (failing,), StopReason.MINIMAL
    else:
        stopped = search.run()
    if subsets and subsets[-1] is None:
        raise BaselineDoesNotFail(
            f"`{failing}` fails in `{' '.join(masked_words(trial.command))}`, but not with all tests named one by one in that order",
            hint="the failure depends on more than which tests run, such as chance or time:"
            " `whet run` it a few times",
        )
    return FewestTests(
        command=pytest.command, collected=collected, failing=failing, oracle=oracle,
        search=search, stopped=stopped,
        trial=replace(as_trial(search.best or collected), limits=trial.limits),
    )  # fmt: skip


def _fails_alone(session: Session, alone: Trial, oracle: TestFails, times: int) -> bool:
    """Whether a test fails alone in one of so many runs."""
    runs = session.repeat(
        alone, oracle, "1 test", times=times, until=lambda ran: ran.verdict is Verdict.BAD
    )
    return runs[-1].verdict is Verdict.BAD


def _remark(failing: str, best: Tests) -> str:
    if not best:
        return ""
    return f"`{failing}` fails alone" if len(best) == 1 else f"`{failing}` passes alone"


class _Pytest:
    """The user's own pytest, asked which tests there are."""

    def __init__(
        self,
        session: Session,
        trial: Trial,
        command: PytestCommand,
    ) -> None:
        self.command = command
        self._session = session
        self._trial = trial

    def in_order(self, baseline: Baseline) -> tuple[Outcome, Tests]:
        """Return a failing run of what is flaky, and its tests in the order in which they ran."""
        words = (*without_memory(self._trial.command), *_SUMMARY, *_IN_ORDER)
        trial = replace(self._trial, command=words)
        runs = self._session.repeat(
            trial, baseline.oracle, "tests in order", times=baseline.repeats,
            until=lambda ran: ran.verdict is Verdict.BAD,
        )  # fmt: skip
        if runs[-1].verdict is not Verdict.BAD:
            return baseline.outcome, ()
        outcome = runs[-1].outcome
        return outcome, tests_in_order(outcome)

    def find(self, outcome: Outcome, named: str, order: Tests) -> tuple[Tests, str, TestFails]:
        """Return all tests in order, the one that fails, and what judges whether it does."""
        whole, collected = self._as_it_ran(outcome)
        if set(order) == set(collected):
            collected = order
        if not collected:
            raise BadUsage(
                f"pytest collects no tests for `{' '.join(masked_words(self._trial.command))}`",
                hint="check its output: `whet show`",
            )
        failures = failed_tests(outcome, collected)
        if not failures:  # its summary is turned off
            outcome = self._run((*whole, *_SUMMARY))
            failures = failed_tests(outcome, collected)
            self.command = _with(self.command, _SUMMARY)
        failing = _chosen(named, collected, tuple(failures))
        if failing not in failures:
            raise BaselineDoesNotFail(
                f"`{failing}` does not fail in `{' '.join(masked_words(self._trial.command))}`",
                hint=f"these fail: {', '.join(failures) or 'none'}",
            )
        self._warn_of_others(failing, tuple(failures))
        self._settle(outcome, failing)
        return collected, failing, TestFails(failing, exception_told(failures[failing]))

    def _as_it_ran(self, outcome: Outcome) -> tuple[tuple[str, ...], Tests]:
        """Return the command that runs the tests in the order of a run, and them in that order."""
        whole = without_memory(self._trial.command)
        if seed := outcome.stdout.search(_SEED):
            seeded = (*whole, f"--randomly-seed={seed.decode()}")
        elif self._may_be_shuffled():  # `-q` hides the seed; the cache of pytest keeps it
            seeded = (*whole, "--randomly-seed=last")
        else:
            return whole, self._collect(whole)
        collected = self._collect(seeded)
        return (seeded, collected) if collected else (whole, self._collect(whole))

    def _may_be_shuffled(self) -> bool:
        if "no:randomly" in self.command.options:
            return False
        digest = self._trial.surroundings.packages_digest
        # Behind a launcher, whet doesn't know which Python it is, nor its packages.
        return not digest or "pytest-randomly" in self._session.bench.notebook.environment(digest)

    def _settle(self, outcome: Outcome, failing: str) -> None:
        """Have tests run one after the other in the order of the words; check that they do."""
        if self._may_be_shuffled():
            self.command = _with(self.command, ("-p", "no:randomly"))
        if outcome.stdout.search(_SIDE_BY_SIDE) is not None:
            self.command = _with(self.command, ("-n0",))
        alone = self.command.on((failing,))
        collection = self._collect(alone)
        if collection != (failing,):
            raise BadUsage(
                f"`{' '.join(alone)}` collects {len(collection)} tests, not that one",
                hint="write each option with its value as one word: `--option=value`",
            )

    def _collect(self, command: Sequence[str]) -> Tests:
        """Return the tests as seen from where pytest starts: so its summary names them too."""
        names = collected_tests(self._run((*command, "--collect-only", "--verbosity=-1")))
        return words_for(names, Path(self._trial.cwd))

    def _run(self, command: tuple[str, ...]) -> Outcome:
        with self._session.executor() as executor:
            return executor.submit(replace(self._trial, command=command)).result()

    def _warn_of_others(self, failing: str, failures: Tests) -> None:
        others = [each for each in failures if each != failing]
        if others:
            self._session.emit(Notice(
                text=f"{len(failures)} tests fail; whet takes `{failing}`; to name another:"
                f" `whet shrink --tests '{others[0]}' -- …`"
            ))  # fmt: skip


def _with(command: PytestCommand, options: Sequence[str]) -> PytestCommand:
    return replace(command, options=(*command.options, *options))


def _chosen(named: str, collected: Tests, failures: Tests) -> str:
    if not named:
        if failures:
            return failures[0]
        raise BaselineDoesNotFail(
            "pytest fails, but reports no failing test",
            hint="check its output: `whet show`",
        )
    fitting = [
        each for each in collected if each == named or each.endswith((f"/{named}", f"::{named}"))
    ]
    if not fitting:
        near = difflib.get_close_matches(named, collected, n=1, cutoff=0.3)
        raise BadUsage(
            f"pytest collects no test `{named}`",
            hint=f"the nearest is `{near[0]}`" if near else f"the first is `{collected[0]}`",
        )
    return next((each for each in fitting if each in failures), fitting[0])
