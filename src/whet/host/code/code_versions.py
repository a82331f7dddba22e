"""The files that differ between two recorded states of the code, and putting one version in place."""

import os
from collections.abc import Mapping
from pathlib import Path

from whet.core.trial import CodeState
from whet.host.files.below import folder_below
from whet.host.files.files import remove_tree
from whet.host.process.git import GitFailedError, Repository

LINK, EXECUTABLE, FILE = "120000", "100755", "100644"

Versions = dict[str, tuple[str, bytes]]
"""Mode, as git writes it, and content by path."""


def differing_files(before: CodeState, after: CodeState) -> tuple[Versions, Versions]:
    """Return the kept files that differ, as they are in the one and in the other state.

    Raises:
        GitFailedError: if one of the states is no longer in the repository.
    """
    repository = Repository.keeping(Path(after.repository))
    trees = [f"{code.snapshot or code.commit}^{{tree}}" for code in (before, after)]
    listing = repository.get("diff-tree", "-r", "-z", "--raw", "--no-renames", *trees)
    fields = listing.split("\0")
    old: Versions = {}
    new: Versions = {}
    for entry, path in zip(fields[:-1:2], fields[1::2], strict=True):
        old_mode, new_mode, old_blob, new_blob, _ = entry.lstrip(":").split(" ")
        for versions, mode, blob in ((old, old_mode, old_blob), (new, new_mode, new_blob)):
            if mode in {LINK, EXECUTABLE, FILE}:
                versions[path] = (mode, _content(repository, blob))
    return old, new


def _content(repository: Repository, blob: str) -> bytes:
    answer = repository.ask("cat-file", "blob", blob)
    if answer.exit_code != 0:
        raise GitFailedError(f"git cat-file {blob}: {answer.complaint}")
    return answer.stdout


def put_versions(top: Path, versions: Mapping[str, tuple[str, bytes] | None]) -> None:
    """Make files below ``top`` these versions, by their paths from there; None: it doesn't exist.

    One version may have a link where the other has a folder: nothing is written or removed behind it.

    Raises:
        OSError: if that can't be done.
    """
    # What goes, goes first: a folder may come where a file was.
    for path, version in sorted(versions.items(), key=lambda each: each[1] is not None):
        if version is None and not _is_below(top, path):
            continue
        with folder_below(top, (top / path).parent, replaces=True) as folder:
            _put(folder / os.path.basename(path), version)


def _is_below(top: Path, path: str) -> bool:
    """Whether something is at a path, and no link on the way there."""
    above = [top / each for each in Path(path).parents[:-1]]
    return os.path.lexists(top / path) and not any(each.is_symlink() for each in above)


def _put(path: Path, version: tuple[str, bytes] | None) -> None:
    if os.path.lexists(path):
        remove_tree(path)
    if version is None:
        return
    mode, content = version
    if mode == LINK:
        path.symlink_to(os.fsdecode(content))
        return
    path.write_bytes(content)
    path.chmod(0o755 if mode == EXECUTABLE else 0o644)
