"""The file system accesses of a program, and whether it would see the same now."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from whet.core.value_class import value_class
from whet.host.files.marks import (
    UNSURE,
    first_other,
    is_of_kind,
    is_of_link,
    is_of_package,
    listing,
)
from whet.host.process.messages import Observed, Sighted

if TYPE_CHECKING:  # the processes beside whet have no `typing` to make them with
    import os

    from whet.host.files.marks import Listing, Mark

_Seen = TypeVar("_Seen")
_NOTHING = Sighted([], [], {}, {}, {}, {})


@value_class(kw_only=True)
class Observation:
    """What a program had seen by some moment; each mark is from just before it was seen.

    Attributes:
        files: path to mark of what it had opened or looked up, found or not.
        links: path to mark of what it had looked up without following a link.
        folders: path to entries of folders that it had listed.
        places: path to entries of folders in which it had looked for modules of these names.
        modules: last parts of the names of the modules it had looked for.
        is_installed: all of it belongs to installed packages or to Python; else none of it does.
    """

    files: "Mapping[str, Mark]"
    links: "Mapping[str, Mark]"
    folders: "Mapping[str, Listing]"
    places: "Mapping[str, Listing]"
    modules: frozenset[str]
    is_installed: bool = False

    def changed(self, seen: "dict[str, os.stat_result] | None" = None) -> str:
        """Return the first path that isn't what it was; empty if there is none.

        Args:
            seen: is given what the system says of each file and folder that is there.
        """
        return first_other(self.files, self.links, self.folders, self.places, self.modules, seen)

    def is_part_of(self, other: "Observation") -> bool:
        """Whether nothing of this has changed if nothing of another one has."""
        return (
            self.files.items() <= other.files.items()
            and self.links.items() <= other.links.items()
            and self.folders.items() <= other.folders.items()
            and self.places.items() <= other.places.items()
            and self.modules <= other.modules
        )

    def parted(self) -> "tuple[Observation, Observation]":
        """Return the part that belongs to installed packages or to Python, and the rest."""
        return (
            self._part(is_installed=True),
            self._part(is_installed=False),
        )

    def _part(self, *, is_installed: bool) -> "Observation":
        def of(seen: "Mapping[str, _Seen]") -> "dict[str, _Seen]":
            return {path: it for path, it in seen.items() if is_of_package(path) is is_installed}

        return Observation(
            files=of(self.files),
            links=of(self.links),
            folders=of(self.folders),
            places=of(self.places),
            modules=self.modules,
            is_installed=is_installed,
        )


@dataclass(slots=True, kw_only=True)
class Observing:
    """Puts together what the observer and the agent in the program tell, over one run."""

    _marks: "dict[str, Mark]" = field(default_factory=dict[str, "Mark"])
    _links: "dict[str, Mark]" = field(default_factory=dict[str, "Mark"])
    _opened: Counter[str] = field(default_factory=Counter[str])
    _looked: Counter[str] = field(default_factory=Counter[str])
    _listings: "dict[str, Listing]" = field(default_factory=dict[str, "Listing"])
    _listed: Counter[str] = field(default_factory=Counter[str])
    _sighted: Sighted = _NOTHING

    def add(self, sighted: Sighted, observed: Observed) -> None:
        """Take in what is new.

        Args:
            sighted: all that the agent knows.
            observed: what the observer has noticed since it was last asked.
        """
        self._marks.update(observed.marks)
        self._links.update(observed.links)
        self._opened.update(observed.opened)
        self._looked.update(observed.looked)
        self._listings.update(observed.listings)
        self._listed.update(observed.listed)
        self._sighted = sighted

    def by_now(self, sources: Collection[str]) -> Observation:
        """Return all that was seen; of the program's sources only what others than Python saw."""
        places, modules, own_listings, own_reads, own_looks, own_packages = self._sighted
        for place in places:
            if place not in self._listings:  # a package none of whose modules was asked for
                self._listings[place] = listing(place)
        files, links = dict(self._marks), dict(self._links)
        for source in sources:
            are_reads_own = self._opened[source] <= own_reads.get(source, 0)
            if are_reads_own and self._looked[source] <= own_looks.get(source, 0):
                files.pop(source, None)
                if not is_of_link(links.get(source, UNSURE)):
                    links.pop(source, None)
        for path, mark in own_packages.items():
            earlier = files.get(path, mark)
            files[path] = mark if earlier == mark or is_of_kind(earlier) else UNSURE
        return Observation(
            files=files,
            links=links,
            folders={
                path: self._listings[path]
                for path, count in self._listed.items()
                if count > own_listings.get(path, 0)
            },
            places={path: self._listings[path] for path in places},
            modules=frozenset(modules),
        )
