"""An investigation under way: what it was asked, and what it has found so far."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.budget import Budget
from whet.core.clue import Clue, Sureness
from whet.core.trial import Trial
from whet.workbench.bench import Place, Workbench
from whet.workbench.changed_part import SmallestPart
from whet.workbench.request import TrialRequest
from whet.workbench.search_rows import search_recorder
from whet.workbench.steps import Steps
from whet.workbench.versions import FirstBad, Versions


@dataclass(frozen=True, slots=True, kw_only=True)
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
        budget: of each search.
        jobs: trials at once; None: all cores.
        cold: run each trial from its start.
        tries_changes: run the program with small changes of its text, which leave its files alone.
        tries_releases: try other releases of the packages in which it fails.
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


HistoryOf = Callable[[Workbench, TrialRequest, Trial, InvestigateOptions], "History"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The versions to search, or why there are none.

    Attributes:
        versions: where to search; None: nowhere.
        remark: why there is nothing to search.
        is_pinned: every trial runs on the new end's version, in an environment of its own.
        is_asked_for: the user named its ends; otherwise it is searched as far as it goes.
    """

    versions: Versions | None
    remark: str = ""
    is_pinned: bool = False
    is_asked_for: bool = True


@dataclass(slots=True, kw_only=True)
class Work:
    """An investigation under way."""

    bench: Workbench
    request: TrialRequest
    options: InvestigateOptions
    trial: Trial
    number: int
    steps: Steps
    folder: Path
    history: History
    found: FirstBad | None = None
    part: SmallestPart | None = None
    shown: list[Clue] = field(default_factory=list[Clue])

    def show(
        self, says: str, why: str, *, path: str = "", line: int = 0, next_step: str = ""
    ) -> None:
        """Keep what the step under way has shown to bring the failure, with its trials."""
        self.shown.append(
            Clue(
                says=says,
                why=why,
                path=path,
                line=line,
                sureness=Sureness.SHOWN,
                trials=tuple(self.steps.numbers),
                next_step=next_step,
            )
        )

    def record(self, starting: Trial) -> int:
        """Write a trial of it down; return its number."""
        record = search_recorder(
            self.bench, self.request, verb="investigate", investigation=self.number
        )
        return record(starting)


def place_of(work: Work) -> Place | None:
    """Return where its trials run; None: where the command does."""
    versions = work.history.versions
    return versions.place if versions is not None else None
