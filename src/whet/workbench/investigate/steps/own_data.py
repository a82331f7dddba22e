"""Older commits run with the data files that they hold themselves."""

import os
from dataclasses import replace
from pathlib import Path

from whet.core.text.quantity import listed
from whet.core.trial import PayloadBinding
from whet.core.value_class import value_class
from whet.host.process.git import Repository
from whet.workbench.trials.payload import PLACEHOLDER
from whet.workbench.versions.carried_check import tracked_in
from whet.workbench.versions.versions import VersionHunt


@value_class(kw_only=True)
class OwnData:
    """A search in which each commit reads its own data.

    Attributes:
        hunt: the search.
        paths: the data files, from the top of the repository.
    """

    hunt: VersionHunt
    paths: tuple[str, ...]

    @property
    def says(self) -> str:
        """Which data each commit ran with, in words."""
        return f"each commit ran with its own {listed(self.paths)}"

    def changed_since(self, repository: Repository, commit: str) -> bool:
        """Whether the data are others today than in a commit."""
        return repository.ask("diff", "--quiet", commit, "--", *_below(self.paths)).exit_code != 0

    def ever_changed(self, repository: Repository) -> bool:
        """Whether more than one commit wrote the data, or they are edited."""
        commits = repository.get("rev-list", "--max-count=2", "HEAD", "--", *_below(self.paths))
        return len(commits.split()) > 1 or self.changed_since(repository, "HEAD")


def own_data(hunt: VersionHunt, repository: Repository) -> OwnData | None:
    """Return the search in which each commit reads its own data; None: git doesn't track them all.

    Args:
        hunt: the search in which all read today's.
        repository: where the commits are.
    """
    trial = hunt.trial
    names = [_named(each) for each in trial.payloads]
    if not names or "" in names:
        return None
    paths = tracked_in(repository, names, trial.cwd)
    if len(paths) != len(set(names)):
        return None
    words = list(trial.command)
    for each, name in zip(trial.payloads, names, strict=True):
        each.put(name, words)
    own = replace(trial, command=tuple(words), payloads=())
    return OwnData(hunt=replace(hunt, trial=own), paths=paths)


def _named(payload: PayloadBinding) -> str:
    """Return the relative name by which the command names a file; empty: it names none."""
    texts = {each.text for each in payload.places}
    is_file = payload.argument is not None and not payload.folder and not payload.is_home
    if not is_file or len(texts) != 1 or PLACEHOLDER in texts:
        return ""
    (name,) = texts
    is_below = not Path(name).is_absolute() and not os.path.normpath(name).startswith("..")
    return name if is_below else ""


def _below(paths: tuple[str, ...]) -> list[str]:
    return [f":(top,literal){each}" for each in paths]
