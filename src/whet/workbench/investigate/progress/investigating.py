"""An investigation in progress: its request, and its results so far."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from whet.core.budget import Budget, OutOfTimeError, StopReason
from whet.core.errors import DiskFull, HostFailure, InternalFault, WhetError
from whet.core.event import Notice
from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import shown_seconds
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.process.git import Repository
from whet.host.trial.agent_tasks import NO_TASKS
from whet.workbench.delta.cases import Cases
from whet.workbench.files.report_place import ReportFolder
from whet.workbench.investigate.progress.steps import Steps
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place, Session
from whet.workbench.versions.version_source import Versions
from whet.workbench.versions.versions import FirstBad

if TYPE_CHECKING:
    from whet.workbench.bisect.packages import PackageSet
    from whet.workbench.shrink.shrink_tests import FewestTests

MOST_SECONDS = 300.0
TIMES_FAILURE, MORE_SECONDS = 40, 10.0
"""The default time limit of an investigation."""

_BEFORE_LAST = 0.9
ResultT = TypeVar("ResultT")


@value_class(kw_only=True)
class InvestigateOptions:
    """How to investigate.

    Attributes:
        package: search the releases of this package.
        good: a good revision or release.
        bad: a bad one; empty: what is there now.
        good_trial: number of a recorded trial that passed; None: the last one of this command.
        good_config: a configuration with which it passes, beside the one that it names.
        good_packages: a set of packages with which it passes: a file of pins, or a day.
        folder: where the report goes; empty: `whet-report`.
        budget: of all of it; without one it is `MOST_SECONDS`, and for what nobody has asked for by
            name `TIMES_FAILURE` times what the failure takes and `MORE_SECONDS`.
        jobs: trials at once; None: all cores.
        cold: run each trial from its start.
        tries_changes: run the program with small changes of its text, which leave its files alone.
        tries_releases: try other releases of the packages in which it fails.
        words: the options as they were typed, without the budget: to continue with.
        began: when whet was started, in seconds of `time.monotonic`; 0: when the investigation begins.
    """

    package: str = ""
    good: str = ""
    bad: str = ""
    good_trial: int | None = None
    good_config: str = ""
    good_packages: str = ""
    folder: str = ""
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    cold: bool = False
    tries_releases: bool = True
    tries_changes: bool = True
    words: tuple[str, ...] = ()
    began: float = 0.0


HistoryOf = Callable[[Workbench, TrialRequest, Trial, InvestigateOptions], "History"]


@value_class(kw_only=True)
class History:
    """The versions to search, or why there are none.

    Attributes:
        versions: where to search; None: nowhere.
        remark: why there is nothing to search.
        is_pinned: every trial runs on the new end's version, in an environment of its own.
        is_asked_for: the user named its ends; otherwise it is searched as far as it goes.
        is_sure: a file of the command is in it; otherwise the failure has to lie in one.
        has_one_commit: there is one commit to compare with, and none before it.
    """

    versions: Versions | None
    remark: str = ""
    is_pinned: bool = False
    is_asked_for: bool = True
    is_sure: bool = True
    has_one_commit: bool = False


class Publish(Protocol):
    """Writes what is known; if it isn't the last time, perhaps a moment later."""

    def __call__(self, *, is_last: bool = False) -> None:
        """Write it."""
        ...


def _publish_nothing(*, is_last: bool = False) -> None:
    """Write nothing: nothing is known."""
    del is_last


@dataclass(slots=True, kw_only=True)
class Work:
    """An investigation under way.

    Attributes:
        session: runs its trials; each step has one with its own deadline.
        options: how to investigate.
        trial: the command.
        steps: what was done.
        report: where it goes.
        history: the versions to search.
        configurations: one with which it passes beside its own; None: none is named.
        packages: with which it passes, or their day; empty: none are named.
        publish: is told after each step; writes what is known.
        began: when it began, in seconds of `time.monotonic`.
        seconds: how long it takes at most, of what nobody has asked for by name.
        found: the first bad version.
        part: the part of it that brings the failure.
        shown: what a step has shown.
        ended: why it ended before its end; None: it did not.
        whole: the command with all its tests, where `trial` runs fewer of them.
        origin: where the bad value came from; None: it isn't known.
        change: the path and the text of a module with which it passes, if the likeliest clue of a
            closer look is about that.
        tests: the tests that bring the failure, and what judges them; None: it isn't known.
        is_guarded: the last good version was seen to pass with today's data.
    """

    session: Session
    options: InvestigateOptions
    trial: Trial
    steps: Steps
    report: ReportFolder
    history: History
    configurations: Cases | None = None
    packages: "str | PackageSet" = ""
    publish: Publish = _publish_nothing
    began: float = field(default_factory=time.monotonic)
    seconds: float = MOST_SECONDS
    found: FirstBad | None = None
    part: SmallestPart | None = None
    shown: list[Clue] = field(default_factory=list[Clue])
    ended: StopReason | None = None
    whole: Trial | None = None
    origin: Clue | None = None
    change: tuple[str, str] | None = None
    tests: "FewestTests | None" = None
    is_guarded: bool = True

    @property
    def bench(self) -> Workbench:
        """The workbench."""
        return self.session.bench

    @property
    def request(self) -> TrialRequest:
        """What the user asked for."""
        return self.session.request

    @property
    def folder(self) -> Path:
        """Where the report goes."""
        return self.report.path

    @property
    def is_relative(self) -> bool:
        """Whether BAD means that it costs more than the good end does."""
        bound = self.request.judging.bound
        return bound is not None and bound.share is not None

    @property
    def most_seconds(self) -> float:
        """How long all of it takes at most."""
        return self.options.budget.wall_seconds or MOST_SECONDS

    def allot(self, failure_seconds: float) -> None:
        """Set how long it may take, and say so, once it is known how long the failure takes."""
        budget = self.options.budget.wall_seconds
        usual = TIMES_FAILURE * failure_seconds + MORE_SECONDS
        if self.session.weighing is not None:
            usual = MOST_SECONDS  # each verdict takes many runs
        self.seconds = min(usual, MOST_SECONDS) if budget is None else budget
        self.bench.emit(
            Notice(text=f"the investigation takes at most {shown_seconds(self.seconds)}")
        )

    def attempt(
        self,
        do: Callable[[], ResultT],
        otherwise: ResultT,
        *,
        is_asked: bool = False,
        is_last: bool = False,
        share: float = 1.0,
    ) -> ResultT:
        """Do a step within what time there is; what ends it ends no other one, but for Ctrl-C.

        Args:
            do: the step.
            otherwise: what is known without it.
            is_asked: the user has asked for it by name, or it takes long whatever the failure takes:
                then there is all the time that there is, and the steps after it keep theirs.
            is_last: nothing comes after it: some time is kept for it.
            share: how much of the time that is left it may take, from 0 to 1.
        """
        if self.session.log.is_interrupted:
            self.ended = StopReason.INTERRUPTED
            return otherwise
        usual = self.seconds if is_last else self.seconds * _BEFORE_LAST
        until = self.began + (self.most_seconds if is_asked else usual)
        now = time.monotonic()
        self.session = replace(self.session, deadline=now + share * (until - now))
        try:
            return do()
        except OutOfTimeError:
            self.ended = self.ended or StopReason.OUT_OF_TIME
        except KeyboardInterrupt:
            self.ended = StopReason.INTERRUPTED
            self.session.log.is_interrupted = True
        except SystemExit:  # told to end: what is known is written first
            self.ended = StopReason.INTERRUPTED
            self.publish(is_last=True)
            raise
        except (DiskFull, HostFailure, InternalFault):
            raise
        except WhetError as error:
            if error is not self.steps.error:
                self.bench.emit(Notice(text=f"skipped: {error}"))
        finally:
            self.steps.error = None
            if is_asked:
                self.seconds = min(self.most_seconds, self.seconds + time.monotonic() - now)
            self.session = replace(self.session, deadline=None, tasks=NO_TASKS)
            self.publish()
        return otherwise

    @property
    def budget(self) -> Budget:
        """What is left for a search."""
        until = self.session.deadline or self.began + self.seconds
        left = max(until - time.monotonic(), 0.0)
        return Budget(wall_seconds=left, trials=self.options.budget.trials)

    def show(
        self,
        says: str,
        why: str,
        *,
        at: tuple[str, int] = ("", 0),
        next_step: str = "",
        sureness: Sureness = Sureness.SHOWN,
        heading: str = "",
    ) -> None:
        """Keep what the step under way has shown to bring the failure, with its trials."""
        self.shown.append(
            Clue(
                says=says,
                why=why,
                path=at[0],
                line=at[1],
                sureness=sureness,
                trials=self.steps.numbers,
                next_step=next_step,
                heading=heading,
            )
        )


def place_of(work: Work) -> Place | None:
    """Return where its trials run; None: where the command does."""
    versions = work.history.versions
    return versions.place if versions is not None else None


def in_users_tree(work: Work, path: str) -> str:
    """Return the path of a file in the user's repository for that in a checkout of whet's own."""
    checkouts = work.bench.project.state / "worktrees"
    if not Path(path).is_relative_to(checkouts):
        return path
    inside = Path(path).relative_to(checkouts).parts[1:]
    return str(Repository.containing(Path(work.trial.cwd)).top.joinpath(*inside))
