"""Versions that need no run, because a tested one is equal in everything that it read."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from whet.bisection.equal_trees import EqualTrees
from whet.core.observations.file_accesses import READS_GIT, FileAccesses
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.cold import Observe
from whet.host.process.git import GitFailedError

_MOST_VERSIONS = 3000
_VERSIONS_PER_SECOND = 1000
"""Comparing this many takes less time than it saves with runs of a second."""

_FEW_VERSIONS = 200
_BEARABLE_SHARE = 0.1
_BEARABLE_SECONDS = 0.05
"""What noting may add to a run though it should save none."""


def accesses_of(outcome: Outcome, read: Callable[[str], bytes]) -> FileAccesses | None:
    """Return what a run looked at; None if that wasn't recorded.

    Args:
        outcome: what the run did.
        read: returns what was kept, by its digest.
    """
    return FileAccesses.from_bytes(read(outcome.looks)) if outcome.looks else None


@dataclass(slots=True, kw_only=True)
class EquivalentVersions:
    """Concludes from the runs of a search to versions that it need not run.

    Attributes:
        trees: compares the versions.
        read: returns what was kept, by its digest.
        told: turns the verdict of the oracle into the one that the search gets.
        observed_at: says where it is to be noted what a trial looks at.
        concluded: each version that was judged without a run, and the one that it is like.
    """

    trees: EqualTrees
    read: Callable[[str], bytes]
    told: Callable[[Verdict], Verdict]
    observed_at: Observe
    concluded: dict[str, str] = field(default_factory=dict[str, str])
    _new: list[tuple[str, Verdict, FileAccesses | None]] = field(
        default_factory=list[tuple[str, Verdict, "FileAccesses | None"]]
    )
    _run_seconds: float = 0.0
    _share: float = 0.0
    _held_seconds: float = 0.0
    _is_worth_it: bool = True

    def observe(self, trial: Trial) -> tuple[str, str] | None:
        """Return where it is to be noted what a trial looks at; None: it costs more than it saves."""
        is_in_vain = READS_GIT in self.trees.gaps.values()  # the next one will read it as well
        return self.observed_at(trial) if self._is_worth_it and not is_in_vain else None

    def note(self, version: str, outcome: Outcome, verdict: Verdict) -> None:
        """Take in what a run has shown."""
        looks = accesses_of(outcome, self.read)
        if outcome.interrupted or outcome.timed_out:
            return
        self._run_seconds = max(self._run_seconds, outcome.wall_seconds)
        if looks is not None:
            self._held_seconds = looks.held_seconds
            own_seconds = max(outcome.wall_seconds - looks.held_seconds, 1e-3)
            self._share = looks.held_seconds / own_seconds
        self._new.append((version, verdict, looks))

    def follows(self, versions: Collection[str]) -> Mapping[str, Verdict]:
        """Return the verdicts of those that are equal to a tested one, as far as that looked."""
        if len(versions) > self._most:
            return {}
        try:
            for version, verdict, looks in self._new:
                self.trees.learn(version, self.told(verdict), looks)
            self._new.clear()
            judgments = self.trees.known(versions)
        except GitFailedError:
            return {}
        self.concluded.update({version: like for version, (_, like) in judgments.items()})
        return {version: verdict for version, (verdict, _) in judgments.items()}

    def that_matter(self, parents: Mapping[str, Sequence[str]]) -> Collection[str]:
        """Return those that differ from one before them in something that a run looked at."""
        if len(parents) > self._most:
            return parents.keys()
        try:
            matters = self.trees.that_matter(parents)
        except GitFailedError:
            return parents.keys()
        self._is_worth_it = self._is_worth(len(parents), max(1, len(matters)))
        return matters

    @property
    def _most(self) -> int:
        return min(_MOST_VERSIONS, _FEW_VERSIONS + int(_VERSIONS_PER_SECOND * self._run_seconds))

    def _is_worth(self, count: int, that_matter: int) -> bool:
        """Whether to continue noting: it is cheap, or saves more runs than it makes slower."""
        saved = math.log2(count / that_matter) if count else 0.0
        is_bearable = self._held_seconds <= _BEARABLE_SECONDS or self._share <= _BEARABLE_SHARE
        return is_bearable or saved >= self._share * math.log2(that_matter + 1)
