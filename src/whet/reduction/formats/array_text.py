"""Arrays as a person reads them."""

from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = 78
EXACT = 1e15
"""Larger whole numbers are written with an exponent."""

FEW = 20
MOST_ELEMENTS = 1000
"""Of larger arrays the values are left out in the middle."""


def array_text(entry: Entry) -> str:
    """Return the name, the type, the shape and the values of an array."""
    name = "/".join(map(str, entry.path))
    if entry.array is None:
        return f"{name}: {entry.note}" if entry.note else f"{name}/"
    if entry.is_fixed:
        return f"{name}: {entry.array.item()!r}"
    head = f"{entry.dtype} {_shape(entry.shape)}"
    values = _values(entry.values())
    return f"{name}: {head}\n{values}" if name else f"{head}\n{values}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _values(values: "NDArray[Any]") -> str:
    import numpy as np

    if values.size > FEW and (values == values.flat[0]).all():
        return f"all {_on_one_line(values.flat[0].item())}"
    if values.size > MOST_ELEMENTS:
        return np.array2string(values, threshold=20, edgeitems=2, separator=", ")
    return "\n".join(_lines(values.tolist(), depth=values.ndim))


def _lines(value: object, *, depth: int) -> list[str]:
    line = _on_one_line(value)
    if len(line) <= LINE or depth <= 1 or not isinstance(value, list):
        return [line]
    rows = [_lines(each, depth=depth - 1) for each in value]
    found = [f" {line}" if line else "" for row in rows for line in (*row[:-1], f"{row[-1]},")]
    return [f"[{found[0][1:]}", *found[1:-1], f"{found[-1][:-1]}]"]


def _on_one_line(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, value))}]"
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return repr(value)
