"""Restoring the files of a trial, byte for byte, in one of whet's own folders."""

import os
from dataclasses import replace
from pathlib import Path

from whet.core.errors import CodeNotKept
from whet.core.trial import CodeState
from whet.host.code.checkout import users_filters
from whet.host.code.shadow_index import ShadowIndex
from whet.host.code.snapshot_memory import SetAside
from whet.host.code.submodules import populate_submodules
from whet.host.files.below import folder_below
from whet.host.files.files import remove_tree
from whet.host.process.git import GitFailedError, Repository
from whet.host.process.working_tree import WorkingTree


def restore(repository: Repository, code: CodeState, folder: Path) -> tuple[str, ...]:
    """Make the files in ``folder`` those that ``code`` was recorded from.

    Times and rights of files, but for the right to execute, and empty folders aren't kept.

    Args:
        repository: where the code is kept.
        code: what to bring back.
        folder: a folder of whet's own; all in it but ``.git`` is replaced. Beside it a folder
            `raw_folder` is made and removed.

    Returns:
        What could not be brought back, in sentences.

    Raises:
        CodeNotKept: if the repository no longer has it.
    """
    revision = code.snapshot or code.commit
    names = repository.ask("rev-parse", "--quiet", "--verify", f"{revision}^{{tree}}")
    if revision and names.exit_code != 0:
        raise CodeNotKept(
            f"`{code.repository}` no longer has the commit `{revision[:10]}`",
            hint="run the trial on today's code: leave out `--code then`",
        )
    _empty(folder)
    if not revision:
        return ()
    user = WorkingTree.holding(str(repository.top))
    shadow = ShadowIndex(str(raw_folder(folder)), replace(user, top=str(folder)))
    remove_tree(raw_folder(folder))
    try:
        shadow.make()
        shadow.configure(excluded="")
        shadow.get("read-tree", "--reset", "-u", names.text)
    finally:
        remove_tree(raw_folder(folder))
    notes = populate_submodules(repository, names.text, folder)
    return (*notes, *_large_files(repository, code, folder))


def raw_folder(folder: Path) -> Path:
    """Return the place of the git directory that `restore` uses for ``folder``."""
    return folder.with_name(f"{folder.name}.raw")


def _empty(folder: Path) -> None:
    for name in os.listdir(folder):
        if name != ".git":
            remove_tree(folder / name)


def _large_files(repository: Repository, code: CodeState, folder: Path) -> list[str]:
    """Take files that were too large to keep from the commit, where it has them."""
    notes: list[str] = []
    filters, _ = users_filters(repository) if code.large_files else ({}, True)
    for entry in code.large_files:
        path = SetAside.read(entry).path
        what = f"{code.commit}:{path}"
        try:
            repository.get("cat-file", "-e", what)
            answer = repository.ask("cat-file", "--filters", what, environment=filters)
        except GitFailedError:
            notes.append(f"`{path}` is missing: it was too large to record")
            continue
        if answer.exit_code != 0:
            notes.append(f"`{path}` is missing: {answer.complaint}")
            continue
        target = folder / path
        with folder_below(folder, target.parent, replaces=True) as above:
            (above / target.name).write_bytes(answer.stdout)
        notes.append(f"`{path}` is the committed version: the trial's was too large to record")
    return notes
