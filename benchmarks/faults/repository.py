"""The repository in which `benchmarks/faults/chaos.py` plays, and what belongs to its user."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "CHAOS_ROUND"
PATIENCE_SECONDS = 60.0
PYTHON = sys.executable

PROGRAM = """\
import os, select, subprocess, sys
text = open(sys.argv[1]).read() if len(sys.argv) > 1 else "x"
if os.path.exists("slow"):
    children = [subprocess.Popen(["sleep", "300"], start_new_session=own) for own in (True, False)]
    select.select([], [], [], 0.2)  # libfaketime lets `time.sleep` last for days after a clock was set back
    for child in children:
        child.kill()
def counted(text):
    return sum(1 for line in text.splitlines() if "x" in line)
total = counted(text)
if total:
    raise ValueError(f"{total} lines with an x")
"""
CONFIGURATION = '{"rows": 1}'
PASSES = "a\nb\n"
DATA = "".join(f"line {number} y\n" for number in range(40)) + "the x\n"
COMMITS, GOOD = 4, 2

RESULTS_OF_VERBS = re.compile(
    r"(?:\w+\.(?:shrunk|sample|fails|passes)(?:-\d+)?\.\w+|page\.\w+|whet-report/[\w.]+)"
)
"""What the verbs write into the project because they are asked to."""


@dataclass
class Place:
    """Somebody's repository, and what belongs to it.

    Attributes:
        top: the folder of all of it.
        mark: what the environment of each process of a round says.
        has_home: whether the user has a home; whet's state is in the runtime folder otherwise.
    """

    top: Path
    mark: str
    has_home: bool = True

    @property
    def project(self) -> Path:
        """The user's repository."""
        return self.top / "project"

    @property
    def environment(self) -> dict[str, str]:
        """What all that is started gets."""
        state = str(self.top / "state")
        home = {"HOME": str(self.top), "XDG_STATE_HOME": state}
        none = {"HOME": str(self.top / "none"), "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": state}
        return {
            **os.environ, **(home if self.has_home else none),
            "TMPDIR": str(self.top / "tmp"), MARK: self.mark, "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip

    def make(self) -> None:
        """Make the repository, with changes that are not committed, and a first trial."""
        for name in ("tmp", "state"):
            (self.top / name).mkdir()
        self.project.mkdir()
        self.call("git", "init", "--quiet", "--initial-branch=main")
        (self.project / "rows.json").write_text(CONFIGURATION)
        (self.project / "passes.txt").write_text(PASSES)
        good = PROGRAM.replace('"x" in line', '"none of them" in line')
        for number in range(COMMITS):
            (self.project / "app.py").write_text(good if number < GOOD else PROGRAM)
            (self.project / "notes.txt").write_text(str(number))
            (self.project / "data.txt").write_text(DATA)
            self.call("git", "add", "--all")
            self.call("git", "commit", "--quiet", "-m", str(number))
        (self.project / "slow").write_text("")
        (self.project / ".env").write_text("PASSWORD=never-leaves")
        self.whet("run", "--", "true")

    def call(self, *words: str) -> str:
        """Run a command there."""
        done = subprocess.run(
            words, cwd=self.project, env=self.environment, check=True, capture_output=True
        )
        return done.stdout.decode()

    def whet(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        """Run whet there, to its end."""
        return subprocess.run(
            [PYTHON, "-m", "whet", *words], cwd=self.project, env=self.environment, check=False,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS,
        )  # fmt: skip

    @property
    def state(self) -> Path:
        """Where whet keeps what it knows of the repository."""
        (found,) = (self.top / "state" / "whet" / "projects").iterdir()
        return found

    def users(self) -> dict[str, bytes]:
        """Return all that is the user's, git's own with it; results of a search are not."""
        found: dict[str, bytes] = {}
        for path in sorted(self.project.rglob("*")):
            name = str(path.relative_to(self.project))
            is_result = RESULTS_OF_VERBS.fullmatch(name) is not None
            if path.is_file() and not is_result and not name.startswith(".git/worktrees"):
                found[name] = path.read_bytes()
        return found

    def ended(self) -> set[int]:
        """Return the trials that have ended.

        Raises:
            sqlite3.DatabaseError: if the notebook is not whole.
        """
        connection = sqlite3.connect(self.state / "notebook.db")
        try:
            (word,) = connection.execute("PRAGMA integrity_check").fetchone()
            if word != "ok":
                raise sqlite3.DatabaseError(word)
            return {number for (number,) in connection.execute("SELECT trial FROM outcome")}
        finally:
            connection.close()

    def alive(self) -> list[int]:
        """Return the processes that this round has started."""
        found: list[int] = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                environment = (process / "environ").read_bytes().split(b"\0")
                state = (process / "stat").read_text().rpartition(")")[2].split()[0]
                if f"{MARK}={self.mark}".encode() in environment and state not in "ZX":
                    found.append(int(process.name))
        return found
