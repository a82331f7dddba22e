"""Versions, each with those directly before it, in an order that a search can walk."""

import heapq
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

VersionT = TypeVar("VersionT", bound=Hashable)


class VersionGraph(Generic[VersionT]):
    """Versions by position, parents before children."""

    def __init__(self, parents: Mapping[VersionT, Sequence[VersionT]]) -> None:
        self.versions = list(_oldest_first(parents))
        if len(self.versions) < len(parents):
            raise ValueError("the graph has a cycle")
        self.positions = {version: position for position, version in enumerate(self.versions)}
        self.named_parents = [tuple(parents[version]) for version in self.versions]
        self.parents = [
            tuple(self.positions[parent] for parent in named if parent in self.positions)
            for named in self.named_parents
        ]

    def position(self, version: VersionT) -> int:
        """Return where ``version`` stands."""
        if version not in self.positions:
            raise ValueError(f"{version} is not in the graph")
        return self.positions[version]

    def ancestors(self, position: int, among: Sequence[int]) -> bytearray:
        """Return a flag for each position: whether it is ``position`` or before it.

        Only ways through ``among``, which ascends, are followed.
        """
        flags = bytearray(len(self.versions))
        flags[position] = 1
        for each in reversed(among):
            if flags[each]:
                for parent in self.parents[each]:
                    flags[parent] = 1
        return flags


def _oldest_first(parents: Mapping[VersionT, Sequence[VersionT]]) -> Iterator[VersionT]:
    """Yield the versions, parents before children, otherwise the last key first."""
    versions = list(parents)[::-1]
    rank = {version: index for index, version in enumerate(versions)}
    children: list[list[int]] = [[] for _ in versions]
    missing = [0] * len(versions)
    for version, index in rank.items():
        for parent in dict.fromkeys(parents[version]):
            if parent in rank:
                children[rank[parent]].append(index)
                missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    while ready:
        index = heapq.heappop(ready)
        yield versions[index]
        for child in children[index]:
            missing[child] -= 1
            if missing[child] == 0:
                heapq.heappush(ready, child)


def only(
    parents: Mapping[VersionT, Sequence[VersionT]], kept: Collection[VersionT]
) -> dict[VersionT, tuple[VersionT, ...]]:
    """Return the graph of some versions, each with the nearest of them before it."""
    nearest: dict[VersionT, tuple[VersionT, ...]] = {}
    graph: dict[VersionT, tuple[VersionT, ...]] = {}
    for version in _oldest_first(parents):
        above = (nearest.get(parent, (parent,)) for parent in parents[version])
        found = tuple(dict.fromkeys(each for some in above for each in some))
        nearest[version] = (version,) if version in kept else found
        if version in kept:
            graph[version] = found
    return graph


def line_of(versions: Sequence[VersionT]) -> dict[VersionT, tuple[VersionT, ...]]:
    """Return ``versions``, oldest first, as a graph without branches."""
    line: dict[VersionT, tuple[VersionT, ...]] = {}
    for index in range(len(versions) - 1, -1, -1):
        line[versions[index]] = () if index == 0 else (versions[index - 1],)
    return line
