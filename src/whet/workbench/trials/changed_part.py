"""The smallest part of a change that causes a failure, as a value to display."""

from collections.abc import Sequence

from whet.core.budget import StopReason
from whet.core.text.quantity import shown_count
from whet.core.value_class import value_class


@value_class
class ChangedLines:
    """The lines of a new file that a hunk makes.

    Attributes:
        path: the file.
        first: its first line; 0: it is the file as a whole.
        last: its last line.
    """

    path: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        """Return them such as ``train.py:31`` or ``train.py:31-33``."""
        lines = f"{self.first}-{self.last}" if self.last > self.first else f"{self.first}"
        return f"{self.path}:{lines}" if self.first else self.path


_MOST_PLACES = 8


def shown_places(places: Sequence[ChangedLines]) -> str:
    """Return places in a row, so many as can be read."""
    more = len(places) - _MOST_PLACES
    also = f" and {more} more places" if more > 0 else ""
    return ", ".join(map(str, places[:_MOST_PLACES])) + also


@value_class(kw_only=True)
class Undoing:
    """A part of a change without which all the rest of it passes.

    Attributes:
        places: the lines of the changed files that decide.
        besides: lines that are undone too, such as an import that the old lines need.
        old: the lines that decide as they were.
        new: the lines that decide as they are.
        diff: from all of the change to the rest of it, to read.
    """

    places: tuple[ChangedLines, ...]
    besides: tuple[ChangedLines, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    diff: str

    @property
    def sentence(self) -> str:
        """What to undo so that it passes, in a sentence."""
        were = "it was" if len(self.places) == 1 else "they were"
        besides = f" ({shown_places(self.besides)} undone too)" if self.besides else ""
        return f"with {shown_places(self.places)} as {were} it passes{besides}"


@value_class(kw_only=True)
class SmallestPart:
    """A part of a change that brings the failure, none of whose edits can be left out.

    Attributes:
        base: the commit that it is a change of, in a word.
        changed: the commit that has all of the change, in a word.
        commit: git's name of the commit that has this part alone.
        diff: the part, to read.
        apply: a line for a shell that makes a working tree with this part alone, as was tried;
            empty: none does, as no commit of the user's holds the code without it.
        places: the lines that its hunks make.
        before: how many hunks, or files taken as a whole, all of the change has.
        after: in how many of them this part is.
        edits_before: how many edits, statements or lines, all of the change has.
        edits_after: how many this part has.
        bad_means: what it brings, to complete "bad means ...".
        stopped: why the search ended.
        trials: how many trials it took.
        remembered: how many more were answered by earlier ones.
        senseless: how many choices were not run, as Python could not have read them.
        wall_seconds: how long it took.
        is_verified: it was seen to bring the failure by a run of this search.
        undoing: a part no larger, without which all the rest of the change passes; None: there is none, or
            the search didn't come so far.
        rest_fails: all the rest of the change brings the failure, too.
    """

    base: str
    changed: str
    commit: str
    diff: str
    apply: str
    places: tuple[ChangedLines, ...]
    before: int
    after: int
    edits_before: int
    edits_after: int
    bad_means: str
    stopped: StopReason
    trials: int
    remembered: int
    senseless: int
    wall_seconds: float
    is_verified: bool
    undoing: Undoing | None = None
    rest_fails: bool = False

    @property
    def share(self) -> str:
        """How much of the change it is, in a few words; where no hunk is cut, hunks are counted."""
        if self.edits_before == self.before:
            return f"{self.after} of {shown_count(self.before, 'hunk')}"
        return f"{self.edits_after} of {shown_count(self.edits_before, 'edit')}"

    @property
    def decides_by_undoing(self) -> bool:
        """Whether what to undo is less than what brings the failure, so that it is the answer."""
        if self.undoing is None:
            return False
        return not self.stopped.is_complete or len(self.undoing.places) < len(self.places)

    @property
    def decides(self) -> tuple[ChangedLines, ...]:
        """The fewest lines that are known to decide."""
        if self.undoing is None or not self.decides_by_undoing:
            return self.places
        return self.undoing.places
