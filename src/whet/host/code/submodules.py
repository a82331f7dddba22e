"""Submodules in whet's own working trees, from the copies that the user has."""

import os
from collections.abc import Iterator
from pathlib import Path

from whet.host.code.checkout import check_out
from whet.host.process.git import GitFailedError, Repository


def populate_submodules(
    repository: Repository, tree: str, folder: Path, *, within: str = ""
) -> tuple[str, ...]:
    """Check out in ``folder`` the submodules of ``tree`` that are checked out for the user.

    Nothing is fetched, and the user's submodules are only read.

    Args:
        repository: where the user has the submodules.
        tree: tree or commit that names their commits.
        folder: working tree of whet's own that belongs to ``tree``.
        within: where ``folder`` is in the outermost working tree, for what is said.

    Returns:
        What could not be checked out, in sentences.
    """
    notes: list[str] = []
    for path, commit in submodules_of(repository, tree):
        theirs = repository.top / path
        if not os.path.lexists(theirs / ".git"):
            notes.append(f"the submodule `{within}{path}` is empty: it isn't checked out here")
            continue
        target = folder / path
        if not (_is_within(theirs, repository.top) and _is_within(target.parent, folder)):
            notes.append(f"the submodule `{within}{path}` is empty: a link points to another place")
            continue
        inner = Repository(theirs)
        try:
            _clone(inner, commit, target)
        except GitFailedError as error:
            notes.append(f"the submodule `{within}{path}` is empty: {error}")
            continue
        notes.extend(populate_submodules(inner, commit, target, within=f"{within}{path}/"))
    return tuple(notes)


def _is_within(path: Path, top: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(top))


def submodules_of(repository: Repository, tree: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the commit of each submodule in a tree."""
    listing = repository.get("ls-tree", "-r", "-z", "--full-tree", tree)
    for entry in listing.split("\0")[:-1]:
        what, _, path = entry.partition("\t")
        mode, _, commit = what.split(" ")
        if mode == "160000":
            yield path, commit


def _clone(inner: Repository, commit: str, target: Path) -> None:
    inner.get("cat-file", "-e", f"{commit}^{{commit}}")
    if not (target / ".git").exists():
        # `--shared` copies no objects: they stay the user's, and the folder can just be removed.
        how = ("clone", "--quiet", "--shared", "--no-checkout")
        inner.get(*how, str(inner.top), str(target))
    check_out(target, commit)
