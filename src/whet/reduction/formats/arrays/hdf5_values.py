"""What datasets and attributes of HDF5 hold, as arrays of numpy's own types, and back.

h5py reads texts, references and lists of many lengths as Python objects. Here a text is a text, a
reference is the name of what it leads to, and a list of lists is a folder of arrays.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from whet.core.value_class import value_class
from whet.reduction.formats.arrays.arrays import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATASET, ATTRIBUTE = "dataset", "attribute"
_EMPTY, _RAGGED, _ROW = "empty ", "ragged ", "row"
_WHOLE = ""

Path = tuple[str | int, ...]


@value_class
class Held:
    """What an entry is.

    Attributes:
        kind: a group, a dataset, an attribute, a link, or a row of lists of many lengths.
        target: what a link names: a path, or a file and a path in it.
        packing: how a dataset is packed, as h5py takes it.
        references: the fields whose texts are names of objects; that of no name: all of it.
        dtype: the type of what is empty, as HDF5 has it.
    """

    kind: str
    target: tuple[str, ...] = ()
    packing: tuple[tuple[str, Any], ...] = ()
    references: frozenset[str] = frozenset()
    dtype: Any = None

    def __str__(self) -> str:
        return " -> ".join((self.kind, ":".join(self.target))) if self.target else self.kind

    def is_a(self, kind: str) -> bool:
        """Whether it is of a kind, be it empty or a list of lists."""
        return self.kind.endswith(kind)


def h5py_library() -> Any:
    """Return h5py, which is imported when it is used."""
    import h5py

    return h5py


# ---- reading ----


def entries_of(path: Path, found: Any, dtype: Any, held: Held, file: Any) -> Iterator[Entry]:
    """Yield what a dataset or an attribute holds; nothing if that can't be written again.

    Args:
        path: its name.
        found: what h5py gives.
        dtype: its type, as h5py knows it.
        held: what it is.
        file: where references lead to.
    """
    h5py = h5py_library()
    if isinstance(found, h5py.Empty):
        yield Entry(path=path, note=Held(_EMPTY + held.kind, dtype=found.dtype))
        return
    is_text = h5py.check_string_dtype(dtype) is not None
    base = None if is_text else h5py.check_vlen_dtype(dtype)
    if base is None:
        array, references = _plain(found, dtype, file)
        if array is not None:
            note = Held(held.kind, packing=held.packing, references=references)
            yield Entry(path=path, array=array, note=note)
    elif getattr(found, "ndim", 0) == 1:
        rows = [_plain(row, base, file) for row in found]
        if all(array is not None for array, _ in rows):
            yield Entry(path=path, note=Held(_RAGGED + held.kind, packing=held.packing, dtype=base))
            for number, (array, references) in enumerate(rows):
                yield Entry(
                    path=(*path, number), array=array, note=Held(_ROW, references=references)
                )


def _plain(found: Any, dtype: Any, file: Any) -> "tuple[NDArray[Any] | None, frozenset[str]]":
    """Return the array of what h5py gives, and what of it is references.

    None instead if it is of no type that can be written again.
    """
    import numpy as np

    array: NDArray[Any] = np.asarray(found)
    if not array.dtype.hasobject:
        return array, frozenset()
    if array.dtype.names is None:
        texts = _texts(array, file)
        return texts, frozenset({_WHOLE} if _leads(dtype) else ())
    columns: dict[str, NDArray[Any]] = {}
    for name in array.dtype.names:
        column = _texts(array[name], file) if dtype[name].hasobject else array[name]
        if column is None:
            return None, frozenset()
        columns[name] = column
    inner = [
        (name, columns[name].dtype, columns[name].shape[array.ndim :]) for name in array.dtype.names
    ]
    plain = np.zeros(array.shape, np.dtype(inner))
    for name, column in columns.items():
        plain[name] = column
    return plain, frozenset(name for name in columns if _leads(dtype[name]))


def _leads(dtype: Any) -> bool:
    h5py = h5py_library()
    return h5py.check_ref_dtype(dtype) is h5py.Reference


def _texts(array: "NDArray[Any]", file: Any) -> "NDArray[Any] | None":
    import numpy as np

    texts = [_text(each, file) for each in array.flat]
    if any(each is None for each in texts):
        return None
    return np.array(texts, dtype=str).reshape(array.shape)


def _text(value: Any, file: Any) -> str | None:
    if isinstance(value, h5py_library().Reference):
        return str(file[value].name) if value else ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else None


# ---- writing ----


class Writer:
    """Writes datasets and attributes; references and attributes once all objects are there."""

    def __init__(self, file: Any) -> None:
        """Begin with a file that holds nothing."""
        self._file = file
        self._rows: dict[Path, list[Entry]] = {}
        self._contents: list[Callable[[], object]] = []
        self._attributes: list[Callable[[], object]] = []

    def add(self, folder: str, entry: Entry) -> None:
        """Write a dataset, an attribute or a row of one.

        Args:
            folder: the group, or what the attribute is of.
            entry: what.
        """
        held, name = held_of(entry), str(entry.path[-1])
        if held.kind == _ROW:
            self._rows.setdefault(entry.path[:-1], []).append(entry)
        elif held.is_a(ATTRIBUTE):
            self._attributes.append(lambda: self._add_attribute(folder, entry))
        elif held.kind.startswith(_EMPTY):
            self._file[folder][name] = h5py_library().Empty(held.dtype)
        elif held.kind.startswith(_RAGGED):
            self._contents.append(lambda: self._add_dataset(folder, entry))
        elif _WHOLE in held.references:  # they may lead to each other
            dtype = _type(is_reference=True)
            dataset = self._file[folder].create_dataset(name, entry.shape, dtype)
            self._contents.append(lambda: dataset.__setitem__((), self._stored(entry)[0]))
        elif held.references:
            self._contents.append(lambda: self._add_dataset(folder, entry))
        else:
            self._add_dataset(folder, entry)

    def finish(self) -> None:
        """Write what had to wait."""
        for write in (*self._contents, *self._attributes):
            write()

    def _add_dataset(self, folder: str, entry: Entry) -> None:
        data, dtype = self._stored(entry)
        # An empty one has no chunks.
        packing = dict(held_of(entry).packing) if data.size and data.ndim else {}
        name = str(entry.path[-1])
        self._file[folder].create_dataset(name, data=data, dtype=dtype, **packing)

    def _add_attribute(self, folder: str, entry: Entry) -> None:
        held, name = held_of(entry), str(entry.path[-1]).removeprefix("@")
        if held.kind.startswith(_EMPTY):
            self._file[folder].attrs[name] = h5py_library().Empty(held.dtype)
        else:
            data, dtype = self._stored(entry)
            self._file[folder].attrs.create(name, data, dtype=dtype)

    def _stored(self, entry: Entry) -> "tuple[NDArray[Any], Any]":
        """Return the data as h5py takes it, and its type."""
        import numpy as np

        held = held_of(entry)
        if entry.array is not None:
            return self._objects(entry.array, held.references)
        rows = [self._stored(each) for each in self._rows.get(entry.path, ())]
        types = {dtype for _, dtype in rows} or {held.dtype}
        if len(types) > 1:
            raise ValueError("the rows of lists are of one type")
        data = np.empty(len(rows), object)
        for at, (row, _) in enumerate(rows):
            data[at] = np.atleast_1d(row)
        return data, h5py_library().vlen_dtype(types.pop())

    def _objects(
        self, array: "NDArray[Any]", references: frozenset[str]
    ) -> "tuple[NDArray[Any], Any]":
        """Return an array with texts and references as h5py takes them, and its type."""
        import numpy as np

        if array.dtype.names is None:
            if array.dtype.kind != "U":
                return array, array.dtype
            is_name = _WHOLE in references
            data = self._references(array) if is_name else array.astype(object)
            return data, _type(is_reference=is_name)
        columns: Mapping[str, tuple[NDArray[Any], Any]] = {
            name: self._objects(array[name], frozenset({_WHOLE} if name in references else ()))
            for name in array.dtype.names
        }
        types = [(name, dtype, data.shape[array.ndim :]) for name, (data, dtype) in columns.items()]
        whole = np.zeros(array.shape, np.dtype(types))
        for name, (data, _) in columns.items():
            whole[name] = data
        return whole, whole.dtype

    def _references(self, names: "NDArray[Any]") -> "NDArray[Any]":
        import numpy as np

        found = np.empty(names.shape, object)
        for at, name in enumerate(names.flat):
            if name and str(name) not in self._file:
                raise ValueError(f"a reference to {name}, which doesn't exist")
            found.flat[at] = self._file[str(name)].ref if name else h5py_library().Reference()
        return found


def held_of(entry: Entry) -> Held:
    """Return what an entry of HDF5 is."""
    assert isinstance(entry.note, Held), "it was read here"
    return entry.note


def _type(*, is_reference: bool) -> Any:
    h5py = h5py_library()
    return h5py.ref_dtype if is_reference else h5py.string_dtype()
