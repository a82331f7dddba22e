"""Today's check on older versions: its files lie on each commit as they do on the new end."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath

from whet.core.value_class import value_class
from whet.host.code.tree_changes import PartialCommits, Placed
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository

_TEST = re.compile(r"(?:^|/)tests?/|(?:^|/)test_[^/]*$|_test\.[^/.]*$|(?:^|/)conftest\.py$")
_TEST_FOLDERS = ("test", "tests")
_CONFTEST = "conftest.py"


@value_class(kw_only=True)
class CarriedCheck:
    """Files that each commit gets as they are on one of them.

    Attributes:
        repository: where the commits are.
        journal: removes what is needed to make commits.
        source: the commit that the files are taken from.
        paths: from the top of the repository.
        made: the commits with these files, by the commits without.
    """

    repository: Repository
    journal: CleanupJournal
    source: str
    paths: tuple[str, ...]
    made: dict[str, str] = field(default_factory=dict[str, str], compare=False)

    def on(self, commit: str) -> str:
        """Return a commit that is ``commit`` with these files.

        Raises:
            GitFailedError: if git can't make it.
        """
        if commit not in self.made:
            here = set(self._placed(commit))
            missing = [each for each in self._placed(self.source) if each not in here]
            self.made[commit] = (
                PartialCommits(self.repository, self.journal, commit).commit(missing)
                if missing
                else commit
            )
        return self.made[commit]

    def without(self, commit: str) -> str:
        """Return the commit that these files were put on."""
        return next((plain for plain, made in self.made.items() if made == commit), commit)

    @property
    def present(self) -> tuple[str, ...]:
        """The files themselves, where a path is that of a folder."""
        return tuple(each.path for each in self._placed(self.source))

    def _placed(self, commit: str) -> Iterator[Placed]:
        how = ("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree")
        listing = self.repository.get(*how, commit, "--", *self.paths)
        for entry in listing.split("\0")[:-1]:
            facts, _, path = entry.partition("\t")
            mode, _, blob = facts.split(" ")
            yield Placed(path=path, mode=mode, blob=blob)


def tracked_in(repository: Repository, files: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Return those files that git tracks, by their paths from the top."""
    top = os.path.realpath(repository.top)
    real = (os.path.realpath(Path(cwd, file)) for file in files if file and "\0" not in file)
    inside = [os.path.relpath(path, top) for path in real if path.startswith(f"{top}{os.sep}")]
    if not inside:
        return ()
    how = ("--literal-pathspecs", "ls-files", "-z", "--full-name", "--")
    absolute = (f"{top}{os.sep}{path}" for path in dict.fromkeys(inside))
    listing = set(repository.get(*how, *absolute).split("\0"))
    return tuple(path for path in dict.fromkeys(inside) if path in listing)


def with_what_they_need(tests: Sequence[str]) -> tuple[str, ...]:
    """Return files of tests with what they are likely to need: the folder of tests they lie in.

    Outside of one it is each `conftest.py` on the way to it.
    """
    needed: dict[str, None] = {}
    for test in tests:
        folders = [*PurePosixPath(test).parents][::-1]
        own = next((each for each in folders if each.name in _TEST_FOLDERS), None)
        if own is None:
            needed |= dict.fromkeys([test, *(str(each / _CONFTEST) for each in folders)])
        else:
            needed[str(own)] = None
    return tuple(needed)


def is_test(path: str) -> bool:
    """Whether a path is that of a test, by its name."""
    return _TEST.search(path) is not None
