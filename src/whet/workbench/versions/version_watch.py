"""The outcomes of the versions during a search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from whet.core.outcome import Outcome
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, Standing
from whet.workbench.trials.investigation import TestedVersion, VersionPlace
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.equivalent_versions import EquivalentVersions


class VersionWatch:
    """Keeps what each version did, by its id.

    Attributes:
        seen: each version that was tested, as it is shown.
        outcomes: what each version showed that was run, or is remembered.
        failing_files: the files of the last failure.
    """

    def __init__(
        self,
        describe: Callable[[Sequence[str]], Mapping[str, str]],
        alike: EquivalentVersions | None,
    ) -> None:
        """Keep nothing yet.

        Args:
            describe: says what versions are, each in a line.
            alike: concludes from one version to another; None: nothing is concluded.
        """
        self._describe = describe
        self._alike = alike
        self._recalled: dict[str, Verdict] = {}
        self.seen: dict[str, TestedVersion] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.failing_files: tuple[str, ...] = ()

    def note(self, ran: Tested[str]) -> None:
        """Keep what a version did."""
        version, failure = ran.candidate, ran.outcome.failure
        self.seen[version] = TestedVersion(
            label=ran.label, verdict=ran.verdict, trial=ran.number, remark=ran.did
        )
        if ran.skipped is not None:
            return
        if failure is not None and ran.verdict is Verdict.BAD:
            self.failing_files = tuple(frame.path for frame in failure.frames)
        self.outcomes[version] = ran.outcome
        if self._alike is not None:
            self._alike.note(version, ran.outcome, ran.verdict)
        if ran.number is None:
            self._recalled[version] = ran.verdict

    def judge_again(self, version: str, verdict: Verdict) -> None:
        """Take in that a version that was judged is another thing, by what was learned since."""
        self.seen[version] = replace(self.seen[version], verdict=verdict)
        if version in self._recalled:
            self._recalled[version] = verdict
        if self._alike is not None:
            self._alike.note(version, self.outcomes[version], verdict)

    def judged(self, *, by_a_run: bool) -> dict[str, Verdict]:
        """Return what versions did, in this search or in an earlier one.

        What was remembered at first and run then is in both.
        """
        judgments = {
            version: each.verdict
            for version, each in self.seen.items()
            if (each.trial is not None) is by_a_run
        }
        return judgments if by_a_run else {**self._recalled, **judgments}

    def forget_recalled(self) -> None:
        """Forget what earlier searches saw, as the world has changed since."""
        self._recalled.clear()
        self.seen = {
            version: each for version, each in self.seen.items() if not self.is_from_memory(version)
        }

    def is_from_memory(self, version: str) -> bool:
        """Whether a version was judged by an earlier trial alone."""
        return version in self.seen and self.seen[version].trial is None

    def not_run(self, versions: Iterable[str]) -> set[str]:
        """Return those of these versions that were not run."""
        return set(versions).difference(self.outcomes)

    def tested(self) -> tuple[TestedVersion, ...]:
        """Return what was tested, in order."""
        names = self._describe(list(self.seen))
        return tuple(
            replace(each, description=names.get(version, "")) for version, each in self.seen.items()
        )


def places_of(bisection: Bisection[str], label: Callable[[str], str]) -> tuple[VersionPlace, ...]:
    """Return where those stand that were tested, and those that are left."""
    remarks = {
        Standing.TESTED_GOOD: "good", Standing.TESTED_BAD: "bad", Standing.SKIPPED: "skip",
    }  # fmt: skip
    left = set(bisection.suspects)
    return tuple(
        VersionPlace(
            label=label(version),
            position=position,
            told=remarks.get(standing, ""),
            is_suspect=version in left,
        )
        for position, (version, standing) in enumerate(bisection.standings().items())
        if standing in remarks or version in left
    )
