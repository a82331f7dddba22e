import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from user_repository import UserRepository, files_in

from whet.core.trial import CodeState
from whet.host.code.code_restore import restore
from whet.host.code.code_snapshots import take_snapshot
from whet.host.process.git import Repository

LIMIT = 100

names = st.sampled_from(
    ["a", "b.txt", "c.log", "d/a", "d/b.txt", "d/e/f", "d", "new\nline", "bad-\udcff", "-x", "d e"]
)
contents = st.sampled_from([b"", b"1\n", b"2\n", b"a\r\nb\n", b"a\nb\n", b"$Id$\n", b"\0\xff"])
ignores = st.sampled_from(["", "*.log\n", "d/\n", "*\n!a\n", ".gitignore\n", "!.whet\n", "/a\n"])
attributes = st.sampled_from(
    ["", "* text=auto\n", "* text eol=crlf\n", "* ident\n", "* filter=up\n", "* -diff binary\n"]
)


class SnapshotsAgreeWithTheFolder(RuleBasedStateMachine):
    """Whatever is done to a working tree, its snapshot is what it is, and the user's is not touched."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.user = UserRepository.make(self.folder / "project")
        self.user.git("config", "filter.up.clean", "tr a-z A-Z")
        self.seen: dict[str, dict[str, tuple[str, bytes]]] = {}
        self.codes: list[CodeState] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def path(self, name: str) -> Path:
        return self.user.top / name

    def is_file(self, name: str) -> bool:
        return self.path(name).is_file() and not self.path(name).is_symlink()

    @rule(name=names, content=contents)
    def write(self, name: str, content: bytes) -> None:
        path = self.path(name)
        with suppress(OSError):  # a folder, a file or a link is in the way
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                path.unlink()
            path.write_bytes(content)

    @rule(name=names, content=contents)
    def write_with_the_times_of_before(self, name: str, content: bytes) -> None:
        if self.is_file(name):
            status = self.path(name).stat()
            self.path(name).write_bytes(content)
            os.utime(self.path(name), ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(name=names)
    def remove(self, name: str) -> None:
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            with suppress(OSError):
                path.unlink()

    @rule(name=names, mode=st.sampled_from([0o644, 0o755]))
    def chmod(self, name: str, mode: int) -> None:
        if self.is_file(name):
            self.path(name).chmod(mode)

    @rule(name=names, goal=names)
    def link(self, name: str, goal: str) -> None:
        self.remove(name)
        with suppress(OSError):
            self.path(name).symlink_to(goal)

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        with suppress(OSError):  # nothing there, or something in the way
            self.path(name).rename(self.path(other))

    @rule(patterns=ignores)
    def ignore(self, patterns: str) -> None:
        self.user.write(".gitignore", patterns)

    @rule(lines=attributes)
    def attribute(self, lines: str) -> None:
        self.user.write(".gitattributes", lines)

    @rule(name=names, force=st.booleans())
    def stage(self, name: str, *, force: bool) -> None:
        how = ["--force"] if force else []
        self.user.git("--literal-pathspecs", "add", *how, "--", name, check=False)

    @rule(name=names)
    def unstage(self, name: str) -> None:
        self.user.git("--literal-pathspecs", "rm", "-r", "--cached", "--", name, check=False)

    @rule(name=names, bit=st.sampled_from(["assume-unchanged", "skip-worktree"]))
    def hide(self, name: str, bit: str) -> None:
        self.user.git("update-index", f"--{bit}", "--", name, check=False)

    @rule()
    def commit_all(self) -> None:
        self.user.git("add", "--all", check=False)
        self.user.git("commit", "--quiet", "--allow-empty", "-m", "x")

    @rule()
    def amend(self) -> None:
        self.user.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "y", check=False)

    @rule(how=st.sampled_from([("stash",), ("stash", "pop"), ("reset", "--hard"), ("checkout", "-"),
                               ("checkout", "HEAD~1"), ("checkout", "-B", "other"), ("clean", "-fd"),
                               ("read-tree", "--empty"), ("add", "--intent-to-add", "."),
                               ("gc", "--quiet", "--prune=now"), ("pack-refs", "--all")]))  # fmt: skip
    def git(self, how: tuple[str, ...]) -> None:
        self.user.git(*how, check=False)

    @precondition(lambda self: self.codes)
    @rule(data=st.data())
    def an_old_one_comes_back(self, data: st.DataObject) -> None:
        code = data.draw(st.sampled_from(self.codes))

        self.check_restored(code, self.seen[code.tree])

    @rule()
    def snapshot(self) -> None:
        before = self.user.possessions()

        taken = take_snapshot(
            self.user.top, state=self.user.top / ".whet", keep_untracked_below_bytes=LIMIT
        )

        assert self.user.possessions() == before
        code = taken.code
        assert code is not None, taken.notes
        ignored = self.ignored()
        kept = {name: what for name, what in files_in(self.user.top).items() if name not in ignored}
        assert self.seen.setdefault(code.tree, kept) == kept
        self.check_restored(code, kept)
        self.codes.append(code)

    def ignored(self) -> set[str]:
        asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
        return set(self.user.git(*asked).split("\0"))

    def check_restored(self, code: CodeState, kept: dict[str, tuple[str, bytes]]) -> None:
        folder = self.folder / "restored"
        folder.mkdir()
        try:
            restore(Repository(self.user.top), code, folder)
            assert files_in(folder) == kept
        finally:
            shutil.rmtree(folder)


TestSnapshots = pytest.mark.slow(SnapshotsAgreeWithTheFolder.TestCase)
# A step is a git process or ten: a tenth of the examples of a test without any.
TestSnapshots.settings = settings(
    max_examples=max(1, settings().max_examples // 5), stateful_step_count=20, deadline=None
)
