"""Floating point types that numpy doesn't know, by their bits."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays.arrays import Codec

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _from_bfloat16(bits: "NDArray[Any]") -> "NDArray[Any]":
    import numpy as np

    return (bits.astype(np.uint32) << 16).view(np.float32)


def _to_bfloat16(values: "NDArray[Any]") -> "NDArray[Any]":
    import numpy as np

    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


_BITS_OF_E4M3 = 4


@lru_cache(maxsize=4)
def _numbers(exponent_bits: int) -> "NDArray[Any]":
    """Return the number of each of the 256 bytes, for 4 or 5 bits of exponent.

    The four are those of E4M3FN: no infinity, and only the highest of all is no number.
    """
    import numpy as np

    mantissa_bits = 7 - exponent_bits
    bias = 2 ** (exponent_bits - 1) - 1
    bits = np.arange(128)
    exponent, mantissa = bits >> mantissa_bits, bits & (2**mantissa_bits - 1)
    fraction = mantissa / 2**mantissa_bits
    normal = (1 + fraction) * 2.0 ** (exponent - bias)
    smallest = fraction * 2.0 ** (1 - bias)
    found: NDArray[Any] = np.array(np.where(exponent > 0, normal, smallest), np.float32)
    if exponent_bits == _BITS_OF_E4M3:
        found[127] = np.nan
    else:
        found[124:] = (np.inf, np.nan, np.nan, np.nan)
    both: NDArray[Any] = np.concatenate((found, -found))
    return both


def _float8(name: str, exponent_bits: int) -> Codec:
    def decode(bits: "NDArray[Any]") -> "NDArray[Any]":
        import numpy as np

        return np.take(_numbers(exponent_bits), bits)

    def encode(values: "NDArray[Any]") -> "NDArray[Any]":
        """Round down to what there is; each number that there is stays what it is."""
        import numpy as np

        numbers = _numbers(exponent_bits)[:128]
        known = numbers[~np.isnan(numbers)]
        size = np.abs(values).astype(np.float32)
        places = np.searchsorted(known, size, side="right") - 1
        places = np.where(np.isnan(size), 127, places)
        found: NDArray[Any] = (places + 128 * np.signbit(values)).astype(np.uint8)
        return found

    return Codec(name=name, bits="|u1", decode=decode, encode=encode)


BFLOAT16 = Codec(name="BF16", bits="<u2", decode=_from_bfloat16, encode=_to_bfloat16)
FLOAT8_E4M3 = _float8("F8_E4M3", 4)
FLOAT8_E5M2 = _float8("F8_E5M2", 5)
