"""Sound in WAV files: fewer frames, fewer channels, silence in place of values."""

import io
import math
import struct
import wave
from functools import partial

from whet.core.value_class import value_class
from whet.reduction.edit import first_that_fails
from whet.reduction.formats.media.grid import keep_some, zero_some
from whet.reduction.order import TEXT, Order
from whet.reduction.reduction_pass import (
    Format,
    PassSearch,
    ReductionPass,
    Stage,
    last_view,
)


@value_class
class Sound:
    """A sound as pulse codes.

    Attributes:
        payload: the file.
        channels: how many.
        width: bytes of a value.
        rate: frames in a second.
        frames: the values, those of one moment together.
    """

    payload: bytes
    channels: int
    width: int
    rate: int
    frames: bytes

    @property
    def frame(self) -> int:
        """Bytes of one moment."""
        return self.channels * self.width

    @property
    def zero(self) -> bytes:
        """A value of silence: those of one byte have no sign."""
        return b"\x80" if self.width == 1 else bytes(self.width)


def parse_wav(payload: bytes) -> Sound | None:
    """Return the sound; None if it is none, broken, or not of plain pulse codes."""
    if payload[:4] != b"RIFF" or payload[8:12] != b"WAVE":
        return None
    try:
        with wave.open(io.BytesIO(payload)) as file:
            channels, width, rate, count, *_ = file.getparams()
            frames = file.readframes(count)
    except (wave.Error, EOFError, RuntimeError):
        return None
    sound = Sound(payload, channels, width, rate, frames)
    is_whole = len(frames) == count * channels * width
    try:
        _made(sound, b"")
    except (wave.Error, struct.error):  # of more than can be written
        return None
    return sound if is_whole else None


def _made(sound: Sound, frames: bytes, channels: int | None = None) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(channels or sound.channels)
        written.setsampwidth(sound.width)
        written.setframerate(sound.rate)
        written.writeframes(frames)
    return file.getvalue()


def _frames(sound: Sound, ranges: list[range]) -> bytes:
    size = sound.frame
    return _made(
        sound, b"".join(sound.frames[each.start * size : each.stop * size] for each in ranges)
    )


def _channels(sound: Sound, ranges: list[range]) -> bytes:
    kept = [channel for each in ranges for channel in each]
    size, width = sound.frame, sound.width
    left = bytearray(len(sound.frames) // size * len(kept) * width)
    # Byte by byte of a value, all moments at once.
    for place, channel in enumerate(kept):
        for byte in range(width):
            left[place * width + byte :: len(kept) * width] = sound.frames[
                channel * width + byte :: size
            ]
    return _made(sound, bytes(left), len(kept))


def _shorten(sound: Sound) -> PassSearch:
    payload = yield from keep_some(
        sound.payload, len(sound.frames) // sound.frame, partial(_frames, sound)
    )
    left = parse_wav(payload)
    if left is None or not left.frames:
        return payload
    return (yield from first_that_fails([_made(left, b"")])) or payload


def _drop_channels(sound: Sound) -> PassSearch:
    return keep_some(sound.payload, sound.channels, partial(_channels, sound))


def _silence(sound: Sound) -> PassSearch:
    build = partial(_made, sound)
    return zero_some(sound.payload, sound.frames, sound.width, build, zero=sound.zero)


def _drop_notes(sound: Sound) -> PassSearch:
    """Write the file again, with nothing in it but the sound."""
    return (yield from first_that_fails([_made(sound, sound.frames)])) or sound.payload


_parse = last_view(parse_wav)


def sound_again(payload: bytes) -> bytes:
    """Return the same sound as it is written here."""
    sound = parse_wav(payload)
    return payload if sound is None else _made(sound, sound.frames)


def _weight(payload: bytes) -> float:
    sound = _parse(payload)
    return math.inf if sound is None else len(sound.frames) // sound.width


def _rank(payload: bytes) -> tuple[object, ...]:
    sound = _parse(payload)
    assert sound is not None, "only what has a weight is ranked"
    values = sound.frames
    zeros = sum(
        values[at : at + sound.width] == sound.zero for at in range(0, len(values), sound.width)
    )
    return (sound.channels, -zeros, *TEXT.rank(payload))


WAV_ORDER = Order(_weight, _rank)
"""Fewer values first, then more silence."""

WAV = Format(name="wav", parse=last_view(parse_wav))

WAV_PASSES = (
    ReductionPass(name="shorten sound", stage=Stage.STRUCTURE, search=_shorten),
    ReductionPass(name="delete channels", stage=Stage.STRUCTURE, search=_drop_channels),
    ReductionPass(name="put silence", stage=Stage.VALUES, search=_silence),
    ReductionPass(name="delete notes of sound", stage=Stage.LOOKS, search=_drop_notes),
)
