"""The command ``whet`` as a user types it."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from loaded_whet import loaded_whet

from whet.host.code.project import Project

_MOST_SECONDS = 120
_ENOUGH = "15m"  # on a busy machine, too


def patience(least_seconds: float) -> str:
    """Return the time after which a program that does little has surely begun to wait.

    On a busy machine it is longer: as long as ten interpreters take to start now.
    """
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import threading"], check=True)
    return f"{max(least_seconds, 10 * (time.monotonic() - began)):.1f}"


@dataclass(frozen=True)
class Said:
    """What whet answered."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Whet:
    """whet in a folder of its own.

    Attributes:
        folder: where it is called.
        environment: what it gets beside what the test has.
    """

    folder: Path
    environment: dict[str, str]

    def __call__(
        self,
        *words: str,
        stdin: bytes = b"",
        environment: dict[str, str] | None = None,
        most_seconds: int = _MOST_SECONDS,
        is_hurried: bool = False,
    ) -> Said:
        """Run whet; an investigation has all the time it needs unless it `is_hurried`."""
        if words[:1] == ("investigate",) and "--budget" not in words and not is_hurried:
            words = (words[0], "--budget", _ENOUGH, *words[1:])
        whole = {**os.environ, **self.environment, **(environment or {})}
        loaded = loaded_whet()
        if loaded.can_run(whole):
            code, output, errors = loaded.run(words, str(self.folder), whole, stdin, most_seconds)
        else:
            done = subprocess.run(
                [sys.executable, "-m", "whet", *words],
                cwd=self.folder,
                env=whole,
                input=stdin,
                capture_output=True,
                check=False,
                timeout=most_seconds,
            )
            code, output, errors = done.returncode, done.stdout, done.stderr
        return Said(code, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))

    @property
    def state(self) -> Path:
        """Where whet keeps what it knows of the folder."""
        return Project.find(self.folder, {**os.environ, **self.environment}).state

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def git(self, *words: str) -> str:
        name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        # After each commit git starts another process, to see whether there is something to tidy.
        plain = ("-c", "maintenance.auto=false")
        done = subprocess.run(
            ["git", *name, *plain, *words], cwd=self.folder, capture_output=True, check=True
        )
        return done.stdout.decode()

    def commit(self, message: str, **files: str) -> str:
        for name, text in files.items():
            self.write(name.replace("_py", ".py"), text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()
