"""Sounds in WAV files."""

import struct

from whet.core.errors import BadUsage
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import dtype_named
from whet.make.elements.fills import Filling
from whet.make.words import unknown_word

SOUND_TYPES = ("int16", "uint8", "int32", "float32", "float64")
"""What a WAV file can hold; its 8 bits have no sign."""

_WHOLE, _FLOAT = 1, 3


def sound_array(frames: int, channels: int, dtype: object, filling: Filling) -> FilledArray:
    """Return the values of a sound, a row for each frame.

    Raises:
        BadUsage: if there is no such type or fill, or it has no channel.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    known = dtype_named(dtype)
    if known.name not in SOUND_TYPES:
        raise unknown_word("type of a sound", known.name, SOUND_TYPES)
    if channels < 1:
        raise BadUsage(f"a sound can't have {channels} channels", hint="at least 1")
    return filled_array((frames, channels), known.name, filling)


def wav(sound: FilledArray, rate: int) -> bytes:
    """Return a sound as a WAV file.

    Args:
        sound: its values, a row for each frame, a column for each channel.
        rate: frames in a second.
    """
    channels, width = sound.shape[1], sound.dtype.width
    kind = _FLOAT if sound.dtype.sort == "float" else _WHOLE
    form = struct.pack(
        "<HHIIHH", kind, channels, rate, rate * channels * width, channels * width, 8 * width
    )
    data = bytes(sound.content)
    chunks = b"WAVE" + _chunk(b"fmt ", form) + _chunk(b"data", data)
    return _chunk(b"RIFF", chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)
