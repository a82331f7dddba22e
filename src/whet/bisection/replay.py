"""A search as the log that `git bisect replay` reads, so that git can resume from it."""

import shlex
from collections.abc import Callable, Sequence

from whet.bisection.terms import Terms
from whet.core.value_class import value_class
from whet.core.verdict import Verdict


@value_class(kw_only=True)
class BisectLog:
    """A search over commits, to be written down.

    Attributes:
        old: full id of the old end.
        new: full id of the new end.
        tested: each commit with what the search was told of it; of two that are of the new
            kind the one that git shall keep comes last.
        terms: what the sides are called.
        title: the first line of a commit's message.
        paths: what the search was limited to.
        is_line: it followed first parents alone.
        first_bad: what was found, if it was.
    """

    old: str
    new: str
    tested: Sequence[tuple[str, Verdict]]
    terms: Terms
    title: Callable[[str], str]
    paths: Sequence[str] = ()
    is_line: bool = False
    first_bad: str | None = None

    def __str__(self) -> str:
        """Return the log, less the last line end."""
        options: list[str] = []
        if self.terms != Terms():
            options += [f"--term-new={self.terms.new}", f"--term-old={self.terms.old}"]
        if self.is_line:
            options.append("--first-parent")
        if self.paths:
            options += ["--", *self.paths]
        lines = [" ".join(["git bisect start", *(_quoted(option) for option in options)])]
        for commit, told in ((self.new, Verdict.BAD), (self.old, Verdict.GOOD), *self.tested):
            word = self.terms.word_for(told)
            lines += [f"# {word}: [{commit}] {self.title(commit)}", f"git bisect {word} {commit}"]
        if self.first_bad is not None:
            title = self.title(self.first_bad)
            lines.append(f"# first {self.terms.new} commit: [{self.first_bad}] {title}")
        return "\n".join(lines)


def _quoted(word: str) -> str:
    # git reads back only what is quoted, whatever is in it.
    quoted = shlex.quote(word)
    return quoted if quoted.startswith("'") else f"'{word}'"
