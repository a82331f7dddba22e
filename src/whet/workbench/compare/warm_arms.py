"""`whet compare --warm`: both arms from one frozen copy, taken before their arguments are looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from whet.core.errors import BadUsage
from whet.core.oracle import AnyFailure
from whet.core.text.quantity import shown_seconds
from whet.execution.warm_search import ITS_ARGUMENTS, WarmSearch
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.trial_secrets import masked_words
from whet.workbench.compare.arms import Arm
from whet.workbench.files.named_files import first_argument
from whet.workbench.trials.tested import Tested

MOST_SCOUTS = 6
"""After as many runs without a copy that can be used, there won't be one."""

_MOST_COLD_PAIRS = 3
_COLD = "leave out `--warm`: each run then starts from the beginning"


@dataclass(slots=True)
class WarmArms:
    """What the runs of a comparison resume from.

    Attributes:
        search: keeps the copy.
        place: where it was taken, such as ``its arguments`` or ``train.py:31``; empty: there is none yet.
        cold_seconds: how long the first arm took from its beginning.
        cold_pairs: how many pairs in a row had a run that began elsewhere.
    """

    search: WarmSearch
    place: str = ""
    cold_seconds: float = 0.0
    cold_pairs: int = 0

    @classmethod
    def of(cls, arms: tuple[Arm, Arm], journal: CleanupJournal) -> "WarmArms":
        """Return what two arms can share.

        Raises:
            BadUsage: if they differ in more than their arguments.
        """
        first, second = (arm.trial for arm in arms)
        if any(arm.place is not None for arm in arms):
            raise BadUsage(
                "`--warm`: A and B run on different code or packages, and no frozen copy serves both",
                hint=_COLD,
            )
        if replace(first, command=()) != replace(second, command=()):
            raise BadUsage(
                "`--warm`: A and B differ in more than their arguments, and what differs from the start is in no shared frozen copy",
                hint=_COLD,
            )
        word = first_argument(first.command, Path(first.cwd))
        start = first.command[:word]
        if start != second.command[:word]:
            programs = [
                f"`{' '.join(masked_words(each.command[:word]))}`" for each in (first, second)
            ]
            raise BadUsage(
                f"`--warm`: {' and '.join(programs)} are two programs, and no frozen copy serves both",
                hint=f"give one program two sets of arguments; or {_COLD}",
            )
        return cls(WarmSearch(journal, judge=AnyFailure().judge, first_word=word))

    def is_ready(self, ran: Tested[str]) -> bool:
        """Whether this run of the first arm has resumed from a copy."""
        self.place = ran.outcome.resumed_from
        if not self.place:
            took = ran.outcome.wall_seconds
            self.cold_seconds = min(took, self.cold_seconds or took)
        return bool(self.place)

    def counts(self, pair: Mapping[str, Tested[str]]) -> bool:
        """Whether both runs have resumed from the same place as all others.

        Raises:
            BadUsage: if no run resumes from a copy any longer.
        """
        if all(ran.outcome.resumed_from == self.place for ran in pair.values()):
            self.cold_pairs = 0
            return True
        self.cold_pairs += 1
        if self.search.distrusted or self.cold_pairs >= _MOST_COLD_PAIRS:
            self.refuse()
        return False

    def refuse(self) -> NoReturn:
        """Say why no run resumes from a copy.

        Raises:
            BadUsage: always.
        """
        why = "; ".join(self.search.reasons) or "the program doesn't get as far as its arguments"
        raise BadUsage(f"`--warm`: no run resumes from a frozen copy: {why}", hint=_COLD)

    def remark(self, warm_seconds: float) -> str:
        """Say what is measured."""
        before = shown_seconds(max(0.0, self.cold_seconds - warm_seconds))
        at = "" if self.place == ITS_ARGUMENTS else f" at {self.place}"
        return (
            f"warm: each run resumes from a frozen copy{at}, before the program looks at its arguments; "
            f"the {before} until there are the same in both, and aren't in the table"
        )
