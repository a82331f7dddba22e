"""whet as root types it and as an ordinary user does, each in a project of their own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ORDINARY = 54400 + os.getpid() % 5000  # nobody has this number, and no other test at this moment
_STARTS_ITSELF = """
import os, sys, whet, click, sqlite3
os.execv(sys.executable, [sys.executable, "-c", ""])
"""
_SOURCES = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Answer:
    """What whet answered."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class User:
    """Somebody with a project.

    Attributes:
        folder: the project; beside it lies `tmp`, the folder for temporary files.
        prefix: words that make what follows run as that user.
        python: an interpreter that this user may run, with what whet needs.
        environment: all of it.
    """

    folder: Path
    prefix: tuple[str, ...]
    python: str
    environment: dict[str, str]

    @property
    def temporary(self) -> Path:
        return self.folder.parent / "tmp"

    @property
    def state(self) -> Path:
        """Where whet keeps what it knows of the project: the only one of this user."""
        (found,) = Path(self.environment["HOME"], ".local/state/whet/projects").iterdir()
        return found

    def command(self, *words: str) -> list[str]:
        return [*self.prefix, self.python, "-m", "whet", *words]

    def __call__(self, *words: str, **variables: str) -> Answer:
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Answer(
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        self.give(path)
        return path

    def make_folder(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir()
        self.give(path)
        return path

    def make_fifo(self, name: str) -> Path:
        path = self.folder / name
        os.mkfifo(path)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        """Let this user own it, whoever runs the tests."""
        owner = self.folder.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


@contextmanager
def user(name: str) -> Iterator[User]:
    """Yield `root`, or `ordinary`: somebody without rights, who has to be let into the folder."""
    is_root = os.geteuid() == 0
    if name == "root" and not is_root:
        pytest.skip("needs root")
    number = ORDINARY if name == "ordinary" and is_root else os.geteuid()
    folder = Path(tempfile.mkdtemp(prefix="room-test-"))
    try:
        for each in (folder, folder / "project", folder / "tmp"):
            each.mkdir(exist_ok=True)
            each.chmod(0o755)
            if is_root:
                os.chown(each, number, number)
        (folder / "project" / ".git").mkdir(mode=0o755)  # marks the top of the project
        python, paths = sys.executable, os.environ.get("PYTHONPATH", "")
        prefix: tuple[str, ...] = ()
        if number != os.geteuid():
            prefix = ("setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups")
            python, paths = _python_for_all(prefix)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": paths,
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        yield User(folder / "project", prefix, python, environment)
    finally:
        shutil.rmtree(folder)


def _python_for_all(prefix: tuple[str, ...]) -> tuple[str, str]:
    """Return an interpreter that others may run as well, and its path to whet."""
    paths = os.pathsep.join([str(_SOURCES), *(path for path in sys.path if "-packages" in path)])
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run(
            [*prefix, python, "-c", _STARTS_ITSELF],
            env={"PYTHONPATH": paths},
            cwd="/",
            capture_output=True,
            check=False,
        )
        if tried.returncode == 0:
            return python, paths
    pytest.skip("an ordinary user may not read this checkout, or there is no Python for all")
