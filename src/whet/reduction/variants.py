"""Payloads that differ little from one that fails, and are still valid in its format.

A search for the smallest cut that passes, and then for one value in it whose like from another
record passes too: what is left of the difference is the nearest neighbour.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence

from whet.core.value_class import value_class
from whet.reduction.formats.documents.json_tree import JSON, JsonNode
from whet.reduction.formats.tables.csv_table import CSV

_MOST_LIKE = 2
_LEAST_UNITS = 1

Span = tuple[int, int]
Cut = tuple[int, int]
"""The first removed unit, and the one after the last."""


@value_class
class Units:
    """The records of a payload.

    Attributes:
        payload: the text.
        spans: where each is.
        values: where its values are, by their names.
        is_list: a comma stands between two.
    """

    payload: bytes
    spans: Sequence[Span]
    values: Sequence[Mapping[bytes, Span]]
    is_list: bool = False

    def without(self, cut: Cut) -> bytes:
        """Return the payload without some units."""
        first, behind = cut
        start, end = self.spans[first][0], self.spans[behind - 1][1]
        if self.is_list and behind < len(self.spans):
            end = self.spans[behind][0]
        elif self.is_list and first:
            start = self.spans[first - 1][1]
        return self.payload[:start] + self.payload[end:]

    def line(self, offset: int) -> int:
        """Return the number of the line at an offset."""
        return self.payload.count(b"\n", 0, offset) + 1

    def others(self, unit: int) -> Iterator[tuple[Span, bytes]]:
        """Yield the values of a unit, each with one that another unit has under the same name."""
        for name, (start, end) in self.values[unit].items():
            own, like = self.payload[start:end], dict[bytes, None]()
            for other in sorted(range(len(self.spans)), key=lambda each: abs(each - unit)):
                span = self.values[other].get(name)
                text = own if span is None else self.payload[span[0] : span[1]]
                if text != own:
                    like.setdefault(text)
            for text in list(like)[:_MOST_LIKE]:
                yield (start, end), text

    def with_value(self, span: Span, text: bytes) -> bytes:
        """Return the payload with another value."""
        return self.payload[: span[0]] + text + self.payload[span[1] :]


def units_of(payload: bytes, name: str = "") -> list[Units]:
    """Return the records of a payload, in each way in which it can be seen to have some."""
    table = CSV.parse(payload)
    if table is not None and not name.endswith((".json", ".jsonl")):
        rows = table.rows[1:]
        values = [{b"%d" % at: span for at, span in enumerate(row.cells)} for row in rows]
        return [Units(payload, [(row.start, row.end) for row in rows], values)] if rows else []
    tree = JSON.parse(payload)
    if tree is not None:
        containers = [each for each in tree.nodes if len(each.children) >= _LEAST_UNITS]
        containers.sort(key=lambda each: (-len(each.children), each.depth))
        if len(tree.roots) > 1:
            return [_of_lines(payload)]
        return [_of_json(payload, each) for each in containers[:_MOST_LIKE]]
    return [_of_lines(payload)] if payload.strip() and b"\0" not in payload else []


def _of_json(payload: bytes, container: JsonNode) -> Units:
    children = container.children
    return Units(
        payload,
        [(each.outer_start, each.end) for each in children],
        [_values(payload, each) for each in children],
        is_list=True,
    )


def _values(payload: bytes, node: JsonNode) -> dict[bytes, Span]:
    return {
        payload[each.outer_start : each.start].strip(b": \t\r\n"): (each.start, each.end)
        for each in node.children
        if not each.children and each.kind not in {b"[", b"{"}
    }


def _of_lines(payload: bytes) -> Units:
    spans: list[Span] = []
    start = 0
    for line in payload.splitlines(keepends=True):
        if line.strip():
            spans.append((start, start + len(line)))
        start += len(line)
    return Units(payload, spans, [{} for _ in spans])


def cuts(count: int) -> Generator[Cut, bool, Cut | None]:
    """Yield cuts, be told whether the payload passes without each, and return the smallest that does.

    Large ones come first: a cut of half of all tells as much as one of a single unit.
    """
    size = count // 2
    while size:
        for first in range(0, count, size):
            cut = (first, min(first + size, count))
            if cut != (0, count) and (yield cut):
                return (yield from _narrowed(cut))
        size //= 2
    return None


def _narrowed(cut: Cut) -> Generator[Cut, bool, Cut]:
    first, behind = cut
    step = (behind - first) // 2
    while step:
        for smaller in ((first, behind - step), (first + step, behind)):
            if (yield smaller):
                first, behind = smaller
                break
        else:
            step //= 2
        step = min(step, (behind - first) // 2) if behind - first > 1 else 0
    return first, behind
