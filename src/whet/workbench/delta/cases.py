"""Two cases, one that passes and one that fails, and trials with some of their differences."""

from collections.abc import Callable, Sequence
from pathlib import Path

from whet.core.difference import Change
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.search.subsets.hierarchy import Numbers
from whet.search.subsets.hierarchy import Path as Steps
from whet.workbench.files.results import place_beside
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.session import Place

FAILS, PASSES = "fails", "passes"
"""The words in the names of the two results."""


@value_class(kw_only=True)
class Cases:
    """A good case, a bad case, and every difference that can be switched on its own.

    Attributes:
        what: what differs, in the plural, such as ``settings``.
        good: the good case as the user named it.
        bad: the bad case.
        changes: the differences, in order.
        paths: where each of them stands, from the root: what belongs together falls together.
        trial: the trial of the good case with some of the differences.
        turned: the same with the other case as the good one.
        plain: the cases compared without looking into them, where that can be tried too.
        originals: the files that the trial has a copy of.
        result: the path and the content of what is written for some of the differences.
        place: where the trials run, if not where they stand.
        remarks: what is to be said beforehand.
        left_out: differences that can't be switched, each with why.
        are_past: they are runs of the past, of which not all may be known that they ran with.
    """

    what: str
    good: str
    bad: str
    changes: tuple[Change, ...]
    paths: tuple[Steps, ...]
    trial: Callable[[Numbers], Trial]
    turned: "Callable[[], Cases]"
    plain: "Callable[[], Cases] | None" = None
    originals: tuple[Path, ...] = ()
    result: "Callable[[Numbers, str], Result] | None" = None
    place: Place | None = None
    remarks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    are_past: bool = False

    @property
    def everything(self) -> Numbers:
        """All differences: the good case with them is the bad one."""
        return tuple(range(len(self.changes)))

    def without(self, numbers: Numbers) -> Numbers:
        """Return all differences but these."""
        removed_numbers = frozenset(numbers)
        return tuple(number for number in self.everything if number not in removed_numbers)


@value_class(kw_only=True)
class Result:
    """A case that was found, as it lies on disk.

    Attributes:
        path: the file or folder.
        shown: its name for the user.
        write: writes it, whole or not at all.
        trial: the command on it.
    """

    path: Path
    shown: str
    write: Callable[[], None]
    trial: Trial


def result_places(bench: Workbench, originals: Sequence[Path], folder: str = "") -> list[Path]:
    """Return where the results of two cases may go, whichever of the two is the bad one.

    Raises:
        CannotWrite: if their folder doesn't exist, or may not be written to.
    """
    words = (FAILS, PASSES)
    return [place_beside(bench, path, word, folder) for path in originals for word in words]
