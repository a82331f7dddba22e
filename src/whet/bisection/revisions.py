"""The history of a git repository, as a search needs it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.bisection.names import deeper, in_words, resolve
from whet.bisection.terms import Terms
from whet.core.errors import (
    BadUsage,
    EndsReversed,
    HostFailure,
    NotAnAncestor,
    NothingBetween,
    SameEnds,
)
from whet.core.value_class import value_class
from whet.host.process.git import Repository
from whet.search.history.bisection import Bisection

_SHORT_ID = 10


@value_class(kw_only=True)
class RevisionHistory:
    """The commits between a good and a bad one.

    Attributes:
        repository: where they are.
        good: full id of the old end.
        bad: full id of the new end.
        parents: each commit that may be the first bad one with those directly before it,
            in the order of `git rev-list`. With ``paths`` only those that touch them, and
            ``bad``.
        paths: what the history was limited to.
        is_line: merges count as one commit each, with all that they brought.
        remark: what the old end is in place of the commit that was named; may be empty.
    """

    repository: Repository
    good: str
    bad: str
    parents: Mapping[str, tuple[str, ...]]
    paths: tuple[str, ...] = ()
    is_line: bool = False
    remark: str = ""

    @classmethod
    def between(
        cls,
        repository: Repository,
        good: str,
        bad: str,
        *,
        paths: Sequence[str] = (),
        folder: Path | None = None,
        terms: Terms | None = None,
    ) -> "RevisionHistory":
        """Return the history from ``good`` to ``bad``, names of commits as git reads them.

        If ``good`` is on another line than ``bad``, the old end is the commit where the lines
        part, and the suspects are those of the line of ``bad``.

        Args:
            repository: where they are.
            good: the old end.
            bad: the new end.
            paths: only commits that touch these; as in `git bisect start -- PATH`.
            folder: what ``paths`` are relative to; None: the top of the repository.
            terms: what the ends are called.

        Raises:
            UnknownRevision: if git knows no such commit.
            SameEnds: if both are the same commit.
            EndsReversed: if ``bad`` is an ancestor of ``good``.
            NotAnAncestor: if they have no commit in common.
            NothingBetween: if no commit in between touches ``paths``.
            BadUsage: if a path is outside of the repository.
            HostFailure: if the repository is damaged.
        """
        named, new = resolve(repository, good), resolve(repository, bad)
        if named == new:
            raise SameEnds(
                f"`{good}` and `{bad}` are the same commit, {named[:_SHORT_ID]}",
                hint="name an older commit that still worked, or leave it out and let whet find one",
            )
        old, remark = named, ""
        if not is_ancestor(repository, named, new):
            old = _common(repository, (good, named), (bad, new), terms or Terms())
            remark = f"`{good}` is not an ancestor of `{bad}`: their lines part at {old[:_SHORT_ID]}, which whet takes for the {(terms or Terms()).old} end"
        parents = _parents(repository, (new, f"^{named}"), paths, folder)
        if paths and not parents:
            raise NothingBetween(
                f"no commit between `{good}` and `{bad}` touches {in_words(paths)}",
                hint="check the path, which is relative to the current folder, or leave it out",
            )
        if new not in parents:
            # It has what the newest listed ones have, as far as `paths` go. It is kept as a
            # suspect of its own: if it turns out to be the first bad one, the paths aren't
            # where the failure came from.
            parents = {new: _tips(parents), **parents}
        return cls(
            repository=repository,
            good=old,
            bad=new,
            parents=parents,
            paths=tuple(paths),
            remark=remark,
        )

    def line(self, *, folder: Path | None = None) -> "RevisionHistory":
        """Return the same by first parents: a merge is one commit, with all that it brought."""
        ends = ("--first-parent", self.bad, f"^{self.good}")
        listed = _parents(self.repository, ends, self.paths, folder)
        parents = {commit: above[:1] for commit, above in listed.items()}
        if self.bad not in parents:
            parents = {self.bad: _tips(parents)[:1], **parents}
        return replace(self, parents=parents, is_line=True)

    def bisection(self) -> Bisection[str]:
        """Return the search for the first bad commit."""
        return Bisection(self.parents, self.bad, (self.good,))


@value_class(kw_only=True)
class RevisionLine:
    """A bad commit and those before it by first parents, to find a good one on.

    Attributes:
        commits: full ids, the bad one first; the position is the distance.
        tagged: the positions of those that carry a tag.
    """

    commits: tuple[str, ...]
    tagged: frozenset[int]

    @classmethod
    def before(
        cls,
        repository: Repository,
        bad: str,
        *,
        paths: Sequence[str] = (),
        folder: Path | None = None,
    ) -> "RevisionLine":
        """Return the line that ends in ``bad``.

        Raises:
            UnknownRevision: if git knows no such commit.
            NothingBetween: if there is no commit before it.
            BadUsage: if a path is outside of the repository.
            HostFailure: if the repository is damaged.
        """
        new = resolve(repository, bad)
        listed = _rev_list(repository, ("--first-parent", new), paths, folder).split()
        commits = (new, *(commit for commit in listed if commit != new))
        if len(commits) == 1:
            raise NothingBetween(
                f"`{bad}` has no commit before it"
                + (f" that touches {in_words(paths)}" if paths else ""),
                hint=deeper(repository) or "name a commit with a history",
            )
        tags = repository.get("for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags")
        tagged = set(tags.split())
        marks = frozenset(index for index, commit in enumerate(commits) if commit in tagged)
        return cls(commits=commits, tagged=marks - {0})


def inside_of(
    repository: Repository, commit: str, paths: Sequence[str] = (), folder: Path | None = None
) -> RevisionHistory | None:
    """Return what a merge brought in, if ``commit`` is one, with itself as the new end.

    Its first parent is good, as a search by first parents has found. If all that it brought
    is good too, the merge itself is the first bad one: the two lines don't go together.
    """
    first, *others = repository.get("rev-list", "--parents", "-n1", commit).split()[1:] or [""]
    if not others:
        return None
    parents = _parents(repository, (commit, f"^{first}"), paths, folder)
    if commit not in parents:
        parents = {commit: _tips(parents), **parents}
    return RevisionHistory(
        repository=repository, good=first, bad=commit, parents=parents, paths=tuple(paths)
    )


def _common(
    repository: Repository, good: tuple[str, str], bad: tuple[str, str], terms: Terms
) -> str:
    """Return where the lines of two commits part, each given by name and id.

    Raises:
        EndsReversed: if the new one is an ancestor of the old one.
        NotAnAncestor: if they have nothing in common.
    """
    if is_ancestor(repository, bad[1], good[1]):
        words = "broken,fixed" if not terms.is_fix else f"{terms.old},{terms.new}"
        raise EndsReversed(
            f"`{bad[0]}` ({terms.new}) is older than `{good[0]}` ({terms.old})",
            hint=f"the older end comes first: `whet bisect {bad[0]} {good[0]} -- ...`; to find the commit that fixed something, `whet bisect --terms {words} {bad[0]} {good[0]} -- ...`",
        )
    base = repository.ask("merge-base", good[1], bad[1]).text.partition("\n")[0]
    if not base:
        raise NotAnAncestor(
            f"`{good[0]}` is not an ancestor of `{bad[0]}`: they have no commit in common",
            hint=deeper(repository) or "name two commits of one line of history",
        )
    return base


def is_ancestor(repository: Repository, older: str, newer: str) -> bool:
    """Whether ``newer`` has ``older`` before it, both full ids.

    Raises:
        HostFailure: if the repository is damaged.
    """
    answer = repository.ask("merge-base", "--is-ancestor", older, newer)
    if answer.exit_code != 0 and answer.stderr:
        # A commit that is missing is complained of, with the exit code that also means "no".
        raise _damaged(repository, answer.complaint)
    return answer.exit_code == 0


def _damaged(repository: Repository, complaint: str) -> HostFailure:
    return HostFailure(
        f"git can't read the history of `{repository.top}`: {complaint}",
        hint="`git fsck` shows the damage",
    )


def _parents(
    repository: Repository, ends: Sequence[str], paths: Sequence[str], folder: Path | None
) -> dict[str, tuple[str, ...]]:
    # Not `--topo-order`: in git's own order, by date, ties end as they end in `git bisect`.
    listed = _rev_list(repository, ("--parents", *ends), paths, folder)
    lines = (line.split() for line in listed.splitlines())
    return {commit: tuple(parents) for commit, *parents in lines}


def _rev_list(
    repository: Repository, arguments: Sequence[str], paths: Sequence[str], folder: Path | None
) -> str:
    start = repository.top if folder is None else folder
    answer = repository.ask("-C", str(start), "rev-list", *arguments, "--", *paths)
    if answer.exit_code == 0:
        return answer.text
    if paths:
        raise BadUsage(
            f"git can't follow {in_words(paths)}: {answer.complaint}",
            hint=f"name files or folders inside `{repository.top}`",
        )
    raise _damaged(repository, answer.complaint)


def _tips(parents: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the commits that are before no other."""
    inner = {parent for above in parents.values() for parent in above}
    return tuple(commit for commit in parents if commit not in inner)
