"""The setup of a checkout before a trial runs there: copy files, install, build.

A setup runs once in a checkout, and again only if a file that it reads has changed: its results stay there
from commit to commit. If it uses a Python tool, it gets its own virtual environment next to the checkout,
in which the trial runs too. It never touches the user's environment.
"""

import fnmatch
import hashlib
import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage, SetupFailed
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import STDIN_EMPTY, Trial
from whet.core.value_class import value_class
from whet.host.code.worktrees import Worktrees
from whet.host.files.below import folder_below
from whet.host.files.files import storage_error
from whet.host.python.environments import PackageEnvironment, find_uv, make_environment
from whet.host.python.python_interpreter import python_for

READS = (
    "pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements*.in",
    "constraints*.txt", "*.lock", "pylock*.toml", "Pipfile", "environment*.yml",
    "MANIFEST.in", "CMakeLists.txt", "meson.build", "Makefile", "Cargo.toml",
    "*.c", "*.cc", "*.cpp", "*.cxx", "*.cu", "*.f90", "*.h", "*.hpp", "*.pxd", "*.pyx", "*.rs",
)  # fmt: skip
"""The files that an editable installation reads, in any folder."""

_PARTS = re.compile(r"&&|\|\||[;|&\n]")
_SYNC = re.compile(r"\s*(uv sync|poetry install|pdm install)\b")
_PIP_INSTALL = re.compile(r"\s*(uv pip|(python[\d.]* -m )?pip3?) install\b")
_WITH_FILE = frozenset({"-e", "--editable", "-r", "--requirement", "--requirements", "-c",
                        "--constraint", "--constraints", "--index-url", "-i", "--find-links", "-f",
                        "--extra-index-url"})  # fmt: skip
_IS_OF_PYTHON = re.compile(r"\b(pip3?|uv|python[\d.]*|poetry|pdm|hatch|flit|maturin)\b")
_NAMES_PIP = re.compile(r"(?<!uv )\bpip3?\b")


@value_class(kw_only=True)
class Setup:
    """What is done in each checkout.

    Attributes:
        command: text for ``sh -c``, started at the top of the checkout; empty: nothing.
        reads: patterns of the files that it reads; empty: `READS` if it is an installation that
            leaves the code where it is, else every file.
        as_of_commit: it installs nothing that was uploaded after the commit was made.
        carried: files and folders of the user's that git doesn't track, to be copied in.
    """

    command: str = ""
    reads: tuple[str, ...] = ()
    as_of_commit: bool = False
    carried: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """What it reads; empty: every file."""
        return self.reads or (READS if leaves_code(self.command) else ())

    def text(self, top: Path) -> str:
        """Return all of this as text, for the key of a trial; empty if there is nothing to do."""
        if self == Setup():
            return ""
        carried = {name: _stamp(top / name) for name in self.carried}
        return json.dumps([self.command, self.reads, self.as_of_commit, carried])

    def check(self, top: Path, environment: Mapping[str, str]) -> None:
        """Refuse what can't work on any commit.

        Raises:
            BadUsage: if a file to carry is missing or lies elsewhere, or uv is needed and not used.
        """
        for name in self.carried:
            if not os.path.lexists(top / name) or not _is_inside(top, name):
                raise BadUsage(
                    f"`--carry {name}` names nothing in `{top}`",
                    hint="name a file or folder inside the repository, relative to its top",
                )
        if not self.as_of_commit:
            return
        if not self.command or _NAMES_PIP.search(self.command):
            raise BadUsage(
                "`--as-of-commit` needs a setup that installs with uv",
                hint="write `--setup 'uv pip install --editable .'`",
            )
        if not find_uv(environment):
            raise BadUsage(
                "`--as-of-commit` needs uv, which is not installed", hint="`pip install uv`"
            )


def needs_environment(setup: Setup) -> bool:
    """Whether a setup installs something for Python, and so gets an environment of its own."""
    return _IS_OF_PYTHON.search(setup.command) is not None


def leaves_code(command: str) -> bool:
    """Whether a shell command only installs, and leaves the repository's own code where it is.

    That is `pip install -e .` or `-r requirements.txt`, and not `pip install .`, which copies.
    """
    return all(_part_leaves_code(part) for part in _PARTS.split(command))


def _part_leaves_code(part: str) -> bool:
    if _SYNC.match(part):
        return "--no-editable" not in part
    if not _PIP_INSTALL.match(part):
        return False
    words = part.split()
    return not any(
        ("/" in word or word.startswith(".")) and before not in _WITH_FILE
        for before, word in itertools.pairwise(words)
        if not word.startswith("-")
    )


@value_class(kw_only=True)
class Setups:
    """Brings checkouts to the state that a trial needs.

    Attributes:
        worktrees: the checkouts.
        setup: what is done in them.
        environment: what trials inherit.
    """

    worktrees: Worktrees
    setup: Setup
    environment: Mapping[str, str]

    def state_of(self, commit: str) -> str:
        """Return a digest of all that the setup reads on ``commit``; empty if there is none."""
        if not self.setup.command:
            return ""
        listing = self.worktrees.repository.get("ls-tree", "-r", "-z", "--full-tree", commit)
        entries = [entry for entry in listing.split("\0") if self._is_read(entry)]
        when = self._date(commit) if self.setup.as_of_commit else ""
        read = json.dumps([self.setup.command, when, entries])
        return hashlib.sha256(read.encode("utf-8", "surrogateescape")).hexdigest()

    def prepare(
        self, slot: Path, trial: Trial, commit: str, perform: Callable[[Trial], Outcome]
    ) -> Trial:
        """Return the trial as it runs in ``slot``, which is set up if it isn't.

        Args:
            slot: checkout of ``commit``.
            trial: as placed there.
            commit: full id.
            perform: runs a trial.

        Raises:
            SetupFailed: if the setup's command fails.
            DiskFull, CannotWrite: if there is no place for a file that is carried in.
        """
        carried = () if self.worktrees.is_set_up(slot) else self.setup.carried
        for name in carried:
            _carry(self.worktrees.repository.top / name, slot, slot / name)
        if not self.setup.command:
            return trial
        beside = slot.with_name(f"{slot.name}-env")
        if not self.worktrees.is_set_up(slot):
            placed = self._in_environment(trial, self._new_environment(slot, trial))
            self._set_up(slot, placed, commit, perform)
            self.worktrees.note_set_up(slot, self.state_of(commit))
        is_of_python = (beside / "bin" / "python").exists()
        return self._in_environment(trial, beside if is_of_python else None)

    def _is_read(self, entry: str) -> bool:
        path = entry.partition("\t")[2]
        patterns = self.setup.patterns
        names = (path, path.rpartition("/")[2])
        return bool(path) and (
            not patterns
            or any(fnmatch.fnmatchcase(name, each) for each in patterns for name in names)
        )

    def _date(self, commit: str) -> str:
        return self.worktrees.repository.get("show", "--no-patch", "--format=%cI", commit)

    def _new_environment(self, slot: Path, trial: Trial) -> Path | None:
        if not needs_environment(self.setup):
            return None
        inherited = {**self.environment, **trial.environment}
        folder = self.worktrees.environment_beside(slot)
        environment = make_environment(
            folder,
            python_for(trial.command, inherited, Path(trial.cwd)),
            inherited,
            uv=find_uv(inherited),
            with_pip=bool(_NAMES_PIP.search(self.setup.command)),
        )
        if environment.exit_code != 0:
            raise SetupFailed(
                f"no Python environment can be made: {environment.complaint}",
                hint="try it yourself: `python -m venv /tmp/try`",
            )
        return folder

    def _in_environment(self, trial: Trial, folder: Path | None) -> Trial:
        if folder is None:
            return trial
        path = trial.environment.get("PATH", self.environment.get("PATH", ""))
        environment = PackageEnvironment(folder=folder)
        command, overrides = environment.command_in(trial.command, path)
        # Unlike that of a release, the code itself may be named in it.
        overrides.pop("PYTHONPATH")
        return replace(trial, command=command, environment={**trial.environment, **overrides})

    def _set_up(
        self, slot: Path, placed: Trial, commit: str, perform: Callable[[Trial], Outcome]
    ) -> None:
        variables = {**placed.environment, "UV_PYTHON_DOWNLOADS": "never"}
        uv = find_uv({**self.environment, **placed.environment})
        if uv:
            path = variables.get("PATH", self.environment.get("PATH", os.defpath))
            variables["PATH"] = f"{path}{os.pathsep}{Path(uv).parent}"
        if self.setup.as_of_commit:
            variables["UV_EXCLUDE_NEWER"] = self._date(commit)
        command = ("/bin/sh", "-c", self.setup.command)
        outcome = perform(
            Trial(
                command=command, cwd=str(slot), environment=variables,
                stdin=STDIN_EMPTY, code=placed.code, limits=Limits(),
            )
        )  # fmt: skip
        if outcome.interrupted:
            raise SetupFailed("the setup was cancelled", hint="run the search again")
        if outcome.shell_exit_code != 0:
            raise SetupFailed(
                f"`{self.setup.command}` failed on {commit[:10]}: {_last_words(outcome)}",
                hint=f"try it: `git worktree add --detach /tmp/try {commit[:10]}`",
            )


def _last_words(outcome: Outcome) -> str:
    output = outcome.stderr.tail(4000) or outcome.stdout.tail(4000)
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1].strip()[:200] if lines else f"exit code {outcome.shell_exit_code}"


def _is_inside(top: Path, name: str) -> bool:
    return not Path(name).is_absolute() and Path(os.path.normpath(top / name)).is_relative_to(top)


def _carry(source: Path, slot: Path, target: Path) -> None:
    """Copy what the user has, links as links; what the commit has itself stays as it is there."""
    try:
        with folder_below(slot, target.parent) as folder:
            _copy_if_missing(source, folder / target.name)
    except OSError as error:
        raise storage_error(error, target) from error


def _copy_if_missing(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        if os.path.lexists(target) and (target.is_symlink() or not target.is_dir()):
            return
        target.mkdir(exist_ok=True)
        for each in source.iterdir():
            _copy_if_missing(each, target / each.name)
        shutil.copystat(source, target)
    elif not os.path.lexists(target):
        shutil.copy2(source, target, follow_symlinks=False)


def _stamp(path: Path) -> list[tuple[str, int, int]]:
    """Return name, size and time of each file that is carried."""
    files = [path] if not path.is_dir() else sorted(each for each in path.rglob("*"))
    statuses = ((each, each.lstat()) for each in files)
    return [(str(each.relative_to(path.parent)), s.st_size, s.st_mtime_ns) for each, s in statuses]
