"""The parts of a change between two commits, and the commits that have some of them.

An edited text file consists of small edits: statements in Python, lines in other texts. A change without lines
is one part: a binary file, a new, deleted or renamed file, a new mode, a submodule. Edits that make sense only
together are one part. Compiled Python files are no part, because they follow from the source.
"""

import ast
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from whet.core.observations.file_accesses import FileAccesses
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.tree_changes import (
    GONE,
    PLAIN_FILES,
    PartialCommits,
    PathChange,
    Placed,
    blob_of,
    is_python,
    line_changes,
    path_changes,
)
from whet.host.process.git import GitFailedError, Repository
from whet.reduction.edits.names import NamesOfSource, names_of
from whet.reduction.edits.order import EditLines, in_order
from whet.reduction.edits.statements import FileEdits, edits_of
from whet.reduction.formats.documents.diff_text import parse_diff
from whet.search.subsets.bound import bound_together
from whet.workbench.trials.changed_part import ChangedLines

_BY_LINES = frozenset(
    [
        ".cfg",
        ".conf",
        ".csv",
        ".env",
        ".ini",
        ".jsonl",
        ".ndjson",
        ".properties",
        ".toml",
        ".tsv",
        ".txt",
        ".yaml",
        ".yml",
    ]
)
"""What each line of such a file says it says alone, mostly."""


@value_class(kw_only=True)
class Part:
    """A part of a change: taken or not, as a whole.

    Attributes:
        file: position of the path that it changes.
        edits: those of its file, by their place; none: the path itself, or its mode.
    """

    file: int
    edits: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class _File:
    """A path that changes.

    Attributes:
        change: how.
        hunks: how many hunks a diff shows of it, or changes without one.
        edits: what changes in its lines; None: it is taken as a whole.
        is_python: it can be compiled before and after.
    """

    change: PathChange
    hunks: int = 1
    edits: FileEdits | None = None
    is_python: bool = False
    blobs: dict[bytes, str] = field(default_factory=dict[bytes, str])

    @property
    def has_new_mode(self) -> bool:
        return self.change.old_mode != self.change.new_mode

    @property
    def count(self) -> int:
        """How many edits it has."""
        return 0 if self.edits is None else self.edits.count

    def makes_sense(self, edits: Collection[int]) -> bool:
        """Whether it can be compiled with some of its edits, if it could be before and after."""
        return self._is_source(edits, _compiles)

    def can_be_parsed(self, edits: Collection[int]) -> bool:
        """Whether it can be parsed with some of its edits: nearly the same, in half the time."""
        return self._is_source(edits, _parses)

    def _is_source(self, edits: Collection[int], is_one: Callable[[bytes], bool]) -> bool:
        if self.edits is None or not self.is_python or len(edits) in {0, self.count}:
            return True
        return is_one(self.edits.content(edits))


class ChangeParts:
    """A change between two commits, cut into parts.

    Attributes:
        parts: all of them, in an order in which each beginning makes sense: what needs others comes after them.
        needs: for each part the places of those that it needs.
        hunks: how many hunks a diff shows, with what changes without one.
        leaves_out: some of what differs is no part: it is what Python has compiled.
    """

    def __init__(
        self,
        repository: Repository,
        commits: PartialCommits,
        ends: Sequence[str],
        accesses: FileAccesses | None = None,
    ) -> None:
        """Cut the change between two commits.

        Args:
            repository: where both are.
            commits: makes the commits that have some of the parts.
            ends: the old and the new one.
            accesses: what a run with all of the change looked at, if nothing is missing in it. What it
                couldn't see is taken as a whole.

        Raises:
            GitFailedError: if git can't tell how they differ.
        """
        self._commits = commits
        self._new = ends[1]
        self._made: dict[frozenset[int], str] = {}
        changes = path_changes(repository, *ends)
        visible = [change for change in changes if not change.is_compiled]
        self.leaves_out = len(visible) < len(changes)
        self._files = [
            _read(repository, change, is_cut=accesses is None or _is_visible(change, accesses))
            for change in visible
        ]
        self.hunks = sum(file.hunks for file in self._files)
        parts = [
            part for number, file in enumerate(self._files) for part in _parts_of(number, file)
        ]
        names = _Names(repository, self._files)
        ordered = in_order([names.lines(part) for part in parts], names.old, names.new)
        self.parts: tuple[Part, ...] = tuple(
            Part(
                file=parts[group[0]].file, edits=tuple(sorted(_edits_of(parts[at] for at in group)))
            )
            for group in ordered.groups
        )
        self.needs = ordered.needs

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
            if not self._files[number].makes_sense(_edits_of(parts)):
                return Verdict.SKIP
        try:
            self.commit_of(kept)
        except GitFailedError:
            return Verdict.SKIP
        return None

    def visible_to(self, accesses: FileAccesses) -> tuple[int, ...]:
        """Return the parts whose absence a run can see, by what it looked at."""
        visible = [_is_visible(file.change, accesses) for file in self._files]
        return tuple(at for at, part in enumerate(self.parts) if visible[part.file])

    def hunks_of(self, kept: Collection[int]) -> int:
        """Return in how many hunks the parts are."""
        count = 0
        for number, parts in self._chosen(kept).items():
            file = self._files[number]
            if file.edits is None:
                count += file.hunks
                continue
            count += any(not part.edits for part in parts)
            count += len(file.edits.hunks_of(_edits_of(parts)))
        return count

    def label(self, kept: Collection[int]) -> str:
        """Return a choice of parts in a few words."""
        return f"{len(kept)} of {len(self.parts)} edits"

    def places(self, kept: Collection[int]) -> tuple[ChangedLines, ...]:
        """Return which lines of the new files the parts make."""
        return tuple(
            place
            for number, parts in sorted(self._chosen(kept).items())
            for place in self._places(self._files[number], parts)
        )

    def texts(self, kept: Collection[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the old and the new lines of the parts, without those that are blank."""
        sides: tuple[list[str], list[str]] = ([], [])
        for number, parts in sorted(self._chosen(kept).items()):
            edits = self._files[number].edits
            if edits is not None:
                for texts, lines in zip(sides, edits.texts(_edits_of(parts)), strict=True):
                    texts += [line.decode("utf-8", "replace").strip() for line in lines]
        old, new = (tuple(filter(None, side)) for side in sides)
        return old, new

    def _places(self, file: _File, parts: Sequence[Part]) -> Iterator[ChangedLines]:
        if any(not part.edits for part in parts):
            yield ChangedLines(file.change.path)
        if file.edits is not None:
            for first, last in file.edits.places(_edits_of(parts)):
                yield ChangedLines(file.change.path, first, last)

    def _chosen(self, kept: Collection[int]) -> dict[int, list[Part]]:
        selection: dict[int, list[Part]] = {}
        for at in sorted(kept):
            selection.setdefault(self.parts[at].file, []).append(self.parts[at])
        return selection

    def _placed(self, selection: dict[int, list[Part]]) -> Iterator[Placed]:
        for number, parts in selection.items():
            file, change = self._files[number], self._files[number].change
            if file.edits is None:
                if change.was:
                    yield Placed(path=change.was, mode=GONE, blob="0" * len(change.old_blob))
                yield Placed(path=change.path, mode=change.new_mode, blob=change.new_blob)
                continue
            takes_mode = any(not part.edits for part in parts)
            yield Placed(
                path=change.path,
                mode=change.new_mode if takes_mode else change.old_mode,
                blob=self._blob(file, file.edits, _edits_of(parts)),
            )

    def _blob(self, file: _File, all_edits: FileEdits, edits: Collection[int]) -> str:
        if not edits:
            return file.change.old_blob
        if len(edits) == file.count:
            return file.change.new_blob
        content = all_edits.content(edits)
        if content not in file.blobs:
            file.blobs[content] = self._commits.blob(content)
        return file.blobs[content]


def _is_visible(change: PathChange, accesses: FileAccesses) -> bool:
    """Whether a run with these accesses could see a change."""
    own = [change.path, *filter(None, [change.was])]
    if PurePath(change.path).name.startswith(".git"):
        return True  # it may say how git writes other files
    if not change.is_edit and any(_folder_of(path) in accesses.folders for path in own):
        return True
    return any(
        path in accesses.paths or any(path.startswith(f"{each}/") for each in accesses.moved)
        for path in own
    )


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _edits_of(parts: Iterable[Part]) -> frozenset[int]:
    return frozenset(at for part in parts for at in part.edits)


def _read(repository: Repository, change: PathChange, *, is_cut: bool) -> _File:
    whole = _File(change=change)
    if not change.is_edit or change.old_blob == change.new_blob:
        return whole
    diff = parse_diff(line_changes(repository, change.old_blob, change.new_blob))
    if diff is None or len(diff.files) != 1 or not diff.files[0].hunks:
        return whole
    whole.hunks = len(diff.files[0].hunks) + (change.old_mode != change.new_mode)
    if not is_cut:
        return whole
    old, new = blob_of(repository, change.old_blob), blob_of(repository, change.new_blob)
    is_source = is_python(change.path) and _compiles(old) and _compiles(new)
    is_by_lines = PurePath(change.path).suffix.lower() in _BY_LINES
    edits = edits_of(old, new, diff.files[0].hunks, is_python=is_source, is_by_lines=is_by_lines)
    # What git says it does to the file has to come out, or it is taken as a whole.
    is_right = edits.content(range(edits.count)) == new
    return replace(whole, edits=edits, is_python=is_source) if is_right else whole


def _parts_of(number: int, file: _File) -> Iterator[Part]:
    if file.edits is None or file.has_new_mode:
        yield Part(file=number)
    if file.is_python:
        for group in bound_together(file.count, file.can_be_parsed):
            yield Part(file=number, edits=group)
    else:
        yield from (Part(file=number, edits=(at,)) for at in range(file.count))


class _Names:
    """The names in the Python files that change.

    Attributes:
        old: those of the old files.
        new: those of the new files.
    """

    def __init__(self, repository: Repository, files: Sequence[_File]) -> None:
        self._files = files
        self.old: dict[str, NamesOfSource] = {}
        self.new: dict[str, NamesOfSource] = {}
        for file in files:
            change = file.change
            if file.edits is not None:
                if file.is_python:
                    new = file.edits.content(range(file.count))
                    self.old[change.path] = names_of(change.path, file.edits.old)
                    self.new[change.path] = names_of(change.path, new)
                continue
            ends = (
                (self.old, change.was or change.path, change.old_mode, change.old_blob),
                (self.new, change.path, change.new_mode, change.new_blob),
            )
            for names, path, mode, blob in ends:
                if mode in PLAIN_FILES and is_python(path):
                    source = blob_of(repository, blob)
                    if _compiles(source):
                        names[path] = names_of(path, source)

    def lines(self, part: Part) -> EditLines:
        """Return the lines that a part changes; those of a path as a whole are all of it."""
        file = self._files[part.file]
        path, was = file.change.path, file.change.was or file.change.path
        if file.edits is not None:
            edits = file.edits
            return EditLines(
                before=(path, edits.lines_of(part.edits, is_new=False)),
                after=(path, edits.lines_of(part.edits, is_new=True)),
            )
        return EditLines(
            before=(was, _lines_with_names(self.old.get(was))),
            after=(path, _lines_with_names(self.new.get(path))),
        )


def _lines_with_names(names: NamesOfSource | None) -> frozenset[int]:
    return frozenset(use.line for use in names.uses) if names is not None else frozenset[int]()


def _compiles(source: bytes) -> bool:
    return _is_source(source, 0)


def _parses(source: bytes) -> bool:
    return _is_source(source, ast.PyCF_ONLY_AST)


def _is_source(source: bytes, flags: int) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that mean nothing
        try:
            compile(source, "<part>", "exec", flags, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
