"""whet's own index over a user's working tree, which stores every byte as it is.

It is in its own git directory, so it doesn't touch or use the user's index, HEAD, settings, hooks or
filters. Line endings, `ident`, `clean` filters, `assume-unchanged`, sparse checkouts and file system
monitors can all make git call a file unchanged that differs from the commit. The objects go into
whet's own store (`object_store`).
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from whet.core.value_class import value_class
from whet.host.files.user_state import make_private
from whet.host.process.git import GitFailedError, git_environment
from whet.host.process.object_store import VARIABLE, has_object, object_store
from whet.host.process.tool import ToolMissingError, ToolResult, call_tool
from whet.host.process.working_tree import WorkingTree

_NO_COMMIT = "ref: refs/heads/none\n"
_REFUSED = "Ignoring path "  # what update-index says, in no other language, and exits with 0
_INDEX_TRAILER_BYTES = 32  # holds the checksum of either object format

# Highest in precedence of all attribute files; `-text` also rules out `eol` and `autocrlf`.
_RAW = "* -text -filter -ident -working-tree-encoding\n"

# Each stands against a setting of the user's or of the system's that would hide a change.
_SETTINGS = """
    bare = false
    autocrlf = false
    checkStat = default
    fileMode = true
    fsmonitor = false
    hooksPath = /dev/null
    ignoreStat = false
    protectHFS = false
    protectNTFS = false
    safecrlf = false
    sparseCheckout = false
    splitIndex = false
    trustctime = true
    untrackedCache = false
[index]
    skipHash = false
    sparse = false
[feature]
    manyFiles = false
[i18n]
    commitEncoding = UTF-8
[submodule]
    recurse = false
"""


@value_class(kw_only=True)
class Changes:
    """How the working tree differs from the shadow index.

    Attributes:
        written: files and symbolic links that are there with other content, type or mode.
        unknown: files, symbolic links and (ending in ``/``) repositories not in the index.
        gone: what is in the index but not in the working tree.
        ignore_files: files that say what is ignored and are ignored themselves.
        unreadable: what git says of folders that it could not look into.
    """

    written: tuple[str, ...]
    unknown: tuple[str, ...]
    gone: tuple[str, ...]
    ignore_files: tuple[str, ...]
    unreadable: tuple[str, ...]


@value_class(eq=False)
class ShadowIndex:
    """whet's own index over one working tree.

    Attributes:
        folder: its git directory.
        tree: the working tree that it follows.
    """

    folder: str
    tree: WorkingTree

    def make(self) -> None:
        """Make the git directory, with an empty index."""
        for name in ("refs", "objects", "info"):
            os.makedirs(os.path.join(self.folder, name))
        self._write("info/attributes", _RAW)
        self.set_head("")

    def configure(self, *, excluded: str) -> None:
        """Take over what decides which files belong to the working tree.

        Args:
            excluded: patterns, as in ``.gitignore``, for what belongs to whet; or nothing.
        """
        is_sha256 = self.tree.object_format == "sha256"
        version = f"[core]\n    repositoryformatversion = {int(is_sha256)}\n"
        extension = "[extensions]\n    objectFormat = sha256\n[core]\n" if is_sha256 else ""
        own = "".join(f"    {_assignment(name, value)}\n" for name, value in self._settings())
        self._write("config", f"{version}{own}{extension}{_SETTINGS}")
        theirs = self.tree.ignore_files[0]
        patterns = b""
        if os.path.isfile(theirs):
            with open(theirs, "rb") as file:
                patterns = file.read()
        with open(os.path.join(self.folder, "info", "exclude"), "wb") as file:
            file.write(patterns + b"\n.whet/\n" + os.fsencode(excluded) + b"\n")

    def set_head(self, commit: str) -> None:
        """Say which commit the working tree is on: what equals it costs nothing to list."""
        self._write("HEAD", f"{commit}\n" if commit else _NO_COMMIT)

    def changes(self) -> Changes:
        """Compare the working tree with the index, file by file.

        Raises:
            GitFailedError: if git can't.
        """
        answer = self.ask(
            "status", "-z", "--porcelain=v1", "--untracked-files=all", "--no-renames",
            "--ignore-submodules=dirty", "--no-ahead-behind", "--ignored=matching",
            environment={"GIT_OPTIONAL_LOCKS": "1"},  # whet's own index may be refreshed
        )  # fmt: skip
        listing = _succeeded(answer, "status")
        writes: list[str] = []
        unknown: list[str] = []
        deletions: list[str] = []
        ignore_files: list[str] = []
        for entry in listing.split("\0")[:-1]:
            state, path = entry[1], entry[3:]
            if state == "?":
                unknown.append(path)
            elif state == "D":
                deletions.append(path)
            elif state == "!":
                if os.path.basename(path) == ".gitignore":
                    ignore_files.append(path)
            elif state != " ":
                writes.append(path)
        complaints = os.fsdecode(answer.stderr).splitlines()
        return Changes(
            written=tuple(writes),
            unknown=tuple(unknown),
            gone=tuple(deletions),
            ignore_files=tuple(ignore_files),
            unreadable=tuple(line for line in complaints if line.startswith("warning: could not")),
        )

    def ignored(self) -> frozenset[str]:
        """Return the files in the index that today's ignore files would keep out."""
        listing = self.get("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        return frozenset(listing.split("\0")[:-1])

    def remove(self, paths: Iterable[str]) -> None:
        """Take paths out of the index, whatever is there now."""
        if names := _zero_ended(paths):
            self.get("update-index", "--force-remove", "-z", "--stdin", stdin=names)

    def add(self, paths: Iterable[str]) -> list[str]:
        """Put files and symbolic links into the index as they are now.

        Returns:
            Those that git holds under no circumstances, such as a file named ``.GIT``.

        Raises:
            GitFailedError: if one can't be read, or changed its type meanwhile.
        """
        names = _zero_ended(paths)
        if not names:
            return []
        how = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        answer = self.ask(*how, stdin=names)
        _succeeded(answer, how[0])
        complaints = os.fsdecode(answer.stderr).split("\n")
        return [line.removeprefix(_REFUSED) for line in complaints if line.startswith(_REFUSED)]

    def add_submodules(self, commits: Mapping[str, str]) -> None:
        """Put submodules that aren't checked out into the index: path to commit."""
        lines = _zero_ended(f"160000 {commit}\t{path}" for path, commit in commits.items())
        if lines:
            self.get("update-index", "--add", "-z", "--index-info", stdin=lines)

    def write_tree(self) -> str:
        """Write the index as a tree object and return its name."""
        return self.get("write-tree")

    def commit(self, tree: str, *, parent: str, seconds: int, message: str) -> str:
        """Write a commit object and return its name; the same words give the same commit."""
        parents = ("-p", parent) if parent else ()
        who = {"NAME": "whet", "EMAIL": "whet@localhost", "DATE": f"@{seconds} +0000"}
        names = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
        return self.get(
            "commit-tree", tree, *parents, stdin=message.encode(), environment=names
        )  # fmt: skip

    def keep(self, names: Iterable[str]) -> None:
        """Keep the repository's objects next to whet's own, because the repository may remove them.

        Raises:
            GitFailedError: if the repository doesn't have one of them.
        """
        missing = [each for each in names if not has_object(each)]
        if not missing:
            return
        how = ("pack-objects", "--stdout", "-q")
        pack = self.ask(*how, stdin="".join(f"{each}\n" for each in missing).encode())
        _succeeded(pack, how[0])
        # Loose ones: what is there already is left, and one folder serves all repositories.
        self.get("unpack-objects", "-q", stdin=pack.stdout, environment={VARIABLE: ""})

    def trailer(self) -> str:
        """Return the end of the index file, its checksum: equal trailers, equal indexes."""
        try:
            with open(os.path.join(self.folder, "index"), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _INDEX_TRAILER_BYTES))
                return f"{size} {file.read().hex()}"
        except FileNotFoundError:
            return ""

    @property
    def is_locked(self) -> bool:
        """Whether a git process that may be dead holds, or left, a lock on the index."""
        return os.path.lexists(os.path.join(self.folder, "index.lock"))

    def get(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run git on this index and return what it printed.

        Raises:
            GitFailedError: if its exit code isn't 0.
        """
        answer = self.ask(*arguments, stdin=stdin, environment=environment)
        return _succeeded(answer, arguments[0])

    def ask(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> ToolResult:
        """Run git on this index and return its answer."""
        inherited = {
            name: value
            for name, value in git_environment().items()
            if not name.startswith("GIT_CONFIG_") or name in _HARMLESS
        }
        store = object_store()
        if not store:
            raise GitFailedError("you have no folder of your own for the objects")
        make_private(Path(store))
        own = {
            "GIT_DIR": self.folder,
            "GIT_WORK_TREE": self.tree.top,
            "GIT_OBJECT_DIRECTORY": store,
            VARIABLE: self.tree.objects,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
        }
        try:
            return call_tool(
                ["git", *arguments],
                cwd=self.tree.repository.top,
                stdin=stdin,
                environment={**inherited, **own, **(environment or {})},
            )
        except ToolMissingError as error:
            raise GitFailedError("git is not installed") from error

    def _settings(self) -> Iterable[tuple[str, str]]:
        for name, value in self.tree.settings.items():
            yield name.removeprefix("core."), value

    def _write(self, name: str, content: str) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(content)


# Settings of one call (`git -c`, GIT_CONFIG_COUNT) would win over those of the shadow index.
_HARMLESS = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}


def _succeeded(answer: ToolResult, command: str) -> str:
    if answer.exit_code != 0:
        raise GitFailedError(f"git {command}: {answer.complaint}")
    return answer.text


def _zero_ended(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _assignment(name: str, value: str) -> str:
    literal = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name} = "{literal}"'
