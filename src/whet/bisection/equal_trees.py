"""Which commits are equal to a tested one on all that its run looked at.

A run that looked at nothing in which two commits differ does on the one what it does on the
other. It is compared by git's own names of what the trees hold. Of a path that was looked at
all counts: whether it is there, its kind and mode, what it holds, where the link leads. Of a
folder that was listed the names and kinds in it count. So does each `.gitattributes` on the
way, which says how git writes a file out, and the commit of a submodule.

This is never concluded from a run whose looks have a gap (`whet.core.observations.file_accesses`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from whet.core.observations.file_accesses import READS_GIT, FileAccesses
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.git_trees import FOLDER_MODE, GitTrees, TreeEntry

_SAYS_HOW = (".gitattributes", ".gitmodules")

_Sight: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class _Place:
    """A path that was looked at, or a folder on the way to one."""

    below: "dict[str, _Place]" = field(default_factory=dict[str, "_Place"])
    is_listed: bool = False

    def at(self, path: str) -> "_Place":
        place = self
        for name in path.split("/") if path else ():
            place = place.below.setdefault(name, _Place())
        return place


class Sights:
    """What some runs looked at, and what commits show there."""

    def __init__(
        self, trees: GitTrees, looks: Iterable[FileAccesses], named: Collection[str]
    ) -> None:
        """Take in what was looked at.

        Args:
            trees: of the repository.
            looks: of the runs.
            named: paths at which it was looked up whether they are there, before each run.
        """
        self._trees = trees
        self._top = _Place()
        self._known: dict[tuple[str, int], _Sight] = {}
        for each in looks:
            for path in each.paths:
                self._top.at(path)
            for folder in each.folders:
                self._top.at(folder).is_listed = True
        for path in named:
            self._top.at(path)

    def load(self, roots: Iterable[str]) -> None:
        """Read all trees that are needed to see what these top trees show.

        Raises:
            GitFailedError: if git doesn't have one of them.
        """
        found = {(root, id(self._top)): (root, self._top) for root in roots}
        while found:
            self._trees.load(tree for tree, _ in found.values())
            found = {
                (entry.content, id(inner)): (entry.content, inner)
                for tree, place in found.values()
                for entry, inner in self._inner(tree, place)
            }

    def _inner(self, tree: str, place: _Place) -> "Iterable[tuple[TreeEntry, _Place]]":
        entries = self._trees.entries(tree)
        for name, inner in place.below.items():
            entry = entries.get(name)
            if entry is not None and entry.mode == FOLDER_MODE and _counts(inner):
                yield entry, inner

    def shown_by(self, root: str) -> _Sight:
        """Return what is to be seen in a top tree that was loaded."""
        return self._shown(root, self._top)

    def _shown(self, tree: str, place: _Place) -> _Sight:
        key = (tree, id(place))
        if key not in self._known:
            entries = self._trees.entries(tree)
            listed: _Sight = ()
            if place.is_listed:
                listed = tuple((name, entries[name].kind) for name in sorted(entries))
            self._known[key] = (
                listed,
                tuple(entries[name] for name in _SAYS_HOW if name in entries),
                tuple(self._of(entries.get(name), place.below[name]) for name in place.below),
            )
        return self._known[key]

    def _of(self, entry: TreeEntry | None, place: _Place) -> object:
        if entry is None or entry.mode != FOLDER_MODE:
            return entry  # nothing, or what it holds; what is below it doesn't exist
        return self._shown(entry.content, place) if _counts(place) else FOLDER_MODE


def _counts(place: _Place) -> bool:
    """Whether anything in a folder counts; else only that it is one."""
    return bool(place.below) or place.is_listed


@value_class
class _Tested:
    version: str
    verdict: Verdict
    sights: Sights
    shown: _Sight


class EqualTrees:
    """What is known of commits, and what follows for those that show a run the same.

    Attributes:
        named: paths from the top at which it is looked up whether they are there, before each
            run; may grow.
        gaps: why nothing was concluded from a run, by commit.
    """

    def __init__(self, trees: GitTrees) -> None:
        self.named: set[str] = set()
        self.gaps: dict[str, str] = {}
        self._trees = trees
        self._roots: dict[str, str] = {}
        self._tested: dict[str, _Tested] = {}
        self._looks: list[FileAccesses] = []
        self._all: Sights | None = None
        self._of_root: dict[str, tuple[Verdict, str]] = {}

    def learn(self, version: str, verdict: Verdict, looks: FileAccesses | None) -> None:
        """Take in what a run on a commit has shown.

        Args:
            version: the commit.
            verdict: what it was.
            looks: what it looked at; None: it was not noted.

        Raises:
            GitFailedError: if git doesn't have it.
        """
        root = self._root_of([version])[version]
        if looks is not None and looks.gap != READS_GIT:
            self._of_root.setdefault(root, (verdict, version))
        gap = "whet didn't record what it read" if looks is None else looks.gap
        if looks is None or gap:
            self.gaps[version] = gap
            return
        sights = Sights(self._trees, [looks], self.named)
        sights.load([root])
        if any(self._is_folder(root, path) for path in looks.moved):
            self.gaps[version] = "moves a folder of the checkout"
            return
        self._tested[version] = _Tested(version, verdict, sights, sights.shown_by(root))
        self._looks.append(looks)
        self._all = None

    def forget(self) -> None:
        """Conclude nothing any more from what was learned."""
        self._tested.clear()
        self._looks.clear()
        self._of_root.clear()
        self._all = None

    def known(self, versions: Iterable[str]) -> dict[str, tuple[Verdict, str]]:
        """Return the verdicts that follow, each with the tested commit that it follows from.

        Raises:
            GitFailedError: if git doesn't have one of them.
        """
        wanted = list(versions)
        roots = self._root_of(wanted)
        found = {
            each: self._of_root[roots[each]]
            for each in wanted
            if roots[each] in self._of_root and self._of_root[roots[each]][1] != each
        }
        for tested in self._tested.values():
            left = [each for each in wanted if each not in found and each not in self._tested]
            tested.sights.load(roots[each] for each in left)
            for each in left:
                if tested.sights.shown_by(roots[each]) == tested.shown:
                    found[each] = (tested.verdict, tested.version)
        return found

    def that_matter(self, parents: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the commits that show any run so far something else than a parent does.

        Args:
            parents: the commits that are asked about, each with those directly before it.

        Raises:
            GitFailedError: if git doesn't have one of them.
        """
        if not self._looks:
            return set(parents)
        self._all = self._all or Sights(self._trees, self._looks, self.named)
        before = {parent for named in parents.values() for parent in named}
        roots = self._root_of({*parents, *before})
        self._all.load(roots.values())
        shown = {version: self._all.shown_by(root) for version, root in roots.items()}
        return {
            version
            for version, named in parents.items()
            if not named or any(shown[parent] != shown[version] for parent in named)
        }

    def _root_of(self, versions: Collection[str]) -> dict[str, str]:
        missing = [version for version in versions if version not in self._roots]
        self._roots.update(self._trees.roots(missing))
        return {version: self._roots[version] for version in versions}

    def _is_folder(self, root: str, path: str) -> bool:
        entry = TreeEntry(FOLDER_MODE, root)
        for name in path.split("/"):
            if entry.mode != FOLDER_MODE:
                return False
            self._trees.load([entry.content])
            below = self._trees.entries(entry.content).get(name)
            if below is None:
                return False
            entry = below
        return entry.mode == FOLDER_MODE
