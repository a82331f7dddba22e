"""A batch that is asked as a whole, by many workers at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar, overload

from whet.core.verdict import Verdict

AskedT = TypeVar("AskedT")


class Round(Sequence[AskedT], Generic[AskedT]):
    """Candidates that may all run at once, and whose verdicts are all told.

    A run that the verdicts of others have made needless is ended, or never begun, and told as
    SKIP: the search that made the round knows which ones these are. Where each verdict counts,
    none is needless; there a candidate may stand more than once.
    """

    def __init__(
        self,
        candidates: Sequence[AskedT],
        needless: Callable[[Mapping[AskedT, Verdict]], set[AskedT]] | None = None,
    ) -> None:
        """Make a round.

        Args:
            candidates: what to ask, in the order in which the verdicts are told.
            needless: returns, for the verdicts known so far, the candidates of which no
                verdict could tell anything more; None: all count.
        """
        self._candidates = tuple(candidates)
        self._needless = needless

    def __len__(self) -> int:
        return len(self._candidates)

    @overload
    def __getitem__(self, index: int) -> AskedT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[AskedT]: ...
    def __getitem__(self, index: int | slice) -> AskedT | Sequence[AskedT]:
        return self._candidates[index]

    def needless(self, known: Mapping[AskedT, Verdict]) -> set[AskedT]:
        """Return the candidates of which no verdict could tell anything more."""
        return set() if self._needless is None else self._needless(known)

    def open_places(self, known: Mapping[int, Verdict]) -> list[int]:
        """Return the places of the candidates whose verdicts are still to be known.

        Args:
            known: the verdicts so far, by place.
        """
        places = [place for place in range(len(self)) if place not in known]
        if self._needless is None:
            return places
        needless = self.needless({self[place]: verdict for place, verdict in known.items()})
        return [place for place in places if self[place] not in needless]

    def in_order(self, known: Mapping[int, Verdict]) -> list[Verdict]:
        """Return what the search is sent once all that can tell anything is known, by place."""
        return [known.get(place, Verdict.SKIP) for place in range(len(self))]
