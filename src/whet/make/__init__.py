"""Small payloads from nothing, the same on every machine: arrays, tables, texts and more.

`whet.make.tensor((2, 2))` is `[[1, 2], [3, 4]]`, as a tensor of torch, an array of jax or of numpy:
whichever the program has.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whet.make.arrays.array_libraries import ARRAY_LIBRARIES, TENSOR_LIBRARIES, of_library
from whet.make.arrays.filled import filled_array
from whet.make.elements.fills import Filling

if TYPE_CHECKING:
    from sqlite3 import Connection

    from whet.make.tables.columns import FilledTable

__all__ = ["array", "sqlite", "table", "tensor"]


def tensor(
    shape: Sequence[int] | int = (2, 2),
    fill: str = "count",
    *,
    dtype: object = "float32",
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return a tensor: of torch, else of jax, else of numpy, as the program has them.

    Args:
        shape: how long each axis is.
        fill: ``count``, ``coordinates``, ``ramp``, ``constant``, ``random``, ``normal``, ``eye``,
            ``onehot``, ``deadbeef``, ``nan``, ``inf`` or ``edge``.
        dtype: the type of its numbers, by name or as the library has it.
        library: ``torch``, ``jax``, ``numpy`` or ``list``; None: the one that the program has loaded.
        how: ``seed=`` of random numbers, ``value=`` of ``constant``, ``low=`` and ``high=`` of
            ``ramp`` and ``random``, ``at=`` the index of ``nan`` and ``inf``, ``border=`` of
            ``deadbeef``.

    Raises:
        BadUsage: if a name isn't known, or the type can't hold the fill.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    return _made(shape, fill, dtype, library, TENSOR_LIBRARIES, how)


def array(
    shape: Sequence[int] | int = (2, 2),
    fill: str = "count",
    *,
    dtype: object = "float32",
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return an array: of numpy, else of jax, else of torch; as `tensor` otherwise."""
    return _made(shape, fill, dtype, library, ARRAY_LIBRARIES, how)


def table(
    columns: str = "a:int64,b:int64",
    rows: int = 2,
    fill: str = "count",
    *,
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return a table: of pandas, else of polars, else of pyarrow, as the program has them.

    Args:
        columns: their names and types, such as ``id:int64,name:str?``; with a ``?`` every third
            value is missing.
        rows: how many there are.
        fill: as of `tensor`; there is no ``deadbeef``.
        library: ``pandas``, ``polars``, ``pyarrow`` or ``dict``; None: the one that the program has
            loaded.
        how: ``seed=`` and so on, as of `tensor`.

    Raises:
        BadUsage: if a name isn't known.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    from whet.make.tables.table_libraries import table_of_library

    return table_of_library(_table(columns, rows, fill, how), library)


def sqlite(
    columns: str = "a:int64,b:int64",
    rows: int = 2,
    fill: str = "count",
    *,
    name: str = "x",
    **how: Any,
) -> "Connection":
    """Return an open database in memory, with one table ``name``; as `table` otherwise."""
    from whet.make.tables.sqlite_file import open_sqlite

    return open_sqlite(_table(columns, rows, fill, how), name)


def _table(columns: str, rows: int, fill: str, how: dict[str, Any]) -> "FilledTable":
    from whet.make.tables.columns import columns_named, filled_table

    return filled_table(columns_named(columns), rows, Filling(name=fill, **how))


def _made(
    shape: Sequence[int] | int,
    fill: str,
    dtype: object,
    library: str | None,
    known: tuple[str, ...],
    how: dict[str, Any],
) -> Any:
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return of_library(filled_array(lengths, dtype, Filling(name=fill, **how)), library, known)
