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
from whet.host.process.git import GitFailedError, Repository
from whet.host.process.object_store import own_folder
from whet.workbench.trials.session import Session

_MOST_FILES, _MOST_BYTES, _MOST_BYTES_EACH = 60, 1 << 18, 1 << 16
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
    if trial.limits.room is not None:
        return {}

    def observe(_: Trial) -> tuple[str, str]:
        return top, ""

    began = Moment()
    ran = replace(session, observe=observe).run(trial, oracle, "files that it opens")
    bench, outcome = session.bench, ran.outcome
    if not outcome.looks or ran.verdict is not Verdict.BAD or began.is_doubtful:
        return {}
    looks = FileAccesses.from_bytes(bench.notebook.blobs.read(outcome.looks))
    own = tuple(
        f"{os.path.realpath(each)}/"
        for each in (left_out, bench.project.state, own_folder())
        if each
    )
    names = (name for name in looks.paths if not f"{top}/{name}".startswith(own))
    contents: dict[str, bytes] = {}
    for name in _known(top, _plain(top, names)):
        status = Path(top, name).stat()
        if status.st_mtime_ns >= began.ns:
            continue
        if status.st_size > _MOST_BYTES_EACH:
            return {}
        contents[name] = Path(top, name).read_bytes()
    is_small = len(contents) <= _MOST_FILES and sum(map(len, contents.values())) <= _MOST_BYTES
    return contents if is_small else {}


def _plain(top: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the names of files that are there, are no links, and aren't hidden."""
    for name in names:
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        path = Path(top, name)
        if not (is_hidden or name.endswith(_MADE_BY_PYTHON) or path.is_symlink()):
            with suppress(OSError, ValueError):
                if path.is_file() and os.access(path, os.R_OK) and name.isprintable():
                    yield name


def _known(top: str, names: Iterable[str]) -> list[str]:
    """Return the files that git doesn't ignore; all where there is no repository."""
    candidates = list(names)[:_MOST_LOOKED_AT]
    try:
        Repository.containing(Path(top))
        listing = Repository(Path(top)).get(
            "--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
            "--", *candidates,
        ) if candidates else ""  # fmt: skip
    except (NotARepository, GitFailedError):
        return candidates
    tracked = set(listing.split("\0"))
    return [name for name in candidates if name in tracked]
