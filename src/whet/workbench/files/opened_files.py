"""The project's own small files that a command opens on its own: what shows its failure needs them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.errors import NotARepository
from whet.core.observations.file_accesses import FileAccesses
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.files.file_times import Moment
from whet.host.inspect.stacks import is_user_code
from whet.host.process.git import GitFailedError, Repository
from whet.host.process.object_store import own_folder
from whet.workbench.trials.session import Session

_MOST_FILES, _MOST_BYTES, _MOST_BYTES_EACH = 60, 1 << 18, 1 << 16
_MOST_BYTES_UNTRACKED = 1 << 24
_MOST_LOOKED_AT = 2000
_MADE_BY_PYTHON = ".pyc"


def opened_files(
    session: Session, trial: Trial, oracle: Oracle, *, left_out: Path
) -> Mapping[str, bytes]:
    """Run a trial once more where it stands, and return what it looks at, by its path from there.

    What is hidden, what git is told to ignore and what the run itself writes is left out.

    Returns:
        the files; none where it did something else, where that can't be seen, or where they are
        too many or too large to be handed over.
    """
    top = os.path.realpath(trial.cwd)
    names = _looked_at(session, trial, oracle, left_out=left_out)
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    contents: dict[str, bytes] = {}
    for name in _of_git(top, names, "--cached", "--others", "--exclude-standard"):
        if Path(top, name).stat().st_size > _MOST_BYTES_EACH:
            return {}
        contents[name] = Path(top, name).read_bytes()
    is_small = len(contents) <= _MOST_FILES and sum(map(len, contents.values())) <= _MOST_BYTES
    return contents if is_small else {}


def untracked_files(
    session: Session, trial: Trial, oracle: Oracle, *, left_out: Path
) -> Mapping[str, bytes]:
    """Run a trial once more where it stands, and return what it looks at that git doesn't track.

    Returns:
        the files, by their path from the top of the repository; none where they are too many or too large.
    """
    here = os.path.realpath(trial.cwd)
    top = os.path.realpath(Repository.containing(Path(here)).top)
    # Without one, there is no need for a run.
    if not _of_git(here, ["."], "--others"):
        return {}
    names = _looked_at(session, trial, oracle, left_out=left_out)
    tracked = set(_of_git(here, names, "--cached"))
    names = [name for name in names if name not in tracked and is_user_code(f"{here}/{name}")]
    sizes = [Path(here, name).stat().st_size for name in names]
    if len(names) > _MOST_FILES or sum(sizes) > _MOST_BYTES_UNTRACKED:
        return {}
    return {os.path.relpath(f"{here}/{name}", top): Path(here, name).read_bytes() for name in names}


def _looked_at(session: Session, trial: Trial, oracle: Oracle, *, left_out: Path) -> list[str]:
    """Run a trial once more, and return the files below its folder that it looks at and doesn't write."""
    top = os.path.realpath(trial.cwd)
    if trial.limits.room is not None:
        return []

    def observe(_: Trial) -> tuple[str, str]:
        return top, ""

    began = Moment()
    ran = replace(session, observe=observe).run(trial, oracle, "files that it opens")
    bench, outcome = session.bench, ran.outcome
    if not outcome.looks or ran.verdict is not Verdict.BAD or began.is_doubtful:
        return []
    looks = FileAccesses.from_bytes(bench.notebook.blobs.read(outcome.looks))
    own = tuple(
        f"{os.path.realpath(each)}/"
        for each in (left_out, bench.project.state, own_folder())
        if each
    )
    names = (name for name in looks.paths if not f"{top}/{name}".startswith(own))
    return [name for name in _plain(top, names) if Path(top, name).stat().st_mtime_ns < began.ns]


def _plain(top: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the names of files that are there and are no links, but for Python's byte code."""
    for name in names:
        path = Path(top, name)
        if not (name.endswith(_MADE_BY_PYTHON) or path.is_symlink()):
            with suppress(OSError, ValueError):
                if path.is_file() and os.access(path, os.R_OK) and name.isprintable():
                    yield name


def _of_git(top: str, names: Iterable[str], *kinds: str) -> list[str]:
    """Return the files of some kinds, as `git ls-files` calls them; all where there is no repository."""
    candidates = list(names)[:_MOST_LOOKED_AT]
    try:
        Repository.containing(Path(top))
        listing = Repository(Path(top)).get(
            "--literal-pathspecs", "ls-files", "-z", *kinds, "--", *candidates,
        ) if candidates else ""  # fmt: skip
    except (NotARepository, GitFailedError):
        return candidates
    return list(filter(None, listing.split("\0")))
