"""Small payloads from nothing, the same on every machine: arrays, tables, texts and more.

`whet.make.tensor((2, 2))` is `[[1, 2], [3, 4]]`, as a tensor of torch, an array of jax or of numpy:
whichever the program has.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whet.make.arrays.array_libraries import ARRAY_LIBRARIES, TENSOR_LIBRARIES, of_library
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.fills import Filling
from whet.make.remember import remember

if TYPE_CHECKING:
    import builtins
    from pathlib import Path
    from sqlite3 import Connection

    from whet.make.tables.columns import FilledTable

__all__ = [
    "array",
    "bytes",
    "image",
    "json",
    "sound",
    "sqlite",
    "table",
    "tensor",
    "text",
    "tokens",
    "tree",
]


def tensor(
    shape: Sequence[int] | int = (2, 2),
    fill: str = "count",
    *,
    dtype: object = "float32",
    library: str | None = None,
    name: str = "",
    **how: Any,
) -> Any:
    """Return a tensor: of torch, else of jax, else of numpy, as the program has them.

    Args:
        shape: how long each axis is.
        fill: ``count``, ``coordinates``, ``ramp``, ``constant``, ``random``, ``normal``, ``eye``,
            ``onehot``, ``deadbeef``, ``nan``, ``inf`` or ``edge``.
        dtype: the type of its numbers, by name or as the library has it.
        library: ``torch``, ``jax``, ``numpy`` or ``list``; None: the one that the program has loaded.
        name: what ``whet make --explain`` calls it, if whet runs the program.
        how: ``seed=`` of random numbers, ``value=`` of ``constant``, ``low=`` and ``high=`` of
            ``ramp`` and ``random``, ``at=`` the index of ``nan`` and ``inf``, ``border=`` of
            ``deadbeef``.

    Raises:
        BadUsage: if a name isn't known, or the type can't hold the fill.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    return of_library(_array(shape, fill, dtype, name, how), library, TENSOR_LIBRARIES)


def array(
    shape: Sequence[int] | int = (2, 2),
    fill: str = "count",
    *,
    dtype: object = "float32",
    library: str | None = None,
    name: str = "",
    **how: Any,
) -> Any:
    """Return an array: of numpy, else of jax, else of torch; as `tensor` otherwise."""
    return of_library(_array(shape, fill, dtype, name, how), library, ARRAY_LIBRARIES)


def table(
    columns: str = "a:int64,b:int64",
    rows: int = 2,
    fill: str = "count",
    *,
    library: str | None = None,
    name: str = "",
    **how: Any,
) -> Any:
    """Return a table: of pandas, else of polars, else of pyarrow, as the program has them.

    Args:
        columns: their names and types, such as ``id:int64,name:str?``; with a ``?`` every third
            value is missing.
        rows: how many there are.
        fill: as of `tensor`; ``deadbeef`` guards the first and the last row.
        library: ``pandas``, ``polars``, ``pyarrow`` or ``dict``; None: the one that the program has
            loaded.
        name: as of `tensor`.
        how: ``seed=`` and so on, as of `tensor`.

    Raises:
        BadUsage: if a name isn't known.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    from whet.make.tables.table_libraries import table_of_library

    return table_of_library(_table(columns, rows, fill, name, how), library)


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

    return open_sqlite(_table(columns, rows, fill, name, how), name)


def text(lines: int = 2, words: int = 2, fill: str = "count", **how: Any) -> str:
    """Return a text: ``count``, ``coordinates``, ``constant``, ``random`` or ``edge`` words."""
    from whet.make.documents.prose import made_text

    return made_text(lines, words, Filling(name=fill, **how))


def tokens(
    shape: Sequence[int] | int = (2, 4),
    vocabulary: int = 256,
    fill: str = "count",
    *,
    dtype: object = "int64",
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return numbers of tokens, all below the size of a vocabulary; as `tensor` otherwise."""
    from whet.make.arrays.tokens import token_array

    made = token_array(_shape(shape), vocabulary, Filling(name=fill, **how), dtype)
    return of_library(made, library, TENSOR_LIBRARIES)


def json(
    schema: object = None, *, like: object = None, items: int = 2, fill: str = "count", **how: Any
) -> Any:
    """Return a document of JSON.

    Args:
        schema: a JSON Schema that it must fit; None: none.
        like: a document whose keys and types it has.
        items: how long its lists are.
        fill: ``count``, ``constant``, ``random`` or ``edge``.
        how: ``seed=`` or ``value=``.

    Raises:
        BadUsage: if the schema allows nothing that whet can make.
    """
    from whet.make.documents.json_values import read_json
    from whet.make.documents.made_json import made_json

    return read_json(made_json(schema, like, items, Filling(name=fill, **how)), "what whet made")


def image(
    width: int = 2,
    height: int = 2,
    mode: str = "L",
    fill: str = "count",
    *,
    dtype: object = "uint8",
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return an image's values: rows, columns, and channels where ``mode`` is RGB or RGBA."""
    from whet.make.media.image import image_array

    made = image_array(width, height, mode, dtype, Filling(name=fill, **how))
    return of_library(made, library, ARRAY_LIBRARIES)


def sound(
    frames: int = 4,
    channels: int = 1,
    fill: str = "count",
    *,
    dtype: object = "int16",
    library: str | None = None,
    **how: Any,
) -> Any:
    """Return a sound's values: frames and channels."""
    from whet.make.media.sound import sound_array

    made = sound_array(frames, channels, dtype, Filling(name=fill, **how))
    return of_library(made, library, ARRAY_LIBRARIES)


def bytes(size: int = 16, fill: str = "count", **how: Any) -> "builtins.bytes":
    """Return bytes: ``count``, ``constant``, ``random``, ``deadbeef`` or ``edge``."""
    from whet.make.documents.raw import raw_bytes

    return raw_bytes(size, Filling(name=fill, **how))


def tree(path: "str | Path", depth: int = 2, width: int = 2, fill: str = "count") -> "Path":
    """Make a folder with folders and files in it, and return its path.

    Args:
        path: where; nothing may be there yet.
        depth: how many folders lie in each other.
        width: how many files, and how many folders, a folder holds.
        fill: ``count``, or ``edge``: also names and links that break programs.

    Raises:
        CannotWrite: if something is there already, or it can't be written.
        DiskFull: if there is no space left; nothing is there then.
    """
    from pathlib import Path

    from whet.make.files.tree import tree_entries, write_tree

    write_tree(tree_entries(depth, width, fill), Path(path))
    return Path(path)


def _table(columns: str, rows: int, fill: str, name: str, how: dict[str, Any]) -> "FilledTable":
    from whet.make.tables.columns import columns_named, filled_table

    made = filled_table(columns_named(columns), rows, Filling(name=fill, **how))
    remember({
        "kind": "table", "summary": f"table of {rows} rows", "shape": [rows, len(made.columns)],
        "columns": [each.name for each in made.columns], "fill": fill, "name": name,
    })  # fmt: skip
    return made


def _array(
    shape: Sequence[int] | int, fill: str, dtype: object, name: str, how: dict[str, Any]
) -> FilledArray:
    made = filled_array(_shape(shape), dtype, Filling(name=fill, **how))
    remember({
        "kind": "array", "summary": f"{made.dtype.name} {made.shape}", "dtype": made.dtype.name,
        "shape": list(made.shape), "fill": fill, "name": name,
    })  # fmt: skip
    return made


def _shape(shape: Sequence[int] | int) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
