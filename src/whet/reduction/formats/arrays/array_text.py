"""Arrays as a person reads them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from whet.reduction.formats.arrays.arrays import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = 78
SHORT = 40
EXACT = 1e15
"""whet writes larger whole numbers with an exponent."""

FEW = 20
MOST_ELEMENTS = 1000
"""In larger arrays, whet leaves out the values in the middle."""


def arrays_text(entries: Sequence[Entry]) -> str:
    """Return all arrays as a person reads them; the outermost folder goes without saying."""
    held = [each for each in entries if each.path or each.array is not None]
    return "\n".join((*map(_array_text, held), *_shared_storages(held)))


def _shared_storages(entries: Sequence[Entry]) -> Iterator[str]:
    sharing: dict[str, list[str]] = {}
    for each in entries:
        if each.storage:
            sharing.setdefault(each.storage, []).append(_name(each))
    for names in sharing.values():
        yield f"in one storage: {', '.join(names)}"


def _name(entry: Entry) -> str:
    return "/".join(map(str, entry.path))


def _array_text(entry: Entry) -> str:
    name = _name(entry)
    if entry.array is None:
        return f"{name}: {entry.note}" if entry.note else f"{name}/"
    if entry.is_fixed:
        is_one = entry.array.ndim == 0
        return f"{name}: {entry.array.item() if is_one else entry.array.tobytes()!r}"
    head = f"{entry.dtype} {_shape(entry.shape)}"
    values = _values(entry.values())
    gap = " " if name and "\n" not in values and len(values) <= SHORT else "\n"
    return f"{name}: {head}{gap}{values}" if name else f"{head}\n{values}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _values(values: "NDArray[Any]") -> str:
    import numpy as np

    if values.size == 0:
        return "[]"
    if values.size > FEW and (values == values.flat[0]).all():
        return f"all {_on_one_line(values.flat[0].item())}"
    if values.size > MOST_ELEMENTS:
        return np.array2string(values, threshold=20, edgeitems=2, separator=", ")
    if values.dtype.kind == "f":  # so that float32 shows no more digits than it has
        values = values.astype(str).astype(float)
    return "\n".join(_lines(values))


def _lines(values: "NDArray[Any]") -> list[str]:
    line = _on_one_line(values.tolist())
    if len(line) <= LINE or values.ndim == 0:
        return [line]
    if values.ndim == 1:
        return _wrapped(list(map(_on_one_line, values.tolist())))
    found: list[str] = []
    for row in values:
        *lines, last = _lines(row)
        found += [*(f" {line}" for line in lines), f" {last},"]
    return [f"[{found[0][1:]}", *found[1:-1], f"{found[-1][:-1]}]"]


def _wrapped(words: list[str]) -> list[str]:
    lines = [f"[{words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + len(", ,") > LINE:
            lines[-1] += ","
            lines.append(f" {word}")
        else:
            lines[-1] += f", {word}"
    lines[-1] += "]"
    return lines


def _on_one_line(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, cast('list[object]', value)))}]"
    if isinstance(value, tuple):  # a record, which may hold arrays
        words = [_on_one_line(_listed(each)) for each in cast("tuple[object, ...]", value)]
        return f"({', '.join(words)}{',' if len(words) == 1 else ''})"
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return repr(value)


def _listed(value: object) -> object:
    import numpy as np

    return cast("NDArray[Any]", value).tolist() if isinstance(value, np.ndarray) else value
