"""Real repositories for tests, and everything about them that whet must leave alone."""

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from whet.host.process.git import Repository

_IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@dataclass(frozen=True)
class UserRepository:
    """A repository of a user's, with git called as the user would."""

    top: Path

    @classmethod
    def make(cls, top: Path, *options: str) -> "UserRepository":
        top.mkdir(parents=True)
        repository = cls(top)
        repository.git("init", "--quiet", "--initial-branch=main", *options)
        if "--bare" not in options:
            repository.write(".whet/.gitignore", "*\n")  # as whet itself makes its state folder
        return repository

    @classmethod
    def with_two_files(cls, top: Path) -> "UserRepository":
        repository = cls.make(top)
        repository.write("train.py", "a\nb\n")
        repository.write("package/model.py", "x = 1\n")
        repository.commit("first")
        return repository

    def git(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.top,
            env={**os.environ, **_IDENTITY, "GIT_OPTIONAL_LOCKS": "0"},
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return os.fsdecode(done.stdout).rstrip("\n")

    def whets(self, *arguments: str) -> str:
        """Ask git as whet does: it finds what whet keeps itself."""
        return Repository(self.top).get(*arguments)

    def write(self, name: str, content: str | bytes = "") -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, message: str = "a change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def possessions(self) -> dict[str, object]:
        """Return everything that belongs to the user, the objects and references of git with it."""
        found: dict[str, object] = {}
        git_dir = self.git("rev-parse", "--absolute-git-dir")
        for folder, folders, names in os.walk(self.top):
            folders[:] = [name for name in folders if name != ".whet"]
            for name in names:
                path = Path(folder, name)
                if name.startswith("sharedindex."):
                    continue  # each git that reads one renews its time
                # git renews the time of an object that is there already, whoever writes it again.
                is_object = "/objects/" in folder + "/"
                whole = path.read_bytes() if is_object else _all_of(path)
                found[str(path.relative_to(self.top))] = whole
        found["index"] = _all_of(Path(git_dir, "index"))
        found["status"] = self.git("status", "--porcelain=v2", "--branch", "--show-stash")
        found["references"] = self.git("for-each-ref").splitlines()
        found["worktrees"] = self.git("worktree", "list", "--porcelain")
        return found


def files_in(top: Path) -> dict[str, tuple[str, bytes]]:
    """Return each file below ``top`` but git's and whet's: kind and right to execute, content."""
    found: dict[str, tuple[str, bytes]] = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in {".git", ".whet"}]
        for path in (Path(folder, name) for name in (*names, *folders)):
            mode = path.lstat().st_mode
            where = str(path.relative_to(top))
            if stat.S_ISLNK(mode):
                found[where] = ("link", os.fsencode(path.readlink()))
            elif stat.S_ISREG(mode) and path.name != ".git":
                found[where] = ("program" if mode & 0o100 else "file", path.read_bytes())
    return found


def _all_of(path: Path) -> object:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return path.readlink()
    content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
    return (status.st_mode, status.st_mtime_ns, status.st_ino, content)
