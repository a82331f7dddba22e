"""What has grown between two readings of the memory: a walk at each of them, as for what keeps it.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from ..keepers import Keepers, code_of, own_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ..keepers import Node
    from ..report_file import ReportLines

_MOST_WALKS, _TIMES = 24, 1.5
_ANYTHING = (Exception,)


class _Kept:
    """All objects that are called the same: what they keep together."""

    __slots__ = ("children", "count", "node", "nodes", "total")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.nodes, self.total, self.count = 0, 0.0, 0
        self.children: list[str] = []


class Growing:
    """Tells, at each reading, what has grown most since one half as far back, when caches were warm."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._keepers: Keepers | None = None
        self._walks: list[dict[str, tuple[float, int]]] = []
        self._readings, self._next = 0, 1

    def look(self, frame: FrameType) -> None:
        """Look at a reading; where there are very many, at some."""
        self._readings += 1
        if self._readings < self._next or len(self._walks) >= _MOST_WALKS:
            return
        self._next = max(self._readings + 1, int(self._readings * _TIMES))
        try:
            self._walk(frame)
        except _ANYTHING:
            return  # the program is what matters

    def _walk(self, frame: FrameType) -> None:
        if self._keepers is None:
            self._keepers = Keepers(self._told)
        root, nodes, places = self._keepers.walk(frame)
        names: dict[int, str] = {id(root): ""}
        kept: dict[str, _Kept] = {"": _Kept(root)}
        kept[""].total = root.total
        for each in nodes:
            holder = names[id(each.holder)]
            name = names[id(each)] = holder + "\0" + each.label
            found = kept.get(name)
            if found is None:
                found = kept[name] = _Kept(each)
                kept[holder].children.append(name)
            found.nodes += 1
            found.total += each.total
            found.count += each.count
        if self._walks:
            self._tell(kept, self._walks[len(self._walks) // 2 - (len(self._walks) == 1)], places)
        self._walks.append({name: (one.total, one.count) for name, one in kept.items()})

    def _tell(
        self,
        kept: dict[str, _Kept],
        before: dict[str, tuple[float, int]],
        places: dict[int, list[Any]],
    ) -> None:
        def growth(name: str) -> float:
            return kept[name].total - before.get(name, (0.0, 0))[0]

        grown, at, way = growth(""), "", [""]
        while True:
            most = max(kept[at].children, key=growth, default="")
            if not most or growth(most) * 2 < grown or kept[most].nodes > 1:
                break
            at = most
            way.append(at)
        # What holds more items than it did is what grows, not one of its items.
        longer = [each for each in way[1:] if kept[each].count > before.get(each, (0.0, 0))[1] + 1]
        at = (longer or way)[-1]
        if not at or grown <= 0:
            return
        way = way[: way.index(at) + 1]
        own = kept[at]
        items = [kept[each] for each in own.children]
        item = max(items, key=lambda each: each.total, default=None)
        holder: Any = own.node.holder
        self._told.tell(
            "grows",
            label=at.replace("\0", ""),
            place=places.get(id(kept[way[1]].node), []),
            type=type(own.node.value).__name__,
            owner=type(holder.value).__name__ if own.node.label[:1] == "." else "",
            made=code_of(own.node.value),
            files=sorted(own_files()),
            count=own.count,
            before=before.get(at, (0.0, 0))[1],
            kept=int(own.total),
            was=int(own.total - growth(at)),
            grown=int(grown),
            counted=int(kept[""].total),
            resident=0,
            item_bytes=0,
            behind_bytes=0,
            item=type(item.node.value).__name__ if item is not None else "",
        )
