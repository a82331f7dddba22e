"""What each version did, kept while a search over versions is under way."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from whet.core.event import Event, Notice, TrialFinished
from whet.core.outcome import Outcome
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, Standing
from whet.workbench.trials.investigation import TestedVersion, VersionPlace
from whet.workbench.versions.judged_alike import JudgedAlike


class VersionWatch:
    """Listens to a search and keeps what each version did."""

    def __init__(
        self,
        emit: Callable[[Event], None],
        subject: str,
        describe: Callable[[Sequence[str]], Mapping[str, str]],
        alike: JudgedAlike | None,
    ) -> None:
        """Listen.

        Args:
            emit: is told every event.
            subject: the package whose releases are the versions, if they are releases.
            describe: says what versions are, each in a line.
            alike: concludes from one version to another; None: nothing is concluded.
        """
        self._emit = emit
        self._subject = subject
        self._describe = describe
        self._alike = alike
        self.seen: dict[str, TestedVersion] = {}
        self._recalled: dict[str, Verdict] = {}
        self._version_of: dict[str, str] = {}
        self.outcomes: dict[str, Outcome] = {}
        """What each version showed that was run, or is remembered."""
        self.failing_files: tuple[str, ...] = ()

    def observe(self, event: Event) -> None:
        """Keep the version's verdict and pass the event on."""
        if isinstance(event, TrialFinished):
            failure = event.outcome.failure
            if failure is not None and event.verdict is Verdict.BAD:
                self.failing_files = tuple(frame.path for frame in failure.frames)
            version = event.trial.revision or event.trial.packages.get(self._subject, "")
            self._version_of[event.label] = version
            self.outcomes[version] = event.outcome
            if self._alike is not None:
                self._alike.note(version, event.outcome, event.verdict)
            if event.number is None:
                self._recalled[event.label] = event.verdict
            self.seen[event.label] = TestedVersion(
                label=event.label,
                verdict=event.verdict,
                trial=event.number,
                remark="passes" if failure is None else failure.summary,
            )
        elif isinstance(event, Notice):
            self._keep_skipped(event.text)
        self._emit(event)

    def judge_again(self, label: str, verdict: Verdict) -> None:
        """Take in that a version that was judged is another thing, by what was learned since."""
        version = self._version_of[label]
        self.seen[label] = replace(self.seen[label], verdict=verdict)
        if label in self._recalled:
            self._recalled[label] = verdict
        if self._alike is not None:
            self._alike.note(version, self.outcomes[version], verdict)

    def _keep_skipped(self, text: str) -> None:
        label, skipped, why = text.partition(": skipped: ")
        if skipped:
            self.seen[label] = TestedVersion(
                label=label, verdict=Verdict.SKIP, trial=None, remark=why
            )

    def judged(self, *, by_a_run: bool) -> dict[str, Verdict]:
        """Return what versions did, by label, in this search or in an earlier one.

        What was remembered at first and run then stands in both.
        """
        judged = {
            each.label: each.verdict
            for each in self.seen.values()
            if (each.trial is not None) is by_a_run
        }
        return judged if by_a_run else {**self._recalled, **judged}

    def forget_recalled(self) -> None:
        """Forget what earlier searches saw, as the world has changed since."""
        self._recalled.clear()
        self.seen = {
            label: each for label, each in self.seen.items() if not self.is_from_memory(label)
        }

    def is_from_memory(self, label: str) -> bool:
        """Whether a version was judged by an earlier trial alone."""
        return label in self.seen and self.seen[label].trial is None

    def not_run(self, versions: Iterable[str]) -> set[str]:
        """Return those of these versions that were not run."""
        return set(versions).difference(self._version_of.values())

    def tested(self) -> tuple[TestedVersion, ...]:
        """Return what was tested, in order."""
        names = self._describe([each for each in self._version_of.values() if each])
        return tuple(
            replace(each, description=names.get(self._version_of.get(label, ""), ""))
            for label, each in self.seen.items()
        )


def places_of(bisection: Bisection[str], label: Callable[[str], str]) -> tuple[VersionPlace, ...]:
    """Return where those stand that were tested, and those that are left."""
    told = {
        Standing.TESTED_GOOD: "good", Standing.TESTED_BAD: "bad", Standing.SKIPPED: "skip",
    }  # fmt: skip
    left = set(bisection.suspects)
    return tuple(
        VersionPlace(
            label=label(version),
            position=position,
            told=told.get(standing, ""),
            is_suspect=version in left,
        )
        for position, (version, standing) in enumerate(bisection.standings().items())
        if standing in told or version in left
    )
