"""`whet bisect` against `git bisect run` on a history made of the releases of a real package.

Each release on PyPI of a pure-Python package becomes a commit, in the order of their versions;
every fifth one comes in with a merge, and a stretch of commits is added on which the package
cannot be imported. What is searched really happened: by default the release of `packaging`
that removed `LegacyVersion`. Both tools get the same script, which says 125 where the package
cannot be imported.

    python -m benchmarks.histories.releases [--package packaging] [--check CODE] [--rounds N]
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.histories.bisection import by_git, by_whet, git
from benchmarks.histories.release_history import begin, commit, install, versions_of

CHECK = "from packaging.version import LegacyVersion"
_MERGED_EVERY = 5
_BROKEN_FROM, _BROKEN_COUNT = 0.6, 12


def build(package: str, place: Path) -> tuple[Path, list[str]]:
    """Make the repository; return it and the versions in it."""
    repository = place / "origin"
    begin(repository)
    used: list[str] = []
    releases = versions_of(package)
    for version in releases:
        folder = place / version
        if not install(package, version, folder):
            continue
        used.append(version)
        is_side = len(used) % _MERGED_EVERY == 0
        if is_side:
            git(repository, "checkout", "-q", "-b", f"side-{version}")
        commit(repository, folder, f"{package} {version}")
        if is_side:
            git(repository, "checkout", "-q", "main")
            git(repository, "merge", "-q", "--no-ff", "-m", f"Merge {version}", f"side-{version}")
        if len(used) == int(_BROKEN_FROM * len(releases)):
            _break(repository, package)
    return repository, used


def _break(repository: Path, package: str) -> None:
    """Add commits on which the package cannot be imported, and one that mends it."""
    init = repository / package.replace("-", "_") / "__init__.py"
    whole = init.read_text()
    for number in range(_BROKEN_COUNT):
        init.write_text(f"raise ImportError({number})\n{whole}")
        git(repository, "commit", "-q", "-a", "-m", f"Half way {number}")
    init.write_text(whole)
    git(repository, "commit", "-q", "-a", "-m", "Whole again")


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--package", default="packaging")
    arguments.add_argument("--check", default=CHECK, help="what works in the first release")
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    name = str(options.package).replace("-", "_")
    tools: dict[str, Callable[[Path, tuple[str, str], Path], str]] = {
        "git bisect run": by_git,
        "whet, 1 job": by_whet,
        "whet, 2 jobs": partial(by_whet, jobs=2),
    }
    with tempfile.TemporaryDirectory(prefix="bench-releases-") as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        place = Path(folder)
        repository, used = build(options.package, place)
        ends = tuple(git(repository, "rev-list", "HEAD").splitlines()[::-1])
        print(f"{options.package}: {len(used)} releases, {len(ends)} commits")
        print(f"{'tool':15} {'runs':>4} {'seconds':>8}  first bad commit")
        for tool, search in tools.items():
            measure(tool, search, repository, (ends[0], ends[-1]), name, options)


def measure(
    tool: str,
    search: Callable[[Path, tuple[str, str], Path], str],
    repository: Path,
    ends: tuple[str, str],
    name: str,
    options: argparse.Namespace,
) -> None:
    """Let a tool search so often, each time in a clone of its own, and print its line."""
    seconds: list[float] = []
    runs, found = 0, ""
    for turn in range(options.rounds):
        place = repository.parent / f"{tool.replace(' ', '')}{turn}"
        git(repository.parent, "clone", "-q", str(repository), str(place))
        calls, script = place.with_suffix(".calls"), place.with_suffix(".sh")
        write_script(script, calls, name, str(options.check))
        started = time.perf_counter()
        found = search(place, ends, script)
        seconds.append(time.perf_counter() - started)
        runs = max(runs, calls.stat().st_size)
    title = git(repository, "log", "-1", "--format=%s", found)
    print(f"{tool:15} {runs:4} {statistics.median(seconds):8.2f}  {title}", flush=True)


def write_script(script: Path, calls: Path, name: str, check: str) -> None:
    """Write what judges a commit."""
    python: Sequence[str] = (sys.executable, "-s")
    call = f"PYTHONPATH=. {' '.join(python)} -c"
    script.write_text(
        f"#!/bin/sh\nprintf x >>{calls}\n{call} 'import {name}' || exit 125\n"
        f"{call} '{check}' && exit 0\nexit 1\n"
    )
    script.chmod(0o755)


if __name__ == "__main__":
    main()
