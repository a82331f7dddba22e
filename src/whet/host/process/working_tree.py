"""The paths of a working tree and its git directory, and HEAD, without starting git."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from whet.core.text.json_record import Record
from whet.core.value_class import value_class
from whet.host.files.files import content_of
from whet.host.process.git import (
    OWN_SCOPES,
    GitFailedError,
    Repository,
    check_place,
    git_environment,
)
from whet.host.process.tool import ToolMissingError, call_tool

Stamp: TypeAlias = tuple[int, int, int]
"""Inode, time of change in nanoseconds and size of a file; zeros if there is none."""

_SETTINGS = "excludesfile|ignorecase|precomposeunicode|symlinks|sharedrepository"
_OBJECT_ID_LENGTHS = (40, 64)  # SHA-1, SHA-256


@value_class(kw_only=True, eq=False)
class WorkingTree(Record):
    """One working tree: the main one of a repository or a linked one.

    Attributes:
        top: its top folder.
        git_dir: where its own HEAD and index are.
        common_dir: where the repository's objects, references and settings are.
        object_format: ``sha1`` or ``sha256``.
        settings: the repository's own settings that decide what its files are.
        ignore_files: files outside the working tree that say what is ignored in it.
    """

    top: str
    git_dir: str
    common_dir: str
    object_format: str
    settings: Mapping[str, str]
    ignore_files: tuple[str, ...]

    @classmethod
    def holding(cls, folder: str) -> "WorkingTree":
        """Ask git for the working tree that ``folder`` is in.

        Raises:
            GitFailedError: if git is missing, refuses the repository or there is none.
        """
        place = Repository.keeping(Path(folder)).git_folder
        keys = ("--show-toplevel", "--git-dir", "--git-common-dir", "--show-object-format")
        folders = _git(folder, "rev-parse", "--path-format=absolute", *keys).split(
            "\n"
        )  # splitlines would also split at \x0b
        if len(folders) != len(keys):
            raise GitFailedError("the path of the repository holds a line break")
        if not place:
            check_place(folders[0], folders[1])
        settings = _core_settings(folder)
        mine = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        everywhere = os.path.join(mine, "git", "ignore")
        for _, name, value in settings:
            everywhere = value if name == "core.excludesfile" else everywhere
        return cls(
            top=folders[0],
            git_dir=place or folders[1],
            common_dir=place or folders[2],
            object_format=folders[3],
            # Settings of the user or the system are read by every git; those of the repository
            # aren't when whet's own index is used.
            settings={name: value for scope, name, value in settings if scope in OWN_SCOPES},
            ignore_files=(
                os.path.join(folders[2], "info", "exclude"),
                os.path.join(folders[0], os.path.expanduser(everywhere)),
            ),
        )

    @property
    def repository(self) -> Repository:
        """This working tree's repository."""
        return Repository.keeping(Path(self.top))

    @property
    def objects(self) -> str:
        """Folder of the repository's objects."""
        return os.path.join(self.common_dir, "objects")

    def head(self) -> str:
        """Return the commit that is checked out; empty before the first one."""
        if self.repository.git_folder:
            return ""
        content = _content(os.path.join(self.git_dir, "HEAD")).strip()
        if content.startswith(b"ref: "):
            name = content.removeprefix(b"ref: ")
            content = _content(os.path.join(os.fsencode(self.common_dir), name)).strip()
            content = content or self._packed(name)
        if len(content) in _OBJECT_ID_LENGTHS and content.isalnum():
            return content.decode("ascii")
        # Before the first commit, through a symbolic reference, or in a reference table.
        answer = self.repository.ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        return answer.text if answer.exit_code == 0 else ""

    def _packed(self, name: bytes) -> bytes:
        content = _content(os.path.join(self.common_dir, "packed-refs"))
        end = content.find(b" " + name + b"\n")
        return b"" if end < 0 else content[content.rfind(b"\n", 0, end) + 1 : end]


def folder_with_git(folder: str) -> str | None:
    """Return ``folder`` or the nearest folder above it that has a ``.git``; None: no repository."""
    folder = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def stamp_of(path: str) -> Stamp:
    """Return what tells that a file has not been written since."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def _core_settings(folder: str) -> list[tuple[str, str, str]]:
    """Return scope, name and value of each setting that decides, the one that wins last."""
    question = ("config", "-z", "--show-scope", "--get-regexp", rf"^core\.({_SETTINGS})$")
    try:
        parts = _git(folder, *question).split("\0")
    except GitFailedError:
        return []  # exit code 1: none is set
    lines = [
        (scope, *line.partition("\n")) for scope, line in zip(parts[::2], parts[1::2], strict=False)
    ]
    return [(scope, name, value if equals else "true") for scope, name, equals, value in lines]


def _git(folder: str, *arguments: str) -> str:
    try:
        answer = call_tool(
            ["git", "-C", folder, *arguments],
            environment={**git_environment(), **Repository.keeping(Path(folder)).location()},
        )
    except ToolMissingError as error:
        raise GitFailedError("git is not installed") from error
    if answer.exit_code != 0:
        raise GitFailedError(f"git {arguments[0]}: {answer.complaint}")
    return answer.text


def _content(path: str | bytes) -> bytes:
    try:
        return content_of(path)
    except OSError:
        return b""
