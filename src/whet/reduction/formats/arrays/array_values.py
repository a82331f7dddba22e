"""Plainer values in arrays: zeros, then 0, 1, 2, 3 …, then as few other numbers as can be."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays.arrays import Arrays, Entry
from whet.reduction.formats.text.plain_values import shorter_text, simplest_number
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept

if TYPE_CHECKING:
    from numpy import dtype
    from numpy.typing import NDArray

_NUMBERS = "biufc"
_TEXTS = "US"


def _replacing(
    make: "Callable[[NDArray[Any]], NDArray[Any] | None]",
) -> Callable[[Arrays], PassSearch]:
    """Put other values into whole arrays."""

    def search(view: Arrays) -> PassSearch:
        changes: list[tuple[int, Entry]] = []
        for place, entry in enumerate(view.entries):
            made = make(entry.values()) if entry.size else None
            if made is not None:
                changes.append((place, entry.with_values(made)))
        return view.changed(changes)

    return search


def _zeros(values: "NDArray[Any]") -> "NDArray[Any] | None":
    import numpy as np

    return np.zeros(values.shape, values.dtype)


def _count(values: "NDArray[Any]") -> "NDArray[Any] | None":
    """Return 0, 1, 2, 3 … if the type has numbers enough."""
    import numpy as np

    kind, size = values.dtype.kind, values.size
    if kind not in _NUMBERS or (kind in "biu" and size > _largest(values.dtype) + 1):
        return None
    return np.arange(size).reshape(values.shape).astype(values.dtype)


def _largest(whole: "dtype[Any]") -> int:
    import numpy as np

    return 1 if whole.kind == "b" else int(np.iinfo(whole).max)


def _ranks(values: "NDArray[Any]") -> "NDArray[Any] | None":
    """Return small numbers of which the same are equal and the same are larger."""
    import numpy as np

    if values.dtype.kind not in "iuf":
        return None
    _, places = np.unique(values, return_inverse=True)
    return places.reshape(values.shape).astype(values.dtype)


def _from_zero(values: "NDArray[Any]") -> "NDArray[Any] | None":
    """Return whole numbers that differ as these do, the smallest of them 0."""
    import numpy as np

    if values.dtype.kind not in "iuf":
        return None
    with np.errstate(all="ignore"):
        found: NDArray[Any] = np.rint(values - values.min()).astype(values.dtype)
    return found


def _putting(number: int, text: str) -> Callable[[Arrays], PassSearch]:
    """Put a value for as many elements as the failure survives."""

    def search(view: Arrays) -> PassSearch:
        places = [place for place, entry in enumerate(view.entries) if _is_plain(entry)]
        elements = _Elements(view, [(place, _other(view, place, number, text)) for place in places])
        return view.searched(elements.size, elements.render)

    return search


def _is_plain(entry: Entry) -> bool:
    return entry.array is not None and entry.size > 0


def _other(view: Arrays, place: int, number: int, text: str) -> "NDArray[Any]":
    """Return the values of an array with another one wherever it isn't as plain."""
    import numpy as np

    values = view.entries[place].values()
    kind = values.dtype.kind
    if kind in _TEXTS:
        return np.full(values.shape, text, values.dtype)
    if kind not in _NUMBERS:
        return values if number else np.zeros(values.shape, values.dtype)
    other = np.full(values.shape, number, values.dtype)
    other[values == 0] = 0
    return other


class _Elements:
    """The elements of several arrays that may take other values, in one row."""

    def __init__(self, view: Arrays, others: "list[tuple[int, NDArray[Any]]]") -> None:
        self._view = view
        self._others = dict(others)
        self._places: dict[int, NDArray[Any]] = {}
        for place, other in others:
            self._places[place] = _different(view.entries[place].values(), other)
        self._ends = [0, *accumulate(each.size for each in self._places.values())]
        self.size = self._ends[-1]

    def render(self, kept: Kept) -> Iterator[Entry]:
        blocks = (*kept.blocks[: kept.start], *kept.blocks[kept.stop :])
        starts = dict(zip(self._places, self._ends, strict=False))
        for place, entry in enumerate(self._view.entries):
            if place in self._places:
                yield self._changed(entry, place, starts[place], blocks)
            else:
                yield entry

    def _changed(self, entry: Entry, place: int, start: int, blocks: tuple[range, ...]) -> Entry:
        places = self._places[place]
        original = entry.values().reshape(-1)
        values = original.copy()
        values[places] = self._others[place].reshape(-1)[places]
        for block in blocks:
            here = slice(max(0, block.start - start), max(0, block.stop - start))
            values[places[here]] = original[places[here]]
        return entry.with_values(values.reshape(entry.shape))


def _different(values: "NDArray[Any]", other: "NDArray[Any]") -> "NDArray[Any]":
    import numpy as np

    return np.flatnonzero(values.reshape(-1) != other.reshape(-1))


def _simplify_elements(view: Arrays) -> PassSearch:
    """Bring each number down on its own, and shorten each text."""
    for place in range(len(view.entries)):
        if _is_plain(view.entries[place]):
            kind = view.entries[place].values().dtype.kind
            if kind in "iuf":
                view = view.after((yield from _simplify_numbers(view, place)))
            elif kind == "U":
                view = view.after((yield from _shorten_texts(view, place)))
    return view.payload


def _simplify_numbers(view: Arrays, place: int) -> PassSearch:
    import numpy as np

    first = view.entries[place].values().reshape(-1)
    for element in np.flatnonzero((first != 0) & (first != 1)):
        values = view.entries[place].values()
        search = simplest_number(
            values.reshape(-1)[element].item(),
            partial(_put, view, place, int(element)),
            is_whole=values.dtype.kind in "iu",
        )
        view = view.after((yield from followed(search, view.payload)))
    return view.payload


def _shorten_texts(view: Arrays, place: int) -> PassSearch:
    for element in range(view.entries[place].size):
        text = str(view.entries[place].values().reshape(-1)[element])
        if len(text) > 1:
            search = shorter_text(text, partial(_put, view, place, element))
            view = view.after((yield from followed(search, view.payload)))
    return view.payload


def _put(view: Arrays, place: int, element: int, value: float | str) -> bytes:
    """Return the payload with another value instead of one element."""
    import numpy as np

    entry = view.entries[place]
    values = entry.values().reshape(-1).copy()
    try:
        with np.errstate(all="ignore"):
            values[element] = value
    except OverflowError:  # the type holds no such number
        return view.payload
    changed = entry.with_values(values.reshape(entry.shape))
    return view.written(changed if at == place else each for at, each in enumerate(view.entries))


def _narrow_texts(view: Arrays) -> PassSearch:
    """Give each text no more room than the longest of its array takes."""
    changes: list[tuple[int, Entry]] = []
    for place, entry in enumerate(view.entries):
        if entry.array is not None and entry.array.dtype.kind in _TEXTS:
            narrow = _narrowest(entry.array)
            if narrow.itemsize < entry.array.dtype.itemsize:
                changes.append((place, entry.with_array(entry.array.astype(narrow))))
    return view.changed(changes)


def _narrowest(texts: "NDArray[Any]") -> "dtype[Any]":
    import numpy as np

    longest = int(np.char.str_len(texts).max(initial=1))
    return np.dtype(f"{texts.dtype.str[:2]}{longest}")  # `<U` or `|S`: the order of bytes stays


def followed(search: Search[bytes, object], best: bytes) -> PassSearch:
    """Run a search for its candidates; return the last that is BAD, or ``best``."""
    return rendering(search, bytes, best)


def _pass(name: str, search: Callable[[Arrays], PassSearch]) -> ReductionPass[Arrays]:
    return ReductionPass(name=name, stage=Stage.VALUES, search=search)


PUT_ZEROS = ReductionPass(
    name="put zeros for arrays", stage=Stage.STRUCTURE, search=_replacing(_zeros)
)
"""Early, as a few candidates say it of all arrays, and where shapes must fit a network there are
thousands of axes of which nothing can go."""

ARRAY_VALUE_PASSES = (
    _pass("put 0, 1, 2 ... in arrays", _replacing(_count)),
    _pass("put ranks in arrays", _replacing(_ranks)),
    _pass("put differences in arrays", _replacing(_from_zero)),
    _pass("put 0 for elements", _putting(0, "")),
    _pass("put 1 for elements", _putting(1, "a")),
    _pass("simplify elements", _simplify_elements),
    _pass("narrow texts", _narrow_texts),
)
