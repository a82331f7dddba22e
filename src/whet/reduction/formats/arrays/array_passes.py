"""What can be made smaller in arrays: fewer of them, shorter axes, fewer axes, plainer types."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from whet.reduction.edit import first_that_fails
from whet.reduction.formats.arrays.arrays import Arrays, Entry, type_rank
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.subsets.delta import Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY_AXES = 8
"""With more axes whet tries only halves first: otherwise axes that can't shrink take most of the time."""

Axis: TypeAlias = tuple[int, int]
"""The place of an array among the others, and the number of one of its axes."""

_SORTS = {"i": "int", "u": "int", "f": "float", "c": "float", "b": "bool"}
"""How the names of the types of a kind of numbers start."""

COARSE_PARTS = 8
"""At first, each axis is cut into at most this many parts, so that all axes are short before a search
of one is complete: a candidate costs as much as reading the whole array."""


def _delete_arrays(view: Arrays) -> PassSearch:
    def render(kept: Kept) -> Iterator[Entry]:
        left: set[tuple[str | int, ...]] = set()
        for index in kept.elements():
            entry = view.entries[index]
            folder = entry.path[:-1]
            if not entry.path or folder in left or folder not in folders:
                left.add(entry.path)
                yield entry

    folders = {each.path for each in view.entries}  # not all formats have any
    return view.searched(len(view.entries), render)


def _shorten_axes(view: Arrays) -> PassSearch:
    """Cut axes in large parts, then to the end those of which a part or an end could go.

    Axes of one length are cut together first, as they tend to be one and the same.
    """
    before = dict(_lengths(view))
    for parts in (COARSE_PARTS if len(before) <= MANY_AXES else 2, 0):
        for length in sorted(_shared_lengths(view), reverse=True):
            together = [axis for axis, found in _lengths(view) if found == length]
            if len(together) > 1:
                view = view.after((yield from _shorten_some(view, together, parts, before)))
        for axis in list(before):
            if _is_there(view, axis):
                view = view.after((yield from _shorten_some(view, [axis], parts, before)))
    return view.payload


def _shorten_some(
    view: Arrays, axes: list[Axis], parts: int, before: dict[Axis, int]
) -> PassSearch:
    if parts == 0 and before[axes[0]] == _length(view, axes[0]):
        payload = yield from _shorten_ends(view, axes)
        if payload is view.payload:
            return payload
        view = view.after(payload)
    return (yield from _shorten(view, axes, parts))


def _shorten_ends(view: Arrays, axes: list[Axis]) -> PassSearch:
    length = _length(view, axes[0])
    ends = (range(length - 1), range(1, length))
    candidates = (view.written(_cut(view, axes, (left,))) for left in ends)
    return (yield from first_that_fails(candidates if length else ())) or view.payload


def _delete_indices(view: Arrays) -> PassSearch:
    """Delete single indices of axes of which no larger part could go."""
    for axis, _ in list(_lengths(view)):
        if _is_there(view, axis):
            view = view.after((yield from _shorten(view, [axis], 0)))
    return view.payload


def _shared_lengths(view: Arrays) -> list[int]:
    lengths = Counter(length for _, length in _lengths(view))
    return [length for length, times in lengths.items() if times > 1 and length > 1]


def _lengths(view: Arrays) -> Iterator[tuple[Axis, int]]:
    for place, entry in enumerate(view.entries):
        for axis, length in enumerate(entry.shape):
            yield (place, axis), length


def _is_there(view: Arrays, axis: Axis) -> bool:
    """Whether an axis is left: what follows an array goes with its last byte."""
    place, number = axis
    return place < len(view.entries) and number < len(view.entries[place].shape)


def _length(view: Arrays, axis: Axis) -> int:
    return view.entries[axis[0]].shape[axis[1]]


def _shorten(view: Arrays, axes: list[Axis], parts: int) -> PassSearch:
    length = _length(view, axes[0])
    grain = max(1, length // parts) if parts else 1

    return view.searched(
        length,
        lambda kept: _cut(view, axes, (*kept.blocks[: kept.start], *kept.blocks[kept.stop :])),
        grain=grain,
    )


def _cut(view: Arrays, axes: list[Axis], blocks: tuple[range, ...]) -> Iterator[Entry]:
    """Return all arrays with nothing but these indices left of some axes."""
    for place, entry in enumerate(view.entries):
        array = entry.array
        for _, axis in (each for each in axes if each[0] == place):
            assert array is not None, "a folder has no axes"
            array = _taken(array, axis, blocks)
        yield entry if array is entry.array or array is None else entry.with_array(array)


def _taken(array: "NDArray[Any]", axis: int, blocks: tuple[range, ...]) -> "NDArray[Any]":
    import numpy as np

    before = (slice(None),) * axis
    joined = _joined(blocks)
    if len(joined) == 1:
        return array[(*before, joined[0])]
    if len(joined) > len(blocks) // 2 + COARSE_PARTS:
        places = np.fromiter((index for block in blocks for index in block), np.intp)
        return np.take(array, places, axis)
    pieces = [array[(*before, each)] for each in joined]
    return np.concatenate(pieces, axis) if pieces else array[(*before, slice(0))]


def _joined(blocks: tuple[range, ...]) -> list[slice]:
    """Return the runs of neighbours as slices."""
    found: list[slice] = []
    for block in blocks:
        if found and found[-1].stop == block.start:
            found[-1] = slice(found[-1].start, block.stop)
        else:
            found.append(slice(block.start, block.stop))
    return found


def _drop_axes(view: Arrays) -> PassSearch:
    """Drop axes of length 1, all at once, then one by one; then make one axis of all."""
    most = max((len(each.shape) for each in view.entries), default=0)
    view = view.after((yield from _reshape(view, lambda shape: [n for n in shape if n != 1])))
    for axis in reversed(range(most)):
        view = view.after((yield from _reshape(view, _without(axis))))
    return (yield from _reshape(view, lambda _shape: [-1]))


def _without(axis: int) -> Callable[[tuple[int, ...]], list[int]]:
    def shape_without(shape: tuple[int, ...]) -> list[int]:
        is_there = axis < len(shape) and shape[axis] == 1
        return [*shape[:axis], *shape[axis + 1 :]] if is_there else list(shape)

    return shape_without


def _reshape(view: Arrays, change: Callable[[tuple[int, ...]], list[int]]) -> PassSearch:
    changes: list[tuple[int, Entry]] = []
    for place, entry in enumerate(view.entries):
        if entry.array is not None and len(entry.shape) > 0:
            shape = [n if n >= 0 else entry.size for n in change(entry.shape)]
            if len(shape) < len(entry.shape):
                changes.append((place, entry.with_array(entry.array.reshape(shape))))
    return view.changed(changes)


def _plain_types(view: Arrays) -> PassSearch:
    """Put plainer types for others: one for numbers of the same sort, else any."""
    for alike in (True, False):
        for name in view.layout.types:
            changes = list(_converted(view, name, alike=alike))
            view = view.after((yield from view.changed(changes)))
    return view.payload


def _converted(view: Arrays, name: str, *, alike: bool) -> Iterator[tuple[int, Entry]]:
    for place, entry in enumerate(view.entries):
        if entry.array is not None and not entry.is_fixed and type_rank(entry, view.layout):
            sort = _SORTS.get(entry.values().dtype.kind, "")
            new = view.layout.convert(entry, name) if name.startswith(sort) or not alike else None
            if new is not None and type_rank(new, view.layout) < type_rank(entry, view.layout):
                yield place, new


def _drop_fields(view: Arrays) -> PassSearch:
    """Drop the fields of records."""
    for place, entry in enumerate(view.entries):
        names = None if entry.array is None else entry.array.dtype.names
        if names is not None:
            view = view.after((yield from _keep_fields(view, place, names)))
    return view.payload


def _keep_fields(view: Arrays, place: int, names: tuple[str, ...]) -> PassSearch:
    from numpy.lib.recfunctions import repack_fields

    entry = view.entries[place]

    def render(kept: Kept) -> Iterator[Entry]:
        left = [names[index] for index in kept.elements()]
        array = entry.array
        assert array is not None, "a folder has no fields"
        changed = entry.with_array(repack_fields(array[left])) if left else entry
        return (changed if at == place else each for at, each in enumerate(view.entries))

    return view.searched(len(names), render)


def _shorten_fields(view: Arrays) -> PassSearch:
    """Shorten the axes that each record's field has, and drop those of length 1."""
    for place, entry in enumerate(view.entries):
        names = None if entry.array is None else entry.array.dtype.names
        for name in names or ():
            for axis in range(len(_field_shape(view, place, name))):
                view = view.after((yield from _shorten_field(view, place, name, axis)))
    return (yield from view.changed(list(_with_flat_fields(view))))


def _field_shape(view: Arrays, place: int, name: str) -> tuple[int, ...]:
    array = view.entries[place].array
    assert array is not None, "a folder has no fields"
    return tuple(array.dtype[name].shape)


def _shorten_field(view: Arrays, place: int, name: str, axis: int) -> PassSearch:
    entry = view.entries[place]
    array = entry.array
    assert array is not None, "a folder has no fields"

    def render(kept: Kept) -> Iterator[Entry]:
        blocks = (*kept.blocks[: kept.start], *kept.blocks[kept.stop :])
        shorter = _with_field(array, name, _taken(array[name], array.ndim + axis, blocks))
        changed = entry.with_array(shorter)
        return (changed if at == place else each for at, each in enumerate(view.entries))

    return view.searched(_field_shape(view, place, name)[axis], render)


def _with_flat_fields(view: Arrays) -> Iterator[tuple[int, Entry]]:
    for place, entry in enumerate(view.entries):
        array = entry.array
        for name in () if array is None else array.dtype.names or ():
            assert array is not None, "it has fields"
            shape = [length for length in array.dtype[name].shape if length != 1]
            if len(shape) < len(array.dtype[name].shape):
                array = _with_field(array, name, array[name].reshape((*array.shape, *shape)))
        if array is not None and array is not entry.array:
            yield place, entry.with_array(array)


def _with_field(array: "NDArray[Any]", name: str, column: "NDArray[Any]") -> "NDArray[Any]":
    """Return records with another column instead of a field."""
    import numpy as np

    columns = {each: array[each] for each in array.dtype.names or ()} | {name: column}
    types = [(each, found.dtype, found.shape[array.ndim :]) for each, found in columns.items()]
    changed = np.zeros(array.shape, np.dtype(types))
    for each, found in columns.items():
        changed[each] = found
    return changed


def _store_plainly(view: Arrays) -> PassSearch:
    """Drop what only says how arrays are stored, such as a compression."""
    plain = ((at, view.layout.plainer(each)) for at, each in enumerate(view.entries))
    return view.changed([(at, each) for at, each in plain if each is not None])


DELETE_ARRAYS = ReductionPass(
    name="delete arrays", stage=Stage.STRUCTURE, search=_delete_arrays, unit="arrays"
)

SHAPE_PASSES = (
    ReductionPass(name="store arrays plainly", stage=Stage.STRUCTURE, search=_store_plainly),
    ReductionPass(name="shorten axes", stage=Stage.STRUCTURE, search=_shorten_axes),
    ReductionPass(name="drop axes", stage=Stage.STRUCTURE, search=_drop_axes),
    ReductionPass(name="drop fields", stage=Stage.STRUCTURE, search=_drop_fields),
    ReductionPass(name="shorten fields", stage=Stage.STRUCTURE, search=_shorten_fields),
    ReductionPass(name="delete indices", stage=Stage.LOOKS, search=_delete_indices),
    ReductionPass(name="plain types", stage=Stage.TOKENS, search=_plain_types),
)
