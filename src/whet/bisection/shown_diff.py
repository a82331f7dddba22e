"""What a commit changed, as much of it as a person wants to see at once."""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from whet.core.value_class import value_class
from whet.host.process.git import Repository

_SHOWN_LINES = 40
_OF_ONE_HUNK = 20
_READ_CHARACTERS = 1_000_000
_WORDS_ABOUT_CODE = frozenset({".md", ".rst", ".txt", ".lock", ".svg", ".ipynb", ".json"})
_TEST = re.compile(r"(^|/)(tests?|docs?)/|(^|/)test_|_test\.")


@value_class(kw_only=True)
class Hunk:
    """A stretch of a diff.

    Attributes:
        path: the file as it is called after the change.
        lines: the line that begins with ``@@`` and those of the change.
    """

    path: str
    lines: tuple[str, ...]


def shown_diff(repository: Repository, commit: str, suspected: Collection[str] = ()) -> str:
    """Return the hunks of a commit that are likely to matter, most likely first.

    That is first those in files that the failing program was in, then other code, then tests
    and documents; what doesn't fit is counted.

    Args:
        repository: where the commit is.
        commit: full id; a merge is compared with its first parent.
        suspected: paths of files that the failure named, from wherever.
    """
    above = repository.get("rev-list", "--parents", "-n1", commit).split()[1:]
    ends = (above[0], commit) if above else ("--root", "--no-commit-id", commit)
    text = repository.get(
        "-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-M", "-U2", "--no-ext-diff",
        "--no-textconv", "--no-color", *ends,
    )  # fmt: skip
    hunks = list(_hunks(text[:_READ_CHARACTERS]))
    hunks.sort(key=lambda hunk: _rank(hunk.path, suspected))
    return "\n".join(_cut(hunks))


def _hunks(text: str) -> Iterator[Hunk]:
    path, lines = "", list[str]()
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            if lines:
                yield Hunk(path=path, lines=tuple(lines))
            path, lines = line.rpartition(" b/")[2], []
        elif line.startswith("@@ ") or (lines and line[:1] in {"+", "-", " ", "\\"}):
            if line.startswith("@@ ") and lines:
                yield Hunk(path=path, lines=tuple(lines))
                lines = []
            lines.append(line)
        elif line.startswith("Binary files "):
            yield Hunk(path=path, lines=("(no text)",))
    if lines:
        yield Hunk(path=path, lines=tuple(lines))


def _rank(path: str, suspected: Collection[str]) -> int:
    if any(PurePosixPath(each).match(f"*/{path}") or each == path for each in suspected):
        return 0
    if _TEST.search(path):
        return 2
    return 3 if PurePosixPath(path).suffix in _WORDS_ABOUT_CODE else 1


def _cut(hunks: list[Hunk]) -> Iterator[str]:
    left, last = _SHOWN_LINES, ""
    for number, hunk in enumerate(hunks):
        if left <= 0:
            rest = hunks[number:]
            files = len({each.path for each in rest})
            yield f"and {len(rest)} hunks more in {files} files"
            return
        if hunk.path != last:
            yield hunk.path
        last = hunk.path
        shown = hunk.lines[: min(left, _OF_ONE_HUNK)]
        yield from shown
        if len(hunk.lines) > len(shown):
            yield f"... {len(hunk.lines) - len(shown)} lines more"
        left -= len(shown)
