"""The lines that fail today on older versions, which lack them: each commit gets them where they belong."""

from collections.abc import Mapping
from dataclasses import field

from whet.bisection.grafted_lines import GraftedLines
from whet.core.errors import CheckHasNoPlace
from whet.core.value_class import value_class
from whet.host.code.tree_changes import PartialCommits, Placed, blob_of, path_changes
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository


@value_class(kw_only=True)
class GraftedCheck:
    """Lines that each commit gets, in the files that lack them.

    Attributes:
        repository: where the commits are.
        journal: removes what is needed to make commits.
        source: a commit that has the files under today's names.
        files: the lines, by the path of their file from the top of the repository.
        place: where the last of them is, such as `app.py:7`.
        is_marked: the program ends where it reaches that line (`MARKED_EXIT`).
        made: the commits with the lines, by the commits without.
    """

    repository: Repository
    journal: CleanupJournal
    source: str
    files: Mapping[str, GraftedLines]
    place: str
    is_marked: bool = False
    made: dict[str, str] = field(default_factory=dict[str, str], compare=False)

    def on(self, commit: str) -> str:
        """Return a commit that is ``commit`` with these lines.

        Raises:
            CheckHasNoPlace: if they have no place in its files.
            GitFailedError: if git can't make it.
        """
        if commit not in self.made:
            self.made[commit] = self._with_lines(commit)
        return self.made[commit]

    def _with_lines(self, commit: str) -> str:
        commits = PartialCommits(self.repository, self.journal, commit)
        placed: list[Placed] = []
        for path, lines in self.files.items():
            there = self._there(commit, path)
            text = None if there is None else _text(blob_of(self.repository, there.blob))
            made = None if text is None else lines.into(text, is_marked=self.is_marked)
            if there is None or made is None:
                raise CheckHasNoPlace(
                    f"`{self.place}` has no place in `{path}` of {commit[:10]}",
                    hint=f"`git show {commit[:10]}:{path}` shows the file as it was",
                )
            if made != text:
                blob = commits.blob(made.encode())
                placed.append(Placed(path=there.path, mode=there.mode, blob=blob))
        return commits.commit(placed) if placed else commit

    def _there(self, commit: str, path: str) -> Placed | None:
        """Return a file as it is on a commit, under the name that it has there."""
        name = _name_at(self.repository, commit, path, self.source)
        how = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree")
        entry = self.repository.get(*how, commit, "--", name).rstrip("\0")
        facts, _, found = entry.partition("\t")
        if not found or " blob " not in facts:
            return None
        mode, _, blob = facts.split(" ")
        return Placed(path=found, mode=mode, blob=blob)


def text_at(repository: Repository, commit: str, path: str, source: str) -> str | None:
    """Return what a file held on a commit, perhaps under another name; None: it wasn't there.

    Args:
        repository: where the commits are.
        commit: the older commit.
        path: the file's path on the newer one, from the top of the repository.
        source: the newer commit.
    """
    name = _name_at(repository, commit, path, source)
    answer = repository.ask("show", f"{commit}:{name}")
    return _text(answer.stdout) if answer.exit_code == 0 else None


def _name_at(repository: Repository, commit: str, path: str, source: str) -> str:
    """Return the name that a file of a newer commit has on an older one."""
    changes = path_changes(repository, commit, source, how="--find-copies")
    return next((each.was for each in changes if each.path == path and each.was), path)


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
