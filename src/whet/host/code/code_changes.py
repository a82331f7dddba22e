"""What changed in the code between two trials, in a line or as a diff."""

from pathlib import Path

from whet.core.trial import CodeState
from whet.core.value_class import value_class
from whet.host.code.snapshot_memory import SetAside
from whet.host.process.git import GitFailedError, Repository

_SHOWN_FILES = 2
_REPOSITORY = "160000 "  # its mode in a tree of git's
_SHORT = 7  # characters of a commit's name, as git shows it

# The user's own diff programs and text conversions are for people, not for a record.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames")


@value_class(kw_only=True)
class FileChange:
    """How one file differs between two states of the code.

    Attributes:
        path: its name in the later state.
        was: its name in the earlier state if it was renamed, else empty.
        added: lines that are new; None for a binary file.
        removed: lines that are gone; None for a binary file.
    """

    path: str
    was: str = ""
    added: int | None = None
    removed: int | None = None

    def __str__(self) -> str:
        """Return the change in a few words, such as ``train.py +2 −1``."""
        name = f"{self.was} → {self.path}" if self.was else self.path
        if self.added is None or self.removed is None:
            return f"{name} changed"
        if not self.added and not self.removed:
            return name if self.was else f"{name} changed mode"
        return f"{name} +{self.added} −{self.removed}"


def describe_changes(before: CodeState, after: CodeState) -> str:
    """Return what changed in one line, such as ``train.py +2 −1``; empty if nothing did."""
    if before.repository != after.repository:
        return f"another repository: {after.repository}"
    if before.tree == after.tree and before.commit == after.commit:
        return ""
    parts: list[str] = []
    if before.commit != after.commit:
        parts.append(f"HEAD {_short(before.commit)} → {_short(after.commit)}")
    if before.tree != after.tree:
        try:
            changes = file_changes(before, after)
        except GitFailedError:
            return "; ".join([*parts, "the code, which the repository no longer holds"])
        parts.extend(_in_one_line([*map(str, changes), *_large_changes(before, after)]))
        # A search has a digest of its own, in which its payloads don't count.
        if not parts and (_holds_a_repository(before) or _holds_a_repository(after)):
            parts.append("uncommitted changes in a submodule")
    return "; ".join(parts)


def file_changes(before: CodeState, after: CodeState) -> tuple[FileChange, ...]:
    """Return the kept files that differ, the most changed lines first.

    Raises:
        GitFailedError: if one of the states is no longer in the repository.
    """
    old, new = _tree_of(before), _tree_of(after)
    listing = _repository(after).get("diff-tree", "-r", "-z", "--numstat", *_PLAIN, old, new)
    fields = iter(listing.split("\0")[:-1])
    changes: list[FileChange] = []
    for entry in fields:
        additions, removals, path = entry.split("\t", 2)
        was = "" if path else next(fields)
        changes.append(
            FileChange(
                path=path or next(fields),
                was=was,
                added=None if additions == "-" else int(additions),
                removed=None if removals == "-" else int(removals),
            )
        )
    aside = {*_large(before), *_large(after)}
    inside = [change for change in changes if change.path not in aside]
    return tuple(sorted(inside, key=lambda c: (-(c.added or 0) - (c.removed or 0), c.path)))


def diff_text(before: CodeState, after: CodeState) -> str:
    """Return the change of the kept files as a unified diff.

    Bytes that aren't UTF-8 become replacement characters.

    Raises:
        GitFailedError: if one of the states is no longer in the repository.
    """
    old, new = _tree_of(before), _tree_of(after)
    if old == new:
        return ""
    answer = _repository(after).ask("diff-tree", "-r", "-p", *_PLAIN, old, new)
    if answer.exit_code != 0:
        raise GitFailedError(f"git diff-tree: {answer.complaint}")
    return answer.stdout.decode("utf-8", "replace")


def _repository(code: CodeState) -> Repository:
    top = Path(code.repository)
    if not top.is_dir():
        raise GitFailedError(f"`{top}` no longer exists")
    return Repository.keeping(top)


def _tree_of(code: CodeState) -> str:
    # `code.tree` is a digest, and no tree of git's, where large files count.
    revision = code.snapshot or code.commit
    return f"{revision}^{{tree}}" if revision else code.tree


def _holds_a_repository(code: CodeState) -> bool:
    """Whether another repository is in the code, of whose changes only a digest is known."""
    listing = _repository(code).get("ls-tree", "-r", "-z", _tree_of(code))
    return any(line.startswith(_REPOSITORY) for line in listing.split("\0"))


def _large(code: CodeState) -> dict[str, SetAside]:
    files = (SetAside.read(entry) for entry in code.large_files)
    return {file.path: file for file in files}


def _large_changes(before: CodeState, after: CodeState) -> list[str]:
    old, new = _large(before), _large(after)
    deletions = [f"{path} gone" for path in sorted(old.keys() - new.keys())]
    additions = [f"{path} new ({new[path].size_bytes} bytes)" for path in sorted(new.keys() - old)]
    both = sorted(old.keys() & new.keys())
    return [f"{path} changed" for path in both if old[path] != new[path]] + additions + deletions


def _in_one_line(changes: list[str]) -> list[str]:
    if not changes:
        return []
    sentences = changes[:_SHOWN_FILES]
    rest = len(changes) - len(sentences)
    return [", ".join([*sentences, *([f"{rest} more"] if rest else [])])]


def _short(commit: str) -> str:
    return commit[:_SHORT] or "no commit"
