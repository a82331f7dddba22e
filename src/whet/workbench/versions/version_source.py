"""The interface of a kind of history, for a search over versions."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from whet.bisection.equal_trees import EqualTrees
from whet.bisection.grafted_lines import GraftedLines
from whet.bisection.picture import Shown, outline, picture
from whet.bisection.terms import Terms
from whet.core.errors import CheckHasNoPlace
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.cold import Observe
from whet.search.history.bisection import Bisection
from whet.workbench.files.pasted_line import Shell
from whet.workbench.trials.driver import Question
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.session import Place


@value_class(kw_only=True)
class Versions(ABC):
    """The versions of something, as a search over them needs it; each is known by an id.

    Attributes:
        kind: one of them in a word, such as ``commit``.
        subject: the repository's folder or the package's name.
        old: the old end; None: walk back until there is one.
        new: the new end.
        place: wraps an executor so that it makes a place for each version.
        remarks: what is to be said beforehand, such as which versions are left out and why.
        equal: tells which versions equal a tested one in all that it read; None: unknown.
        observe: says where it is to be noted what a trial looks at; None: nowhere.
        installed: the version that the command itself finds; a trial on it must do the same.
    """

    kind: ClassVar[str]
    subject: str
    old: str | None
    new: str
    place: Place
    remarks: tuple[str, ...] = ()
    equal: EqualTrees | None = None
    observe: Observe | None = None
    installed: str = ""

    # ---- what a version is ----

    def label(self, version: str) -> str:
        """Return a version in a word."""
        return version

    @abstractmethod
    def describe(self, versions: Sequence[str]) -> Mapping[str, str]:
        """Return what is known of versions, each in a line."""

    @abstractmethod
    def details(self, version: str) -> str:
        """Return a version in lines of text."""

    def titles(self, versions: Sequence[str]) -> Mapping[str, str]:
        """Return what a picture says of versions."""
        return {version: version for version in versions}

    @abstractmethod
    def on(self, trial: Trial, version: str) -> Trial:
        """Return the trial that runs on a version."""

    def question(self, trial: Trial, version: str) -> Question:
        """Return what is to be run to judge a version."""
        label = self.label(version)
        try:
            return Question(trial=self.on(trial, version), label=label)
        except CheckHasNoPlace as refusal:
            return Question(trial=self.plain(trial, version), label=label, refusal=refusal)

    def recalled(self, trial: Trial) -> Outcome | None:
        """Return what came of a trial on its own, where that is remembered."""
        del trial
        return None

    def diff(self, version: str, paths: Collection[str]) -> str:
        """Return what a version changed, first in files of these paths; empty: not known."""
        del version, paths
        return ""

    def with_check(self, paths: Sequence[str]) -> "Versions":
        """Return the same ones, each with these files as they are at the new end."""
        del paths
        return self

    def with_lines(
        self,
        files: Mapping[str, GraftedLines],
        place: str,
        new: str,
        *,
        source: str = "",
        is_marked: bool = False,
    ) -> "Versions":
        """Return those up to one of them, each with lines that fail today where they belong.

        Args:
            files: the lines, by the path of their file.
            place: where the last of them is today.
            new: the new end.
            source: the version whose paths these are; empty: the newest.
            is_marked: the program ends where it reaches that line.
        """
        del files, place, new, source, is_marked
        return self

    @property
    def has_other_check(self) -> bool:
        """Whether a version was run with files that it doesn't have so itself."""
        return False

    def again(self, shell: Shell) -> PastedLine | None:
        """Return a line that runs a trial on its version; None: there is none."""
        del shell
        return None

    def plain(self, trial: Trial, version: str) -> Trial:
        """Return the trial that runs on a version as it was, without what it gets of today."""
        return self.on(trial, version)

    # ---- how they are searched ----

    @abstractmethod
    def bisection(self, old: str, new: str) -> Bisection[str]:
        """Return the search between an old and a new end."""

    @abstractmethod
    def line(self) -> tuple[Sequence[str], frozenset[int]]:
        """Return the new end and those before it, newest first, and which of them to prefer."""

    @property
    def is_grouped(self) -> bool:
        """Whether `bisection` takes several versions for one, to search `inside` it later."""
        return False

    def whole(self, old: str, new: str) -> Bisection[str]:
        """Return the search between two ends with each version on its own."""
        return self.bisection(old, new)

    def inside(self, version: str) -> Bisection[str] | None:
        """Return the search in what a version brought in; None: it isn't made of others."""
        del version
        return None

    def deeper(self) -> str:
        """Return how to get at older versions that are missing; empty: none are."""
        return ""

    # ---- what is shown of a search ----

    def picture(self, state: Bisection[str], terms: Terms) -> str:
        """Return what is left, as lines of text."""
        rows = outline(state.standings(), first_bad=state.result().first_bad)
        titles = self.titles([row.version for row in rows if isinstance(row, Shown)])
        return picture(rows, lambda version: titles[version], terms=terms)

    def log(self, state: Bisection[str], terms: Terms) -> str:
        """Return a search as `git bisect replay` reads it; empty: git knows no such versions."""
        del state, terms
        return ""
