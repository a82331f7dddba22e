"""An array as the program's own library has it: torch, jax, numpy, or lists."""

from importlib import import_module
from types import ModuleType
from typing import Any

from whet.core.errors import BadUsage, LibraryMissing
from whet.make.arrays.filled import FilledArray
from whet.make.loaded import library_for

TENSOR_LIBRARIES = ("torch", "jax", "numpy", "list")
ARRAY_LIBRARIES = ("numpy", "jax", "torch", "list")


def of_library(array: FilledArray, library: str | None, known: tuple[str, ...]) -> Any:
    """Return an array as a library has it.

    Args:
        array: what was made.
        library: its name; None: the one that the program has.
        known: the libraries, the one to prefer first.

    Raises:
        BadUsage: if there is no such library, or it has no such type.
        LibraryMissing: if it isn't installed.
    """
    chosen = library_for(library, known)
    if chosen == "list":
        return array.lists()
    if chosen == "torch":
        return _torch(array)
    numbers = _numpy(array)
    return numbers if chosen == "numpy" else import_module("jax.numpy").asarray(numbers)


def _torch(array: FilledArray) -> Any:
    torch = import_module("torch")
    dtype = _type_of(torch, array)
    if not array.content:
        return torch.empty(array.shape, dtype=dtype)
    return torch.frombuffer(array.content, dtype=torch.uint8).view(dtype).reshape(array.shape)


def _numpy(array: FilledArray) -> Any:
    numpy = import_module("numpy")
    name = array.dtype.name
    if array.dtype.code:
        dtype = numpy.dtype(name).newbyteorder("<")
    else:
        try:
            extra = import_module("ml_dtypes")
        except ImportError as error:
            raise LibraryMissing(
                f"numpy has no {name} of its own",
                hint="install `ml_dtypes`, which adds it, or choose float32",
            ) from error
        dtype = numpy.dtype(_type_of(extra, array))
    made = numpy.frombuffer(array.content, dtype).reshape(array.shape)
    return made.astype(made.dtype.newbyteorder("="), copy=False)


def _type_of(library: ModuleType, array: FilledArray) -> Any:
    found = getattr(library, array.dtype.name, None)
    if found is None:
        raise BadUsage(
            f"this {library.__name__} has no {array.dtype.name}",
            hint=f"choose another dtype, or a newer {library.__name__}",
        )
    return found
