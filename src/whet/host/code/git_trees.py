"""The trees of commits, read from git many at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.host.process.git import GitFailedError, Repository

FOLDER_MODE = "40000"


@value_class
class TreeEntry:
    """What a folder holds under one name: git's mode of it and git's name of its content."""

    mode: str
    content: str

    @property
    def kind(self) -> str:
        """What a listing of the folder tells of it: a file, whether it may be run or not, is one."""
        return "file" if self.mode.startswith("100") else self.mode


@dataclass(slots=True)
class GitTrees:
    """Trees of one repository, each read once."""

    repository: Repository
    _trees: dict[str, Mapping[str, TreeEntry]] = field(
        default_factory=dict[str, "Mapping[str, TreeEntry]"]
    )

    def roots(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the name of the top tree of each commit.

        Raises:
            GitFailedError: if git doesn't have one of them.
        """
        question = "\n".join(commits)
        if not question:
            return {}
        how = ("log", "--no-walk=unsorted", "--stdin", "--format=%H %T")
        answer = self.repository.get(*how, stdin=question.encode())
        return dict(line.split(" ") for line in answer.splitlines())

    def load(self, trees: Iterable[str]) -> None:
        """Read these trees, in one call of git, unless they are known.

        Raises:
            GitFailedError: if git doesn't have one of them.
        """
        names = [name for name in dict.fromkeys(trees) if name not in self._trees]
        if not names:
            return
        answer = self.repository.ask("cat-file", "--batch", stdin="\n".join(names).encode())
        if answer.exit_code != 0:
            raise GitFailedError(f"git cat-file: {answer.complaint}")
        place, data = 0, answer.stdout
        for name in names:
            end = data.index(b"\n", place)
            words = data[place:end].split(b" ")
            if words[1] != b"tree":
                raise GitFailedError(f"`{self.repository.top}` has no tree `{name}`")
            size = int(words[2])
            self._trees[name] = _entries(data[end + 1 : end + 1 + size], len(name) // 2)
            place = end + 1 + size + 1

    def entries(self, tree: str) -> Mapping[str, TreeEntry]:
        """Return what a tree holds, by name; it must have been loaded."""
        return self._trees[tree]


def _entries(data: bytes, id_bytes: int) -> dict[str, TreeEntry]:
    """Read git's form of a tree: mode, blank, name, zero, the bytes of the object's name.

    Raises:
        GitFailedError: if it is cut.
    """
    entries: dict[str, TreeEntry] = {}
    place = 0
    while place < len(data):
        zero = data.find(b"\0", place)
        if zero < 0:
            raise GitFailedError("git has a truncated tree")
        mode, _, name = data[place:zero].partition(b" ")
        place = zero + 1 + id_bytes
        content = data[zero + 1 : place].hex()
        entries[name.decode("utf-8", "surrogateescape")] = TreeEntry(
            mode.decode("ascii", "replace"), content
        )
    return entries
