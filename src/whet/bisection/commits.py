"""Commits as a person wants to see them."""

import re
from collections.abc import Iterable

from whet.core.text.shown_text import visible_line
from whet.core.value_class import value_class
from whet.host.process.git import Repository

_SHOWN_FILES = 8
_SHOWN_MESSAGE = 12  # lines
_REVERTS = re.compile(r"[Tt]his reverts commit ([0-9a-f]{7,64})")


@value_class(kw_only=True)
class CommitSummary:
    """A commit in one line.

    Attributes:
        commit: full id.
        short: the shortest id that git finds clear.
        date: of the author, ISO 8601 with time zone.
        author: name of the author.
        subject: first line of the message.
    """

    commit: str
    short: str
    date: str
    author: str
    subject: str

    def __str__(self) -> str:
        return f"{self.short} {self.date[:10]} {self.subject}"


@value_class(kw_only=True)
class CommitDescription:
    """A commit with what it changed and how it came in.

    Attributes:
        summary: the commit.
        files: paths that it changed against its first parent.
        merge: the merge that brought it to the main line; None if it was made there.
        message: what is below the first line of its message.
        reverts: the commit that it says it takes back, or None.
        reverted_by: the commit that says it takes this one back, or None.
    """

    summary: CommitSummary
    files: tuple[str, ...]
    merge: CommitSummary | None
    message: str = ""
    reverts: CommitSummary | None = None
    reverted_by: CommitSummary | None = None

    def __str__(self) -> str:
        lines = [
            f"{self.summary.short} {self.summary.subject}",
            f"{self.summary.author}, {self.summary.date}",
        ]
        if self.merge is not None:
            lines.append(f"came in with {self.merge}")
        if self.reverts is not None:
            lines.append(f"reverts {self.reverts}")
        if self.reverted_by is not None:
            lines.append(f"reverted by {self.reverted_by}")
        body = self.message.splitlines()
        lines += [f"    {line}".rstrip() for line in ("", *body[:_SHOWN_MESSAGE]) if body]
        if body:
            lines.append("    ..." if len(body) > _SHOWN_MESSAGE else "")
        shown = self.files[:_SHOWN_FILES]
        lines += [f"  {name}" for name in shown]
        if len(self.files) > len(shown):
            lines.append(f"  and {len(self.files) - len(shown)} files more")
        return "\n".join(map(visible_line, lines))


def summaries(repository: Repository, commits: Iterable[str]) -> dict[str, CommitSummary]:
    """Return the summaries of many commits, by full id, in one call of git."""
    wanted = "\n".join(commits)
    if not wanted:
        return {}
    listed = repository.get(
        "log", "--no-walk=unsorted", "--stdin", "-z",
        "--format=%H%x09%h%x09%aI%x09%aN%x09%s",
        stdin=wanted.encode(),
    )  # fmt: skip
    found = (_summary(entry) for entry in listed.split("\0") if entry)
    return {summary.commit: summary for summary in found}


def describe(repository: Repository, commit: str, *, main_line: str) -> CommitDescription:
    """Return all there is to show of a commit.

    Args:
        repository: where it is.
        commit: full id.
        main_line: the newest commit of the line that it came to, such as the bad end.
    """
    merge = _merge_of(repository, commit, main_line)
    message = repository.get("show", "--no-patch", "--format=%b", commit)
    related = (merge, _reverted_in(repository, message), _revert_of(repository, commit))
    found = summaries(repository, [commit, *(each for each in related if each is not None)])
    merge_shown, reverts, reverted_by = (found.get(each or "") for each in related)
    return CommitDescription(
        summary=found[commit],
        files=_files(repository, commit),
        merge=merge_shown,
        message=message.strip(),
        reverts=reverts,
        reverted_by=reverted_by,
    )


def _summary(entry: str) -> CommitSummary:
    commit, short, date, author, subject = entry.split("\t", 4)
    return CommitSummary(commit=commit, short=short, date=date, author=author, subject=subject)


def _files(repository: Repository, commit: str) -> tuple[str, ...]:
    above = repository.get("rev-list", "--parents", "-n1", commit).split()[1:]
    # A merge against its first parent: what it brought to the line.
    ends = (above[0], commit) if above else ("--root", "--no-commit-id", commit)
    listed = repository.get("diff-tree", "-r", "-z", "--name-only", *ends)
    return tuple(name for name in listed.split("\0") if name)


def _reverted_in(repository: Repository, message: str) -> str | None:
    """Return the commit that a message says it takes back, if it is there."""
    named = _REVERTS.search(message)
    if named is None:
        return None
    known = repository.ask("rev-parse", "--verify", "--quiet", f"{named[1]}^{{commit}}")
    return known.text if known.exit_code == 0 else None


def _revert_of(repository: Repository, commit: str) -> str | None:
    """Return the newest commit on any branch whose message says that it takes back ``commit``."""
    asked = ("--fixed-strings", f"--grep=This reverts commit {commit}", "--format=%H")
    found = repository.get("log", "-1", "--branches", "--remotes", *asked, f"^{commit}", "HEAD")
    return found or None


def _merge_of(repository: Repository, commit: str, main_line: str) -> str | None:
    """Return the oldest commit of the main line that has ``commit`` before it, if that merged it."""
    span = f"{commit}..{main_line}"
    line = repository.get("rev-list", "--first-parent", span).split()
    after = set(repository.get("rev-list", "--ancestry-path", span).split())
    having = [each for each in line if each in after]
    if not having:
        return None
    oldest = having[-1]
    first_parent = repository.get("rev-parse", f"{oldest}^1")
    return None if first_parent == commit else oldest
