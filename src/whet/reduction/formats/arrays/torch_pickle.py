"""The pickle in a torch file, read and written without running anything that is in it.

Before a byte of it is interpreted its opcodes are walked: none but those of plain data may be
there. What it asks for by name is never imported: a few names have stand-ins here, and any
other ends the reading. Storages are names until their bytes are looked up.
"""

import io
import pickle
import pickletools
import struct
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from whet.core.value_class import value_class

_FORBIDDEN = {"INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "PERSID"}
_MEMO = {"PUT", "BINPUT", "LONG_BINPUT"}

_PROTOCOL = b"\x80\x02"
_SMALL = 1 << 31
_LONG_BYTES = 255


@value_class
class Storage:
    """The name of a record of numbers.

    Attributes:
        type_name: such as ``FloatStorage``.
        key: the name of the record.
        location: the device.
        size: how many numbers there are.
        is_of_stream: it may be a view of another one, as those of old files might.
    """

    type_name: str
    key: str
    location: str
    size: int
    is_of_stream: bool = False


@value_class
class TensorRecord:
    """A tensor: a view of a storage."""

    storage: Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    is_parameter: bool = False


@value_class
class Name:
    """Something of torch that is only named, such as a type."""

    module: str
    name: str


def load_pickle(payload: bytes, storages: dict[str, Storage] | None = None) -> object:
    """Return the data of a pickle, with stand-ins for what is of torch.

    Args:
        payload: the pickle.
        storages: those that it refers to are added here, by their keys.

    Raises:
        ValueError: if there is anything in it but plain data and tensors.
    """
    for opcode, argument, _ in pickletools.genops(payload):
        if opcode.name in _FORBIDDEN:
            raise ValueError(f"the pickle makes objects ({opcode.name})")
        if opcode.name in _MEMO and int(argument or 0) > len(payload):
            raise ValueError("the pickle asks for more memory than it can use")
    try:
        reader = _Reader(io.BytesIO(payload))
        reader.storages = {} if storages is None else storages
        return reader.load()
    except (
        pickle.UnpicklingError, EOFError, AttributeError, IndexError, TypeError, OverflowError,
        MemoryError,  # Python 3.11 raises that for a bytearray that a frame cuts
    ) as error:  # fmt: skip
        raise ValueError(f"the pickle holds more than data: {error}") from error


def next_pickle(stream: io.BytesIO) -> bytes:
    """Return the bytes of the pickle that starts here, unread, and go behind it.

    Raises:
        ValueError: if none starts here.
    """
    start = stream.tell()
    for _ in pickletools.genops(stream):
        pass
    return stream.getbuffer()[start : stream.tell()].tobytes()


class _Reader(pickle.Unpickler):
    storages: dict[str, Storage]

    def find_class(self, module: str, name: str, /) -> object:
        if (module, name) in _STAND_INS:
            return _STAND_INS[module, name]
        if module == "torch" and name.isidentifier() and not name.startswith("_"):
            return Name(module, name)  # nothing that can be called
        raise ValueError(f"the pickle asks for {module}.{name}")

    def persistent_load(self, pid: object, /) -> Storage:
        match pid:
            case ("storage", Name(module="torch", name=name), str(key), str(place), int(size)):
                found = Storage(name, key, place, size)
            case (
                "storage",
                Name(module="torch", name=name),
                str(key),
                str(place),
                int(size),
                None,
            ):
                found = Storage(name, key, place, size, is_of_stream=True)
            case _:
                raise ValueError("the pickle refers to something that isn't a storage")
        return self.storages.setdefault(key, found)


def _tensor(
    storage: object,
    offset: object,
    size: object,
    stride: object,
    requires_grad: object,
    *_rest: object,
) -> TensorRecord:
    lengths, steps = _numbers(size), _numbers(stride)
    is_whole = isinstance(offset, int) and offset >= 0 and len(lengths) == len(steps)
    if not isinstance(storage, Storage) or not isinstance(offset, int) or not is_whole:
        raise ValueError("the pickle holds a tensor of an unknown form")
    return TensorRecord(storage, offset, lengths, steps, bool(requires_grad))


def as_parts(value: object) -> "list[object]":
    """Return what is in a list or a tuple, and keys and values in turn of a dictionary."""
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        return [part for key in found for part in (key, found[key])]
    return list(cast("Iterable[object]", value))


def _numbers(found: object) -> tuple[int, ...]:
    parts = as_parts(found)
    numbers = tuple(each for each in parts if isinstance(each, int) and each >= 0)
    if len(numbers) != len(parts):
        raise ValueError("the pickle holds an invalid shape")
    return numbers


def _parameter(data: object, requires_grad: object, *_rest: object) -> TensorRecord:
    if not isinstance(data, TensorRecord):
        raise TypeError("the pickle holds a parameter that isn't a tensor")
    view = data.storage, data.offset, data.size, data.stride
    return TensorRecord(*view, bool(requires_grad), is_parameter=True)


_STAND_INS: dict[tuple[str, str], object] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch", "Size"): tuple,
}


def dump_pickle(value: object) -> bytes:
    """Return the pickle that torch would make of such data, in protocol 2."""
    return b"".join((_PROTOCOL, *_dumped(value), b"."))


def _dumped(value: object) -> Iterator[bytes]:
    match value:
        case None:
            yield b"N"
        case bool():
            yield b"\x88" if value else b"\x89"
        case int():
            yield _whole(value)
        case float():
            yield b"G" + struct.pack(">d", value)
        case str():
            text = value.encode("utf-8", "surrogatepass")
            yield b"X" + struct.pack("<I", len(text)) + text
        case Name():
            yield f"c{value.module}\n{value.name}\n".encode()
        case Storage():
            name = Name("torch", value.type_name)
            view = (None,) if value.is_of_stream else ()
            yield from _dumped(("storage", name, value.key, value.location, value.size, *view))
            yield b"Q"
        case TensorRecord():
            yield from _tensor_dumped(value)
        case _:
            yield from _container(value)


def _whole(value: int) -> bytes:
    if -_SMALL <= value < _SMALL:
        return b"J" + struct.pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(raw) > _LONG_BYTES:
        raise ValueError("a number of thousands of digits")
    return b"\x8a" + bytes([len(raw)]) + raw


def _tensor_dumped(value: TensorRecord) -> Iterator[bytes]:
    hooks: OrderedDict[str, object] = OrderedDict()
    view = value.storage, value.offset, value.size, value.stride
    if value.is_parameter:
        inner = TensorRecord(*view, requires_grad=False)
        yield b"ctorch._utils\n_rebuild_parameter\n"
        yield from _sequence(b"(", (inner, value.requires_grad, hooks), b"tR")
    else:
        yield b"ctorch._utils\n_rebuild_tensor_v2\n"
        yield from _sequence(b"(", (*view, value.requires_grad, hooks), b"tR")


_CONTAINERS: dict[type[object], tuple[bytes, bytes]] = {
    tuple: (b"(", b"t"),
    list: (b"](", b"e"),
    dict: (b"}(", b"u"),
    OrderedDict: (b"ccollections\nOrderedDict\n)R(", b"u"),
}
"""How each starts and ends."""


def _container(value: object) -> Iterator[bytes]:
    kind = type(value)
    if kind not in _CONTAINERS:
        raise ValueError(f"{kind.__name__} has no place in a torch file")
    start, end = _CONTAINERS[kind]
    yield from _sequence(start, as_parts(value), end)


def _sequence(start: bytes, values: "Sequence[object]", end: bytes) -> Iterator[bytes]:
    yield start
    for each in values:
        yield from _dumped(each)
    yield end
