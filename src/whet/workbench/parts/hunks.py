"""The parts of a change between two commits, and the commits that have some of them.

An edited text file consists of its hunks. A change without hunks is one part: a binary file, a new,
deleted or renamed file, a new mode, a submodule. Compiled Python files are no part, because they follow
from the source.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.tree_changes import (
    GONE,
    PartialCommits,
    PathChange,
    Placed,
    blob_of,
    is_python,
    line_changes,
    path_changes,
)
from whet.host.process.git import GitFailedError, Repository
from whet.reduction.formats.documents.diff_text import Hunk, parse_diff, with_hunks
from whet.search.subsets.bound import bound_together
from whet.workbench.trials.changed_part import ChangedLines


@value_class(kw_only=True)
class Part:
    """A part of a change: taken or not, as a whole.

    Attributes:
        file: position of the path that it changes.
        hunks: those of its file, by their place; none: the path itself, or its mode.
    """

    file: int
    hunks: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class _File:
    """A path that changes.

    Attributes:
        change: how.
        old: what it held, if it falls into hunks.
        hunks: those; none: it is taken as a whole.
    """

    change: PathChange
    old: bytes = b""
    hunks: tuple[Hunk, ...] = ()
    blobs: dict[bytes, str] = field(default_factory=dict[bytes, str])

    @property
    def has_new_mode(self) -> bool:
        return self.change.old_mode != self.change.new_mode

    def content(self, hunks: Collection[int]) -> bytes:
        selection = (hunk for place, hunk in enumerate(self.hunks) if place in hunks)
        return with_hunks(self.old, selection)


class ChangeParts:
    """A change between two commits, cut into parts.

    Attributes:
        parts: all of them, in the order of the diff.
        leaves_out: some of what differs is no part: it is what Python has compiled.
    """

    def __init__(
        self, repository: Repository, commits: PartialCommits, ends: Sequence[str]
    ) -> None:
        """Cut the change between two commits, the old and the new one.

        Raises:
            GitFailedError: if git can't tell how they differ.
        """
        self._commits = commits
        self._new = ends[1]
        self._made: dict[frozenset[int], str] = {}
        changes = path_changes(repository, *ends)
        visible = [change for change in changes if not change.is_compiled]
        self.leaves_out = len(visible) < len(changes)
        self._files = [_read(repository, change) for change in visible]
        self.parts: tuple[Part, ...] = tuple(
            part for number, file in enumerate(self._files) for part in _parts_of(number, file)
        )

    def commit_of(self, kept: Collection[int]) -> str:
        """Return the commit that has these parts of the change alone.

        Raises:
            GitFailedError: if there can be none: a file where there is a folder.
        """
        if len(kept) == len(self.parts) and not self.leaves_out:
            return self._new
        choice = frozenset(kept)
        if choice not in self._made:
            self._made[choice] = self._commits.commit(self._placed(self._chosen(kept)))
        return self._made[choice]

    def verdict_without_a_run(self, kept: Collection[int]) -> Verdict | None:
        """Return what is known of these parts: SKIP if they leave a Python file that is none."""
        for number, parts in self._chosen(kept).items():
            file = self._files[number]
            hunks = {at for part in parts for at in part.hunks}
            if 0 < len(hunks) < len(file.hunks) and not _makes_sense(file, hunks):
                return Verdict.SKIP
        try:
            self.commit_of(kept)
        except GitFailedError:
            return Verdict.SKIP
        return None

    def label(self, kept: Collection[int]) -> str:
        """Return a choice of parts in a few words."""
        return f"{len(kept)} of {len(self.parts)} hunks"

    def places(self, kept: Collection[int]) -> tuple[ChangedLines, ...]:
        """Return which lines of the new files the parts make."""
        return tuple(
            place
            for part in (self.parts[at] for at in sorted(kept))
            for place in self._places(part)
        )

    def _places(self, part: Part) -> Iterator[ChangedLines]:
        file = self._files[part.file]
        if not part.hunks:
            yield ChangedLines(file.change.path)
        for at in part.hunks:
            yield ChangedLines(file.change.path, *_new_lines(file.hunks, at))

    def _chosen(self, kept: Collection[int]) -> dict[int, list[Part]]:
        selection: dict[int, list[Part]] = {}
        for at in sorted(kept):
            selection.setdefault(self.parts[at].file, []).append(self.parts[at])
        return selection

    def _placed(self, selection: dict[int, list[Part]]) -> Iterator[Placed]:
        for number, parts in selection.items():
            file, change = self._files[number], self._files[number].change
            if not file.hunks:
                if change.was:
                    yield Placed(path=change.was, mode=GONE, blob="0" * len(change.old_blob))
                yield Placed(path=change.path, mode=change.new_mode, blob=change.new_blob)
                continue
            hunks = {at for part in parts for at in part.hunks}
            takes_mode = any(not part.hunks for part in parts)
            yield Placed(
                path=change.path,
                mode=change.new_mode if takes_mode else change.old_mode,
                blob=self._blob(file, hunks),
            )

    def _blob(self, file: _File, hunks: Collection[int]) -> str:
        if not hunks:
            return file.change.old_blob
        if len(hunks) == len(file.hunks):
            return file.change.new_blob
        content = file.content(hunks)
        if content not in file.blobs:
            file.blobs[content] = self._commits.blob(content)
        return file.blobs[content]


def _read(repository: Repository, change: PathChange) -> _File:
    whole = _File(change=change)
    if not change.is_edit or change.old_blob == change.new_blob:
        return whole
    diff = parse_diff(line_changes(repository, change.old_blob, change.new_blob))
    if diff is None or len(diff.files) != 1 or not diff.files[0].hunks:
        return whole
    file = replace(whole, old=blob_of(repository, change.old_blob), hunks=diff.files[0].hunks)
    # What git says it does to the file has to come out, or it is taken as a whole.
    is_right = file.content(range(len(file.hunks))) == blob_of(repository, change.new_blob)
    return file if is_right else whole


def _parts_of(number: int, file: _File) -> Iterator[Part]:
    if not file.hunks or file.has_new_mode:
        yield Part(file=number)
    count = len(file.hunks)
    if count and _is_python_at_both_ends(file):
        for group in bound_together(count, lambda hunks: _makes_sense(file, hunks)):
            yield Part(file=number, hunks=group)
    else:
        yield from (Part(file=number, hunks=(at,)) for at in range(count))


def _is_python_at_both_ends(file: _File) -> bool:
    ends = (file.old, file.content(range(len(file.hunks))))
    return is_python(file.change.path) and all(map(_compiles, ends))


def _makes_sense(file: _File, hunks: Collection[int]) -> bool:
    """Whether a file with some of its hunks is one; where Python can tell."""
    return not _is_python_at_both_ends(file) or _compiles(file.content(hunks))


def _compiles(source: bytes) -> bool:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that mean nothing
        try:
            compile(source, "<part>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _new_lines(hunks: Sequence[Hunk], at: int) -> tuple[int, int]:
    """Return the first and the last line of the new file that a hunk makes; where it makes none, the one in their place."""
    added = [sum(line.sign == b"+" for line in hunk.lines) for hunk in hunks]
    removed = [sum(line.sign == b"-" for line in hunk.lines) for hunk in hunks]
    # Where nothing goes, git tells the line above.
    first = hunks[at].old + sum(added[:at]) - sum(removed[:at]) + (not removed[at])
    return max(first, 1), max(first + added[at] - 1, first, 1)
