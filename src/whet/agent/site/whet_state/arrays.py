"""Arrays, tensors and data frames as data: shape, type, place, range, what is no number.

Values are looked at through the base classes of their libraries: a subclass's own code isn't run.
Each library is taken from `sys.modules`: where the program has not loaded it there is no such value.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Node = Any
    Read = Callable[[Iterable[object]], list[Node]]

ANY_ERROR = (Exception,)
"""The errors that libraries can raise here."""

_FEW = 16
"""Up to this number, whet keeps the values themselves."""
_MOST_COUNTED = 1 << 22
"""In larger arrays, whet checks an evenly spaced sample."""
_MOST_COLUMNS = 30
_SHAPED = {
    "jax",
    "jaxlib",
    "tensorflow",
    "cupy",
    "xarray",
    "scipy",
    "polars",
    "pyarrow",
    "dask",
    "h5py",
    "mlx",
}


def among(kind: object, kinds: Iterable[object]) -> bool:
    """Whether a type is one of some; neither its `==` nor its hash is asked, which may be hostile."""
    return any(each is kind for each in kinds)


def is_exactly(value: object, kind: type) -> bool:
    """Whether a value is of a type and of none derived from it."""
    return type(value) is kind


def module_of(kind: type) -> str:
    """Return the module of a type as Python keeps it."""
    module = type.__dict__["__module__"].__get__(kind)
    return module if type(module) is str else ""


def read(value: Any, mro: tuple[type, ...], values: Read) -> Node:
    """Return an array or a table as data, None if it is neither.

    Args:
        value: what may be one.
        mro: the classes of its type.
        values: reads the few values of an array that holds objects.
    """
    numpy = sys.modules.get("numpy")
    array = getattr(numpy, "ndarray", None)
    if array is not None and among(array, mro):
        return _array(numpy, array.view(value, array), values, _name(mro[0]))
    if (
        array is not None
        and among(getattr(numpy, "generic", None), mro)
        and module_of(mro[0]) == "numpy"
    ):
        return {"k": "scalar", "type": _name(mro[0]), "text": repr(value), "value": _plain(value)}
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    if tensor is not None and among(tensor, mro):
        return _tensor(sys.modules["torch"], value, _name(mro[0]))
    pandas = sys.modules.get("pandas")
    for name in ("DataFrame", "Series", "Index"):
        kind = getattr(pandas, name, None)
        if kind is not None and among(kind, mro):
            return (
                _table(value, _name(mro[0]))
                if name == "DataFrame"
                else _column(value, _name(mro[0]), values)
            )
    top = module_of(mro[0]).partition(".")[0]
    return _shaped(value, _name(mro[0])) if top in _SHAPED else None


def _array(numpy: Any, value: Any, values: Read, name: str) -> Node:
    told = {
        "k": "array",
        "type": name,
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "device": "",
    }
    few = value.size <= _FEW
    if value.dtype.kind in "biufc":
        told.update(_numbers(numpy, value))
        if few:
            told["values"] = _listed(value.tolist())
    elif value.dtype.kind == "O":
        if value.size:
            told["values"] = values(value.ravel()[:_FEW].tolist() if few else value.flat)
    elif value.dtype.kind in "USMm" and few:
        told["values"] = _listed(value.astype(str).tolist())
    return told


def _numbers(numpy: Any, value: Any) -> dict[str, Node]:
    """Return the range of an array's numbers, and how many are none."""
    told: dict[str, Node] = {}
    if value.size > _MOST_COUNTED:
        value = _sample(value)
        told["sampled"] = int(value.size)
    if not value.size:
        return told
    with numpy.errstate(all="ignore"):
        if value.dtype.kind in "fc":
            nan, infinite = numpy.isnan(value), numpy.isinf(value)
            told["nan"], told["inf"] = int(nan.sum()), int(infinite.sum())
            if value.dtype.kind == "c":
                return told
            if told["nan"] or told["inf"]:
                value = value[~(nan | infinite)]
                if not value.size:
                    return told
        if value.dtype.kind == "b":
            told["true"] = int(value.sum())
            return told
        told["min"], told["max"] = _plain(value.min()), _plain(value.max())
        told["mean"] = _plain(value.mean(dtype="float64"))
    return told


def _sample(value: Any) -> Any:
    step = int((value.size / _MOST_COUNTED) ** (1 / value.ndim)) + 1
    return value[tuple(slice(None, None, step if size > 1 else 1) for size in value.shape)]


def _tensor(torch: Any, value: Any, name: str) -> Node:
    base = torch.Tensor
    silent = getattr(getattr(torch, "_C", None), "DisableTorchFunctionSubclass", None)
    told: dict[str, Node] = {"k": "array", "type": name}
    with torch.no_grad(), silent() if silent is not None else torch.no_grad():
        told["shape"] = [int(each) for each in base.size(value)]
        told["dtype"] = str(base.dtype.__get__(value)).replace("torch.", "")
        told["device"] = str(base.device.__get__(value))
        if base.requires_grad.__get__(value):
            told["grad"] = True
        try:
            told.update(_tensor_numbers(torch, base.detach(value)))
        except ANY_ERROR as error:  # a device that has failed answers nothing any more
            told["unread"] = type(error).__name__
    return told


def _tensor_numbers(torch: Any, value: Any) -> dict[str, Node]:
    if value.layout is not torch.strided or value.device.type == "meta" or not value.numel():
        return {}
    told: dict[str, Node] = {}
    few = value.numel() <= _FEW
    numpy = sys.modules.get("numpy")
    if value.device.type == "cpu" and numpy is not None:
        if value.dtype is torch.bfloat16:
            told.update(_of_floats(torch, value))
        else:
            told.update(_numbers(numpy, value.resolve_conj().resolve_neg().numpy()))
    else:
        told.update(_of_floats(torch, value))
    if few:
        told["values"] = _listed(value.cpu().tolist())
    return told


def _of_floats(torch: Any, value: Any) -> dict[str, Node]:
    """Return the range of a tensor that numpy doesn't read."""
    told: dict[str, Node] = {}
    # On the processor one thread is enough, and others may be stuck: that many it does alone.
    most = 1 << 15 if value.device.type == "cpu" else _MOST_COUNTED
    if value.numel() > most:
        value = value.flatten()[:: value.numel() // most + 1]
        told["sampled"] = int(value.numel())
    if value.is_floating_point():
        value = value.float() if value.dtype is torch.bfloat16 else value
        told["nan"], told["inf"] = int(value.isnan().sum()), int(value.isinf().sum())
        value = value[value.isfinite()]
    if value.numel() and not value.is_complex():
        told["min"], told["max"] = _plain(value.min().item()), _plain(value.max().item())
        told["mean"] = _plain(value.double().mean().item())
    return told


def _table(value: Any, name: str) -> Node:
    columns: list[Node] = []
    for position, label in enumerate(value.columns[:_MOST_COLUMNS]):
        column = value.iloc[:, position]
        missing = int(column.isna().sum()) if len(column) <= _MOST_COUNTED else None
        first = [str(each)[:40] for each in column.iloc[:3].tolist() if type(each) in _PLAIN_CELLS]
        columns.append([str(label)[:80], str(column.dtype), missing, first])
    return {"k": "table", "type": name, "shape": list(value.shape), "columns": columns}


_PLAIN_CELLS = {int, float, str, bool}


def _column(value: Any, name: str, values: Read) -> Node:
    numpy = sys.modules["numpy"]
    told = _array(
        numpy, numpy.asarray(value.array if value.dtype.kind == "O" else value), values, name
    )
    told["dtype"] = str(value.dtype)
    label = value.name
    if type(label) is str:
        told["label"] = label
    return told


def _shaped(value: Any, name: str) -> Node:
    shape = getattr(value, "shape", None)
    if shape is None or type(shape).__name__ not in {"tuple", "list", "TensorShape"}:
        return None
    told = {
        "k": "array",
        "type": name,
        "shape": [int(each) if isinstance(each, int) else str(each) for each in shape],
        "dtype": str(getattr(value, "dtype", "")),
        "device": _device(value),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None and name.startswith("jaxlib.") and value.size <= _MOST_COUNTED:
        told.update(_numbers(numpy, numpy.asarray(value)))
        if value.size <= _FEW:
            told["values"] = _listed(numpy.asarray(value).tolist())
    return told


def _device(value: Any) -> str:
    """Return where an array lies; empty: its library has no such word, or another meaning for it."""
    device = getattr(value, "device", "")
    return "" if callable(device) else str(device)


def _name(kind: type) -> str:
    return "{}.{}".format(module_of(kind), type.__dict__["__qualname__"].__get__(kind))


def _plain(value: Any) -> Node:
    if hasattr(value, "item"):
        value = value.item()
    if type(value) is float and value - value != 0:
        return {"k": "float", "text": repr(value)}
    return value if type(value) in {int, float, bool, str} else repr(value)


def _listed(value: Any) -> Node:
    return list(map(_listed, value)) if is_exactly(value, list) else _plain(value)
