"""A git history made of the releases of a real package: one commit for each, oldest first.

What a search finds in it really happened. `tests/endtoend` and `bisection_releases.py` use it.

    python -m benchmarks.histories.release_history PACKAGE FOLDER [--from V] [--to V]

prints the commits as JSON, by release. What cannot be installed with this Python is left out;
what can be installed and not be imported is a commit like any other.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from packaging.version import Version

from benchmarks.histories.bisection import git


def versions_of(package: str) -> list[str]:
    """Return the releases of a package that are no pre-releases and not yanked, oldest first."""
    asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions"]
    listed = subprocess.run([*asked, package], capture_output=True, check=True, text=True).stdout
    found = re.search(r"^Available versions: (.+)$", listed, re.MULTILINE)
    names = found[1].split(", ") if found else []
    return [str(version) for version in sorted(map(Version, names))]


def install(package: str, version: str, target: Path) -> bool:
    """Put the package's code into a folder; say whether that went well."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
    command += ["--python", sys.executable, f"{package}=={version}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def begin(repository: Path) -> None:
    """Make an empty repository."""
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    git(repository, "config", "user.name", "A")
    git(repository, "config", "user.email", "a@example.org")


def commit(repository: Path, folder: Path, message: str) -> str:
    """Commit what is in a folder, instead of all that was there; return the commit's name."""
    for entry in repository.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(folder, repository, dirs_exist_ok=True, ignore=shutil.ignore_patterns("bin"))
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def commit_each(
    package: str, repository: Path, wanted: Callable[[Version], bool]
) -> dict[str, str]:
    """Commit the wanted releases of a package; return their commits."""
    begin(repository)
    commits: dict[str, str] = {}
    for version in versions_of(package):
        folder = repository.with_name(f"{package}-{version}")
        if wanted(Version(version)) and install(package, version, folder):
            commits[version] = commit(repository, folder, f"{package} {version}")
            shutil.rmtree(folder)
    return commits


def main() -> None:
    """Make the history and print its commits."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("package")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--from", dest="first", type=Version, default=Version("0"))
    arguments.add_argument("--to", dest="last", type=Version)
    options = arguments.parse_args()
    first, last = options.first, options.last

    def wanted(version: Version) -> bool:
        return first <= version and (last is None or version <= last)

    print(json.dumps(commit_each(options.package, options.folder, wanted)))


if __name__ == "__main__":
    main()
