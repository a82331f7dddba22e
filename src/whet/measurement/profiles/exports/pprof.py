"""pprof's `profile.proto`, gzipped: for `go tool pprof`, Grafana, Parca and Polar Signals."""

import zlib
from collections.abc import Callable, Iterable

from whet.core.observations.profile import BYTES, COUNT, SECONDS, Profile

Text = Callable[[str], int]

_VARINT, _LENGTH = 0, 2
_LOW, _MORE = 0x7F, 0x80
_GZIP = 31
_NANOSECONDS = 1_000_000_000
_FIELDS = {BYTES: ("space", "bytes"), COUNT: ("count", "count")}


def pprof(profile: Profile) -> bytes:
    """Return a profile as pprof reads it."""
    names = [profile.unit]
    if profile.unit != SECONDS and any(each.number(SECONDS) for each in profile.stacks):
        names.append(SECONDS)
    strings: dict[str, int] = {"": 0}

    def text(words: str) -> int:
        return strings.setdefault(words, len(strings))

    functions = {
        key: number
        for number, key in enumerate(
            dict.fromkeys((each.function, each.path) for each in profile.frames), 1
        )
    }
    message = b"".join(_field(1, _value_type(*_type_of(name), text)) for name in names)
    for stack in profile.stacks:
        amounts = [_amount(stack.number(name), name) for name in names]
        if any(amounts):
            # The innermost location comes first.
            locations = _packed(1, [place + 1 for place in reversed(stack.frames)])
            labels = _field(3, _number(1, text("pid")) + _number(3, stack.pid))
            if stack.thread:
                labels += _field(3, _number(1, text("thread")) + _number(2, text(stack.thread)))
            message += _field(2, locations + _packed(2, amounts) + labels)
    for place, frame in enumerate(profile.frames, 1):
        line = _number(1, functions[frame.function, frame.path]) + _number(2, frame.line)
        message += _field(4, _number(1, place) + _field(4, line))
    for (function, path), number in functions.items():
        message += _field(
            5, _number(1, number) + _number(2, text(function)) + _number(4, text(path))
        )
    message += _number(10, round(profile.seconds * _NANOSECONDS))
    if profile.rate:
        message += _field(11, _value_type(*_type_of(profile.unit), text))
        message += _number(12, round(_NANOSECONDS / profile.rate))
    for words in strings:
        message += _field(6, words.encode("utf-8", "replace"))
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(message) + packer.flush()


def _type_of(name: str) -> tuple[str, str]:
    kind, unit = _FIELDS.get(name, (name.partition("_")[0], "nanoseconds"))
    return ("wall" if name == SECONDS else kind), unit


def _amount(number: float, name: str) -> int:
    return round(number if name in _FIELDS else number * _NANOSECONDS)


def _value_type(kind: str, unit: str, text: Text) -> bytes:
    return _number(1, text(kind)) + _number(2, text(unit))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _field(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | _LENGTH) + _varint(len(data)) + data


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _field(field, b"".join(_varint(each) for each in values))


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > _LOW:
        data.append(value & _LOW | _MORE)
        value >>= 7
    data.append(value)
    return bytes(data)
