"""The types of numbers, under the names that numpy, torch and jax share, and their bytes."""

import struct
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, islice
from typing import TypeAlias, cast

from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.make.elements.minifloats import Minifloat
from whet.make.words import unknown_word

Number: TypeAlias = int | float | complex

CHUNK = 1 << 16
"""So many numbers are packed at once."""

_LARGEST = {
    "e": 65504.0,
    "f": float.fromhex("0x1.fffffep+127"),
    "d": float.fromhex("0x1.fffffffffffffp+1023"),
}
_SMALLEST = {"e": (2.0**-24, 2.0**-14), "f": (2.0**-149, 2.0**-126), "d": (2.0**-1074, 2.0**-1022)}
_BITS = {1: "B", 2: "H"}


@value_class(kw_only=True)
class Dtype:
    """A type of numbers.

    Attributes:
        name: as numpy and torch have it.
        width: bytes of a number.
        sort: ``bool``, ``int``, ``uint``, ``float`` or ``complex``.
        code: of `struct`, for a part of a complex number; empty: it is a `Minifloat`.
        exact: every whole number up to this one is there.
    """

    name: str
    width: int
    sort: str
    code: str
    exact: int

    @property
    def low(self) -> int | float:
        """The lowest finite number."""
        if self.sort in {"bool", "uint"}:
            return 0
        return -self.high - (self.sort == "int")

    @property
    def high(self) -> int | float:
        """The largest finite number."""
        if self.sort in {"bool", "int", "uint"}:
            return self.exact
        return _LARGEST[self.code] if self.code else _minifloat(self.name).numbers[-1]

    @property
    def tiny(self) -> float:
        """The smallest number above zero; it is subnormal."""
        return _SMALLEST[self.code][0] if self.code else _minifloat(self.name).numbers[1]

    @property
    def normal(self) -> float:
        """The smallest number above zero that isn't subnormal."""
        if self.code:
            return _SMALLEST[self.code][1]
        codec = _minifloat(self.name)
        return codec.numbers[codec.first_normal]

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers alone."""
        return self.sort in {"int", "uint"}

    def decoded(self, content: "bytes | bytearray | memoryview") -> list[Number]:
        """Return the numbers that bytes stand for."""
        count = len(content) // self.width
        if not self.code:
            codec = _minifloat(self.name)
            stored: Sequence[int] = struct.unpack(f"<{count}{_BITS[self.width]}", content)
            return [codec.decoded(bits) for bits in stored]
        if self.sort != "complex":
            return list(struct.unpack(f"<{count}{self.code}", content))
        parts: Sequence[float] = struct.unpack(f"<{2 * count}{self.code}", content)
        return [complex(*each) for each in zip(parts[::2], parts[1::2], strict=True)]

    def encoded(self, numbers: Iterable[Number]) -> bytearray:
        """Return the bytes of numbers, little-endian.

        Raises:
            BadUsage: if one of them has no place in the type.
        """
        content = bytearray()
        rest = iter(numbers)
        while chunk := list(islice(rest, CHUNK)):
            try:
                content += self._packed(chunk)
            except (OverflowError, TypeError, ValueError, struct.error) as error:
                raise self._no_place(chunk) from error
        return content

    def holds(self, number: Number) -> bool:
        """Whether a number has a place in the type, if not exactly."""
        try:
            self._packed([number])
        except (OverflowError, TypeError, ValueError, struct.error):
            return False
        return True

    def _packed(self, chunk: Sequence[Number]) -> bytes:
        count = len(chunk)
        if not self.code:
            encoded = _minifloat(self.name).encoded
            return struct.pack(f"<{count}{_BITS[self.width]}", *map(encoded, _real(chunk)))
        if self.sort == "complex":
            pairs = ((complex(each).real, complex(each).imag) for each in chunk)
            return struct.pack(f"<{2 * count}{self.code}", *chain.from_iterable(pairs))
        return struct.pack(f"<{count}{self.code}", *chunk)

    def _no_place(self, chunk: Sequence[Number]) -> BadUsage:
        number = next(each for each in chunk if not self.holds(each))
        return BadUsage(
            f"{self.name} has no place for {number}: it holds {self.low} to {self.high}",
            hint="choose a larger dtype, or other numbers",
        )


def _real(chunk: Sequence[Number]) -> Sequence[float]:
    if any(isinstance(each, complex) for each in chunk):
        raise TypeError("a complex number")
    return cast("Sequence[float]", chunk)


def _ints() -> "list[Dtype]":
    codes = zip((1, 2, 4, 8), "bhiq", strict=True)
    return [
        Dtype(
            name=f"{sort}{8 * width}",
            width=width,
            sort=sort,
            code=code if sort == "int" else code.upper(),
            exact=2 ** (8 * width - (sort == "int")) - 1,
        )
        for width, code in codes
        for sort in ("int", "uint")
    ]


def _float(name: str, width: int, code: str, exact: int, *, sort: str = "float") -> Dtype:
    return Dtype(name=name, width=width, sort=sort, code=code, exact=exact)


DTYPES = {
    each.name: each
    for each in (
        Dtype(name="bool", width=1, sort="bool", code="?", exact=1),
        *_ints(),
        _float("float16", 2, "e", 2**11),
        _float("bfloat16", 2, "", 2**8),
        _float("float32", 4, "f", 2**24),
        _float("float64", 8, "d", 2**53),
        _float("float8_e4m3fn", 1, "", 2**4),
        _float("float8_e5m2", 1, "", 2**3),
        _float("float8_e4m3fnuz", 1, "", 2**4),
        _float("float8_e5m2fnuz", 1, "", 2**3),
        _float("complex64", 8, "f", 2**24, sort="complex"),
        _float("complex128", 16, "d", 2**53, sort="complex"),
    )
}
"""All types, by their names."""

_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8": "float8_e4m3fn",
    "float8": "float8_e4m3fn",
    "float8_e4m3": "float8_e4m3fn",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "complex": "complex128",
    "bool_": "bool",
}
_SHORT = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}


def dtype_named(name: object) -> Dtype:
    """Return a type by its name, as numpy, torch, jax or safetensors write it.

    Args:
        name: the name, or the library's own object, such as ``torch.float32``.

    Raises:
        BadUsage: if there is none, with the closest names.
    """
    named = name.__name__ if isinstance(name, type) else str(getattr(name, "name", name))
    word = named.rpartition(".")[2].lower().lstrip("<|=")
    word = _ALIASES.get(word, word)
    if word[:1] in _SHORT and word[1:].isdigit() and word not in DTYPES:  # numpy's short names
        in_bytes = f"{_SHORT[word[0]]}{8 * int(word[1:])}"
        in_bits = "bool" if word[0] == "b" else f"{_SHORT[word[0]]}{word[1:]}"
        word = in_bytes if in_bytes in DTYPES else in_bits
    if word not in DTYPES:
        raise unknown_word("dtype", named, DTYPES)
    return DTYPES[word]


@cache
def _minifloat(name: str) -> Minifloat:
    if name == "bfloat16":
        return Minifloat(8, 7)
    exponent_bits = int(name[len("float8_e")])
    _, _, ends = name.partition("fn")
    return Minifloat(exponent_bits, 7 - exponent_bits, ends=f"fn{ends}" if "fn" in name else "ieee")
