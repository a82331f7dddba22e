"""A batch that is asked as a whole, by many workers at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar, overload

from whet.core.verdict import Verdict

AskedT = TypeVar("AskedT")


class Round(Sequence[AskedT], Generic[AskedT]):
    """Candidates that all run at once, and whose verdicts are all told.

    A run that the verdicts of others have made needless is ended, or never begun, and told as
    SKIP: the search that made the round knows which ones these are.
    """

    def __init__(
        self,
        candidates: Sequence[AskedT],
        needless: Callable[[Mapping[AskedT, Verdict]], set[AskedT]],
    ) -> None:
        """Make a round.

        Args:
            candidates: what to ask, in the order in which the verdicts are told.
            needless: returns, for the verdicts known so far, the candidates of which no
                verdict could tell anything more.
        """
        self._candidates = tuple(candidates)
        self.needless = needless

    def __len__(self) -> int:
        return len(self._candidates)

    @overload
    def __getitem__(self, index: int) -> AskedT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[AskedT]: ...
    def __getitem__(self, index: int | slice) -> AskedT | Sequence[AskedT]:
        return self._candidates[index]

    def told(self, known: Mapping[AskedT, Verdict]) -> list[Verdict]:
        """Return what the search is sent once all that can tell anything is known."""
        return [known.get(candidate, Verdict.SKIP) for candidate in self._candidates]
