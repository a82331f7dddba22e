"""Whether a value is a number that is none, or holds one; the range of what it holds in a few words.

No code of the program's is run to look: what is asked are the libraries' own classes.
"""

from __future__ import annotations

import sys
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

NAN, INFINITE = "NaN", "infinite"
_SINGLE, _MAPPINGS = frozenset((float, complex)), frozenset((dict,))
_MANY = _MAPPINGS | {list, tuple}
_MOST_VALUES = 4_000_000
_MOST_INNER = 100


def spoilt(value: Any) -> str:
    """Return whether a value holds a NaN, or else an infinite number; empty: neither."""
    found = ""
    for array, kinds in _parts(value):
        what = kinds(array)
        if what == NAN:
            return what
        found = found or what
    return found


def described(value: Any) -> str:
    """Return a number, or the range of an array, in a few words; empty: it is neither."""
    if type(value) in {int, float, complex}:
        return repr(value)[:40]
    for array, kinds in _parts(value):
        if kinds is _of_float:
            continue
        size, shape = _size(array), "x".join(map(str, array.shape)) or "one value"
        nans, low, high = _range(array)
        if nans == size:
            return f"{shape}, all NaN" if size > 1 else ""
        spoilt_count = f"{nans} NaN of {size}, " if nans and size > 1 else ""
        return f"{shape}, {spoilt_count}from {low:.3g} to {high:.3g}"
    return ""


def _parts(value: Any, *, is_inner: bool = False) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    """Yield the numbers and arrays that a value is made of, each with what looks at it."""
    if type(value) in _SINGLE:
        yield value, _of_float
    elif type(value) in _MANY:
        held: Any = value.values() if type(value) in _MAPPINGS else value
        inner: list[Any] = [] if is_inner else list(islice(held, _MOST_INNER))
        for each in inner:
            yield from _parts(each, is_inner=True)
    else:
        for module, name, parts in _KINDS:
            if _is_a(value, module, name):
                yield from parts(value)
                return


def _array(value: Any) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    if value.dtype.kind in "fc":
        yield value, _of_array


def _tensor(value: Any) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    if value.is_floating_point() and value.device.type != "meta":
        yield value.detach(), _of_tensor


def _series(value: Any) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    yield from _parts(value.to_numpy(), is_inner=True)


def _frame(value: Any) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    for name in islice(value.columns, _MOST_INNER):
        yield from _parts(value[name], is_inner=True)


def _trained(value: Any) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    for group in value.param_groups:
        yield from _parts(group["params"])


_KINDS = (
    ("numpy", "ndarray", _array),
    ("numpy", "floating", _array),
    ("torch", "Tensor", _tensor),
    ("pandas", "Series", _series),
    ("pandas", "DataFrame", _frame),
    ("torch.optim", "Optimizer", _trained),
)


def _is_a(value: Any, module: str, name: str) -> bool:
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and isinstance(value, found)


def _of_float(value: Any) -> str:
    shown = repr(value)
    if "nan" in shown:
        return NAN
    return INFINITE if "inf" in shown and shown != "-inf" else ""


def _of_array(value: Any) -> str:
    numpy: Any = sys.modules["numpy"]
    sample = _sample(value)
    if numpy.isnan(sample).any():
        return NAN
    return INFINITE if (sample == numpy.inf).any() else ""


def _of_tensor(value: Any) -> str:
    torch: Any = sys.modules["torch"]
    sample = _sample(value)
    if bool(torch.isnan(sample).any()):
        return NAN
    # Minus infinity is how masks are written.
    return INFINITE if bool((sample == float("inf")).any()) else ""


def _sample(value: Any) -> Any:
    size = _size(value)
    return value if size <= _MOST_VALUES else value.reshape(-1)[:: size // _MOST_VALUES + 1]


def _size(value: Any) -> int:
    return int(value.numel() if hasattr(value, "numel") else value.size)


def _range(value: Any) -> tuple[int, float, float]:
    """Return how many are NaN, the lowest and the highest of the others."""
    numpy: Any = sys.modules.get("numpy")
    flat = _sample(value).reshape(-1)
    library: Any = sys.modules["torch"] if hasattr(value, "numel") else numpy
    spoilt_ones = library.isnan(flat)
    rest = flat[~spoilt_ones]
    nan = float("nan")
    if not _size(rest):
        return int(spoilt_ones.sum()), nan, nan
    return int(spoilt_ones.sum()), float(rest.min().real), float(rest.max().real)
