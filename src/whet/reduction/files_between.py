"""What lies between two sets of files: those that differ, and in texts each hunk."""

from collections.abc import Collection, Mapping

from whet.core.difference import Change
from whet.core.value_class import value_class
from whet.reduction.between import Step
from whet.reduction.line_changes import TextBetween, shown_lines, text_between

_MOST_TEXT_BYTES = 1024 * 1024
"""whet switches a larger file as a whole: comparing its lines can take minutes."""


@value_class(kw_only=True)
class FileVersion:
    """One of two versions of a file.

    Attributes:
        content: what it holds; None: it is no file, but a link or a folder.
        form: what else it is, such as its mode: two of one form can be compared by lines.
    """

    content: bytes | None
    form: str


@value_class(eq=False)
class _Whole:
    """A file that is switched as a whole."""

    number: int
    before: FileVersion | None
    after: FileVersion | None

    def made(self, taken: frozenset[int]) -> FileVersion | None:
        return self.after if self.number in taken else self.before


@value_class(eq=False)
class _Text:
    """A text file whose hunks are switched one by one."""

    first: int
    between: TextBetween
    form: str

    def made(self, taken: frozenset[int]) -> FileVersion:
        hunks = range(len(self.between.hunks))
        own = [at for at in hunks if self.first + at in taken]
        return FileVersion(content=self.between.made(own), form=self.form)


class FilesBetween:
    """What lies between two sets of files.

    Attributes:
        changes: every difference: a file that is new, gone or no text, or a hunk of a text.
        paths: for each of them the folders, the file, and the number of the hunk.
    """

    def __init__(self, before: Mapping[str, FileVersion], after: Mapping[str, FileVersion]) -> None:
        self._files: dict[str, _Whole | _Text] = {}
        changes: list[Change] = []
        paths: list[tuple[Step, ...]] = []
        for path in sorted({*before, *after}, key=lambda each: each.split("/")):
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            between = _text(old, new)
            if between is None:
                self._files[path] = _Whole(len(changes), old, new)
                changes.append(
                    Change(what="file", name=path, before=_shown(old), after=_shown(new))
                )
                paths.append(tuple(path.split("/")))
                continue
            assert new is not None
            self._files[path] = _Text(len(changes), between, new.form)
            changes += _hunk_changes(path, between)
            paths += [(*path.split("/"), at) for at in range(len(between.hunks))]
        self.changes = tuple(changes)
        self.paths = tuple(paths)

    def made(self, taken: Collection[int]) -> dict[str, FileVersion | None]:
        """Return what each file that differs is with these differences; None: it doesn't exist."""
        numbers = frozenset(taken)
        return {path: file.made(numbers) for path, file in self._files.items()}


def _text(before: FileVersion | None, after: FileVersion | None) -> TextBetween | None:
    if before is None or after is None or before.form != after.form:
        return None
    if before.content is None or after.content is None:
        return None
    both = before.content + after.content
    if b"\0" in both or len(both) > _MOST_TEXT_BYTES:
        return None
    return text_between(before.content, after.content)


def _hunk_changes(path: str, between: TextBetween) -> list[Change]:
    return [
        Change(
            what="hunk", name=f"{path}:{hunk.line}", before=shown_lines(hunk.before),
            after=shown_lines(hunk.after),
        )
        for hunk in between.hunks
    ]  # fmt: skip


def _shown(version: FileVersion | None) -> str | None:
    if version is None:
        return None
    form = f", {version.form}" if version.form else ""
    return f"{len(version.content)} bytes{form}" if version.content is not None else version.form
