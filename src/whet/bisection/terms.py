"""What the two sides of a search are called, and which of them is the failing one."""

from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.core.verdict import Verdict

_FAILING = frozenset({"bad", "broken", "fails", "failing", "wrong", "slow", "red", "crashes"})
_PASSING = frozenset({"good", "fixed", "works", "working", "passes", "right", "fast", "green"})


@value_class(kw_only=True)
class Terms:
    """The words for the versions before and after the change that is searched.

    A search always looks for the first version of the new kind. It is told GOOD for the old
    kind and BAD for the new one, whichever of the two fails.

    Attributes:
        old: word for the versions before the change.
        new: word for those from it on.
        old_verdict: GOOD if the old ones pass, BAD if they fail; None if the words don't
            say, so that the ends decide (`settled_by`).
    """

    old: str = "good"
    new: str = "bad"
    old_verdict: Verdict | None = Verdict.GOOD

    @classmethod
    def parse(cls, text: str) -> "Terms":
        """Read ``OLD,NEW``, the value of ``--terms``.

        What is `fixed` was broken before, so `fixed` is the new side wherever it stands.

        Raises:
            BadUsage: if these aren't two different words.
        """
        words = [word.strip() for word in text.split(",")]
        if len(words) != 2 or not all(words) or len(set(words)) != len(words):  # noqa: PLR2004 - a pair
            raise BadUsage(
                f"`--terms {text}` does not name two different sides",
                hint="write the word for the older versions, then that for the newer ones: "
                "`--terms broken,fixed`",
            )
        old, new = words
        if old.lower() == "fixed":
            old, new = new, old
        return cls(old=old, new=new, old_verdict=_verdict_of_old(old.lower(), new.lower()))

    def settled_by(self, old_end: Verdict) -> "Terms":
        """Return these terms with what the old end was, if the words did not say."""
        if self.old_verdict is not None:
            return self
        return Terms(old=self.old, new=self.new, old_verdict=old_end)

    @property
    def is_fix(self) -> bool:
        """Whether the version that ended the failure is searched."""
        return self.old_verdict is Verdict.BAD

    def for_search(self, verdict: Verdict) -> Verdict:
        """Return what the search is told for what the oracle said: GOOD is old, BAD is new."""
        if not self.is_fix or verdict is Verdict.SKIP:
            return verdict
        return Verdict.BAD if verdict is Verdict.GOOD else Verdict.GOOD

    def word_for(self, told: Verdict) -> str:
        """Return the user's word for what a search was told."""
        return {Verdict.GOOD: self.old, Verdict.BAD: self.new, Verdict.SKIP: "skip"}[told]


def _verdict_of_old(old: str, new: str) -> Verdict | None:
    if old in _FAILING or new in _PASSING:
        return Verdict.BAD
    if old in _PASSING or new in _FAILING:
        return Verdict.GOOD
    return None


FIXED = Terms.parse("broken,fixed")
"""What the sides are called if the old end turns out to be the failing one."""
