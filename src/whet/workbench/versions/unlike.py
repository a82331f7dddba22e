"""Versions that fail differently from the one that is searched for: tested while that can help."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whet.core.event import Event, Notice
from whet.core.failure import Failure, FailureSignature
from whet.core.likeness import tells_of_itself
from whet.core.text.quantity import shown_count
from whet.core.verdict import Verdict
from whet.evidence.signature.classify import headline
from whet.search.history.bisection import Bisection
from whet.workbench.versions.graded import LikeFailure
from whet.workbench.versions.version_watch import VersionWatch

_TIMES_STEPS = 4
"""The limit on skipped versions, as a multiple of the steps of a search without skips."""


@dataclass(slots=True, kw_only=True)
class Unlike:
    """What a search over versions learns of failures while it continues.

    Attributes:
        oracle: what counts as the failure that is looked for.
        watch: what each version showed.
        bisection: the search.
        told: turns the verdict of the oracle into the one that the search gets.
        emit: takes a notice of each decision.
        may_decide: a failure that is like none may be counted as the one looked for.
    """

    oracle: LikeFailure
    watch: VersionWatch
    bisection: Bisection[str]
    told: Callable[[Verdict], Verdict]
    emit: Callable[[Event], None]
    may_decide: bool
    _is_said: bool = False

    def learnt(self, batch: Sequence[str], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Learn from a round that is over; return its verdicts as they are now."""
        run = {
            version: verdict
            for version, verdict in zip(batch, verdicts, strict=False)
            if version in self.watch.outcomes
        }
        for version in run:
            self.oracle.learn(self.watch.outcomes[version])
        self.bisection.learn(run)
        self._judge_again()
        if self.may_decide:
            self._decide()
        return [self._now(each, was) for each, was in zip(batch, verdicts, strict=False)]

    @property
    def is_in_vain(self) -> bool:
        """Whether the search skipped too many versions for an answer."""
        most = _TIMES_STEPS * max(1, (self.bisection.started_with - 1).bit_length())
        return len(self._skipped()) > most

    def _now(self, version: str, was: Verdict) -> Verdict:
        outcome = self.watch.outcomes.get(version)
        if was is not Verdict.SKIP or outcome is None:
            return was
        return self.told(self.oracle.judge(outcome))

    def _skipped(self) -> dict[str, Failure]:
        """Return the suspects that were run and have failed in another way."""
        suspects = set(self.bisection.suspects)
        return {each: why for each, why in self._all_skipped().items() if each in suspects}

    def _all_skipped(self) -> dict[str, Failure]:
        return {
            version: outcome.failure
            for version, outcome in self.watch.outcomes.items()
            if outcome.failure is not None and self.oracle.judge(outcome) is Verdict.SKIP
        }

    def _judge_again(self) -> None:
        """Take back the skips that are bad by what was learned since."""
        verdict = self.told(Verdict.BAD)
        for version, outcome in self.watch.outcomes.items():
            seen_outcome = self.watch.seen.get(version)
            if seen_outcome is None or seen_outcome.verdict is not Verdict.SKIP:
                continue
            if self.oracle.judge(outcome) is Verdict.BAD:
                self.watch.judge_again(version, Verdict.BAD)
                if version in self.bisection.suspects:
                    self.bisection.learn({version: verdict})

    def _decide(self) -> None:
        """Where more was skipped than there are steps left: decide what the failure counts as."""
        skipped = self._skipped()
        if self._is_said or len(skipped) <= self.bisection.steps_left():
            return
        self._is_said = True
        signatures = Counter(each.signature for each in skipped.values())
        signature, count = signatures.most_common(1)[0]
        failure = next(each for each in skipped.values() if each.signature == signature)
        failures = (
            f"{shown_count(count, 'version')} failed in another way:"
            f" `{failure.summary}`, {headline(failure)}"
        )
        if tells_of_itself(failure) and not self._is_met_before_good(signature):
            self.oracle.count_as_bad(failure)
            self._judge_again()
            decided = "from here on, this counts as bad, because the good end passes and no later version was good; `--bad-if` or `--oracle` changes that"
        else:
            decided = (
                "such versions stay skipped; `--bad-if 'exit != 0'` counts each failure as bad,"
                " `--oracle` lets a script judge"
            )
        self.emit(Notice(text=f"{failures}; {decided}"))

    def _is_met_before_good(self, signature: FailureSignature) -> bool:
        """Whether a version that failed so is before a good one: then it is another failure."""
        return any(
            failure.signature == signature and self.bisection.is_before_good(version)
            for version, failure in self._all_skipped().items()
        )
