"""Named arrays in a payload: what `.npy`, `.npz`, tensors and HDF5 have in common.

Nobody reads the bytes of an array. The order of its payloads is that of what they hold: fewer
elements, fewer arrays, a simpler shape, a plainer type, plainer values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from whet.core.value_class import value_class
from whet.reduction.edit import keep_least
from whet.reduction.formats.text.plain_values import unplainness
from whet.reduction.order import Order
from whet.reduction.reduction_pass import Format, PassSearch, last_view
from whet.search.subsets.delta import Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

MOST_EXPANSION = 200
"""An archive that expands to more than this multiple of its size, and to more than `MOST_EXPANDED`
bytes, doesn't count as arrays: it wouldn't fit into memory."""

MOST_EXPANDED = 256 * 1024 * 1024


UNWRITABLE = (ValueError, TypeError, OSError, RuntimeError, OverflowError)
"""The errors of libraries on values that their format can't hold."""


@lru_cache
def is_installed(library: str) -> bool:
    """Return whether a library is there; it is imported when it is used."""
    return find_spec(library) is not None


@value_class(kw_only=True)
class Codec:
    """How numbers of a type that numpy doesn't know stand in integers of the same size.

    Attributes:
        name: the type.
        bits: numpy's name of these integers.
        decode: returns the numbers of stored bits.
        encode: returns the bits of numbers.
    """

    name: str
    bits: str
    decode: "Callable[[Array], Array]"
    encode: "Callable[[Array], Array]"


@value_class(kw_only=True)
class Entry:
    """An array with its name, or a folder of others.

    Attributes:
        path: its name; of what is in folders: theirs, from the outermost on, and its own.
        array: what is stored; None: this is a folder.
        codec: what is stored are bits of this type.
        note: what only the format understands.
        is_fixed: its type must stay.
        storage: arrays of one name lie in one storage, and may overlap there; empty: alone.
    """

    path: tuple[str | int, ...]
    array: "Array | None" = None
    codec: Codec | None = None
    note: object = None
    is_fixed: bool = False
    storage: str = ""

    @property
    def size(self) -> int:
        """How many elements it has."""
        return 0 if self.array is None else self.array.size

    @property
    def shape(self) -> tuple[int, ...]:
        """How long each axis is."""
        return () if self.array is None else self.array.shape

    @property
    def dtype(self) -> str:
        """The name of its type, as numpy or its format has it."""
        if self.codec is not None:
            return self.codec.name
        return "" if self.array is None else type_name(self.array)

    def values(self) -> "Array":
        """Return its numbers."""
        assert self.array is not None, "a folder has no values"
        return self.array if self.codec is None else self.codec.decode(self.array)

    def with_values(self, values: "Array") -> "Entry":
        """Return it with other numbers, of its own type."""
        assert self.array is not None, "a folder has no values"
        if self.codec is None:
            return self.with_array(values)
        return self.with_array(self.codec.encode(values).reshape(values.shape))

    def with_array(self, array: "Array") -> "Entry":
        """Return it with another array stored."""
        return replace(self, array=array)


def _is_plain(_entry: Entry) -> Entry | None:
    return None


@value_class(kw_only=True)
class Layout:
    """How a format stores arrays.

    Attributes:
        name: the format.
        read: returns what is in a payload; None if it isn't of the format. It may raise
            anything as well.
        write: returns a payload that holds these.
        types: its plain types.
        convert: returns an array of one of them; None if it can't be.
        plainer: returns an entry that is stored in a plainer way; None: it is plain.
    """

    name: str
    read: Callable[[bytes], Sequence[Entry] | None]
    write: Callable[[Sequence[Entry]], bytes]
    types: tuple[str, ...]
    convert: Callable[[Entry, str], Entry | None]
    plainer: Callable[[Entry], Entry | None] = _is_plain

    def parse(self, payload: bytes) -> "Arrays | None":
        """Return the arrays of a payload; None if it isn't of the format."""
        if not payload or not is_installed("numpy"):
            return None
        entries = None
        with suppress(Exception):  # a library raises what it likes on what is broken
            entries = self.read(payload)
        return None if entries is None else Arrays(payload, tuple(entries), self)

    def format(self) -> "Format[Arrays]":
        """Return the format that reads it."""
        return Format(name=self.name, parse=last_view(self.parse))


@value_class
class Arrays:
    """What a payload holds.

    Attributes:
        payload: its bytes.
        entries: its arrays and folders; a folder stands before what is in it.
        layout: its format.
    """

    payload: bytes
    entries: tuple[Entry, ...] = field(compare=False, repr=False)
    layout: Layout = field(compare=False, repr=False)

    def after(self, payload: bytes) -> "Arrays":
        """Return what another payload of the same format holds."""
        if payload is self.payload:
            return self
        view = self.layout.parse(payload)
        assert view is not None, "what was written can be read"
        return view

    def searched(
        self, size: int, render: Callable[[Kept], Iterable[Entry]], *, grain: int = 1
    ) -> PassSearch:
        """Look for a small part of ``size`` elements that still fails; return the payload then.

        Args:
            size: how many there are.
            render: returns the arrays that are left if only these elements are kept.
            grain: fewest elements to remove at once.
        """
        return keep_least(
            size, lambda kept: self.written(render(kept)), start=self.payload, grain=grain
        )

    def changed(self, changes: Sequence[tuple[int, Entry]]) -> PassSearch:
        """Put other entries for as many as the failure survives; return the payload then."""

        def render(kept: Kept) -> Iterator[Entry]:
            others = dict(changes)
            for index in kept.elements():
                del others[changes[index][0]]
            return (others.get(place, entry) for place, entry in enumerate(self.entries))

        return self.searched(len(changes), render)

    def written(self, entries: Iterable[Entry]) -> bytes:
        """Return the payload that holds these instead; nothing if the format can't hold them."""
        try:
            return self.layout.write(list(entries))
        except UNWRITABLE:
            return b""


def order_of(format_: Format[Arrays]) -> Order:
    """Return the order of payloads of a format: by what they hold."""

    def weight(payload: bytes) -> float:
        view = format_.parse(payload)
        if view is None:
            return float("inf")
        return sum(each.size for each in view.entries) + len(view.entries)

    def rank(payload: bytes) -> tuple[object, ...]:
        view = format_.parse(payload)
        assert view is not None, "it has a weight"
        held = [each for each in view.entries if each.array is not None]
        return (
            sum(len(each.shape) for each in held),
            sum(sum(each.shape) for each in held),
            sum(type_rank(each, view.layout) for each in held),
            sum(view.layout.plainer(each) is not None for each in view.entries),
            sum(unplainness(each.values()) for each in held),
            len(payload),
            payload,
        )

    return Order(weight, rank)


def type_rank(entry: Entry, layout: Layout) -> int:
    """Return how far from plain the type of an array is, its order in memory included."""
    if entry.array is None or entry.is_fixed:
        return 0
    fields = 0 if entry.array.dtype.names is None else len(entry.array.dtype.names)
    is_plain = entry.dtype in layout.types
    return fields + (not is_plain) + (not entry.array.flags.c_contiguous)


def type_name(array: "Array") -> str:
    """Return the name of a type; of bytes in another order than the machine's: with the order."""
    dtype = array.dtype
    return dtype.name if dtype.isnative else f"{dtype.byteorder}{dtype.name}"


def is_bomb(payload: bytes, expanded: int) -> bool:
    """Return whether an archive would hold too much when it is unpacked."""
    return expanded > MOST_EXPANDED and expanded > MOST_EXPANSION * len(payload)
