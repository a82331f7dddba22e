"""Packages that skipped versions import and that aren't installed."""

import re
from collections.abc import Iterable
from pathlib import Path

from whet.core.failure import Failure, FailureKind
from whet.core.outcome import Outcome
from whet.core.text.quantity import listed, shown_count
from whet.core.verdict import Verdict
from whet.workbench.trials.investigation import TestedVersion

_NOT_FOUND = re.compile(r"\bNo module named '?([\w.]+)'?(?!.*is not a package)")
_NOT_STARTED = re.compile(r"\S*python[\d.]*: No module named ")
_NOT_INSTALLED = re.compile(
    r"\bNo package metadata was found for '?([\w.-]+\w)|\bThe '([\w.-]+\w)[^']*' distribution was not found"
)
"""A package with code but without an installation has no version."""


def hint_of_missing(
    skipped: Iterable[tuple[TestedVersion, Outcome]], kind: str, folder: Path
) -> str:
    """Return how to get at versions that were skipped for lack of a package; empty: none was.

    Args:
        skipped: what was tested, with what it did.
        kind: one version in a word.
        folder: where the command starts; what is there is no package.
    """
    names: dict[str, None] = {}
    count = 0
    for version, outcome in skipped:
        name = "" if outcome.failure is None else _wanted(outcome.failure, folder)
        if version.verdict is not Verdict.SKIP or not name:
            continue
        names[f"`{name}`"] = None
        count += 1
    if not names:
        return ""
    return f"{shown_count(count, kind)} {'was' if count == 1 else 'were'} skipped because {listed(tuple(names))} is missing: `--setup 'pip install -e .'` installs each {kind}'s dependencies"


def _wanted(failure: Failure, folder: Path) -> str:
    """Return the package for lack of which a version failed; empty: it did not."""
    missing = _NOT_INSTALLED.search(failure.summary)
    if missing is not None:
        return missing[1] or missing[2]
    name = module_not_found(failure).partition(".")[0]
    return "" if _is_there(folder, name) else name


def module_not_found(failure: Failure) -> str:
    """Return the module that an import, or `python -m`, doesn't find; empty: it failed otherwise."""
    match = _NOT_FOUND.search(failure.summary)
    is_import = failure.signature.kind is FailureKind.BROKEN_IMPORT
    return match[1] if match and (is_import or _NOT_STARTED.match(failure.summary)) else ""


def _is_there(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").exists()
