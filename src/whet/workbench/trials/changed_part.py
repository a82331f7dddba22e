"""The smallest part of a change that causes a failure, as a value to display."""

from whet.core.budget import StopReason
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


@value_class(kw_only=True)
class SmallestPart:
    """A part of a change, none of whose hunks can be left out.

    Attributes:
        base: the commit that it is a change of, in a word.
        changed: the commit that has all of the change, in a word.
        commit: git's name of the commit that has this part alone.
        diff: the part, to read.
        apply: a line for a shell that makes a working tree with this part alone, as was tried;
            empty: none does, as no commit of the user's holds the code without it.
        places: the lines that its hunks make.
        before: how many hunks, or files taken as a whole, all of the change has.
        after: how many this part has.
        bad_means: what it brings, to complete "bad means ...".
        stopped: why the search ended.
        trials: how many trials it took.
        remembered: how many more were answered by earlier ones.
        senseless: how many choices were not run, as Python could not have read them.
        wall_seconds: how long it took.
        is_verified: it was seen to bring the failure by a run of this search.
    """

    base: str
    changed: str
    commit: str
    diff: str
    apply: str
    places: tuple[ChangedLines, ...]
    before: int
    after: int
    bad_means: str
    stopped: StopReason
    trials: int
    remembered: int
    senseless: int
    wall_seconds: float
    is_verified: bool
