"""What points at the cause of a failure, where the failure itself doesn't name it."""

from dataclasses import field, replace
from enum import Enum

from whet.core.text.json_record import APART, Record, sparse
from whet.core.text.shown_text import visible_line
from whet.core.value_class import value_class

_INSTALLED = ("/site-packages/", "/dist-packages/")


class Sureness(Enum):
    """How firmly a clue names the cause, in the words shown to the user."""

    SHOWN = "shown: the failure came and went with it"
    SEEN = "seen in the failing run, on the way to the failure"
    POSSIBLE = "possible: not shown to be the cause"


class StepKind(Enum):
    """What a step of a trail tells of a value, in words around the value's name."""

    VALUE = "{}"
    HOLDER = "what holds {}"
    RECORD = "record of {}"
    FILE = "file of {}"
    CHANGE = "{} was changed"


class Mention(Enum):
    """What the sentence of a clue tells already."""

    OTHERS = "how a record differs from the others of its file"
    TEXTS = "that numbers were compared as texts"
    CAUGHT = "that the program caught or ignored an error"
    MEMORY = "what takes the memory"
    LEFT_OUT = "that the command passes without a record"
    TWIN = "that the record stands twice"
    UNCAUGHT = "that no handler of the program's has caught an error"
    NEARER = "an error that the reported one stands for"
    DROPPED = "that a dropped result has to do with the value that failed"


@value_class(kw_only=True)
class TrailStep(Record):
    """One place on the way of a value.

    Attributes:
        says: what came by or happened there, such as a name of the program or a sentence.
        place: where, such as ``pages.py:10``; empty: it is no single line.
        source: what the program says there.
        value: what it came to.
        kind: what it tells of the value in `about`; None: something else. It isn't stored.
        about: the name of that value.
        record: the file and line of the record that it shows; empty: it shows none. It isn't stored.
    """

    says: str
    place: str = ""
    source: str = ""
    value: str = ""
    kind: StepKind | None = field(default=None, compare=False, metadata=APART)
    about: str = field(default="", compare=False, metadata=APART)
    record: tuple[tuple[str, int], ...] = field(default=(), compare=False, metadata=APART)

    @property
    def in_words(self) -> str:
        """It on one line, the place first."""
        source = f" (`{self.source}`)" if self.source else ""
        came_to = f" is {self.value}" if self.value else ""
        said = f"{self.says}{came_to}{source}"
        return f"{self.place}: {said}" if self.place else said

    def printable(self) -> "TrailStep":
        """Return it with what a terminal would obey as escapes."""
        words = {
            name: visible_line(" ".join(str(one).split("\n")))
            for name, one in self.to_json().items()
        }
        return replace(TrailStep.from_json(words), record=self.record)


@value_class(kw_only=True)
class Clue(Record):
    """Something that was seen, and the line that it points at.

    Attributes:
        says: what was seen, in a sentence that names the line.
        why: why it was looked for.
        path: the file that it points at.
        line: the line in it; 0: the file as a whole.
        sureness: how firmly it names the cause; a report calls only a clue that is SHOWN or SEEN
            the cause.
        trials: the notebook's numbers of the trials that it rests on.
        next_step: what to do about it, in a sentence; empty: the clue says enough.
        trail: how it came about, a place in each step, the nearest to the failure first; empty:
            the clue says enough.
        record: the record of an input file that the bad value came from, such as
            ``the record at data.csv:143 (`7,n/a`)``; empty: it is no such value, or isn't known.
        heading: what a report calls it where that isn't the cause, such as ``what takes the
            memory``; empty: it names the cause.
        mentions: what ``says`` tells of these. It isn't stored.
        records: the file and line of each record that ``record`` names. It isn't stored.
        alike: two values of which it says that they are nearly the same. They aren't stored.
    """

    says: str
    why: str
    path: str = ""
    line: int = 0
    sureness: Sureness = Sureness.POSSIBLE
    trials: tuple[int, ...] = ()
    next_step: str = ""
    trail: tuple[TrailStep, ...] = ()
    record: str = sparse("")
    heading: str = sparse("")
    mentions: frozenset[Mention] = field(
        default=frozenset[Mention](), compare=False, metadata=APART
    )
    records: tuple[tuple[str, int], ...] = field(default=(), compare=False, metadata=APART)
    alike: frozenset[str] = field(default=frozenset[str](), compare=False, metadata=APART)

    @property
    def whole(self) -> str:
        """What was seen with how it came about, on one line."""
        return "; ".join((self.says, *(step.in_words for step in self.trail)))

    def to_json(self) -> dict[str, object]:
        """Return this clue as JSON data."""
        return {**Record.to_json(self), "sureness": self.sureness.name.lower()}


@value_class
class Placing:
    """Says where a line is, as short as it can be said in a folder.

    Attributes:
        folder: where the program was started.
    """

    folder: str

    def absolute(self, path: str) -> str:
        """Return where a path is that a program started in the folder has said."""
        return path if path.startswith("/") else f"{self.folder.rstrip('/')}/{path}"

    def __call__(self, path: str, line: int = 0) -> str:
        """Return a place such as ``pkg/mod.py:12``, also of an installed package."""
        own = self.folder.rstrip("/") + "/"
        shown = path.removeprefix(own)
        for installed in _INSTALLED:
            shown = shown.rpartition(installed)[2]
        return f"{shown}:{line}" if line else shown
