"""WAV files: few frames, few channels, silence."""

import io
import math
import struct
import wave

import pytest
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.media.sound import WAV, WAV_ORDER, parse_wav
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass


def tone(frames: int = 8000, channels: int = 2, width: int = 2) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(channels)
        written.setsampwidth(width)
        written.setframerate(8000)
        top = 2 ** (8 * width - 2)
        values = [int(top * math.sin(at / 9 + c)) for at in range(frames) for c in range(channels)]
        shift = 128 if width == 1 else 0
        written.writeframes(
            b"".join(
                (value + shift).to_bytes(width, "little", signed=width > 1) for value in values
            )
        )
    return file.getvalue()


def read(payload: bytes) -> tuple[int, list[int]]:
    try:
        with wave.open(io.BytesIO(payload)) as file:
            frames = file.readframes(file.getnframes())
            return file.getnchannels(), [value for (value,) in struct.iter_unpack("<h", frames)]
    except (wave.Error, EOFError) as error:
        raise ValueError(payload[:20]) from error


def test_one_loud_value_is_all_that_is_left() -> None:
    payload = bytearray(tone())
    struct.pack_into("<h", payload, 44 + 4 * 5000 + 2, 32767)

    done = shrunk(bytes(payload), fails_if(lambda it: 32767 in read(it)[1]))

    assert [each.name for each in kinds_of(bytes(payload))] == ["wav"]
    assert read(done.reduction.payload) == (1, [32767])
    assert done.calls < 40


def test_what_is_long_and_has_two_channels_is_silent() -> None:
    def holds(payload: bytes) -> bool:
        channels, values = read(payload)
        return channels == 2 and len(values) // 2 >= 5

    done = shrunk(tone(), fails_if(holds))

    assert read(done.reduction.payload) == (2, [0] * 10)
    assert done.calls < 60


def test_a_sound_without_a_value_is_left_where_any_sound_fails() -> None:
    done = shrunk(tone(), fails_if(lambda it: read(it)[0] >= 1))

    assert read(done.reduction.payload) == (1, [])
    assert done.calls < 20


def test_notes_go_from_a_sound() -> None:
    payload = tone(1, 1)
    note = b"LIST" + struct.pack("<L", 40) + b"INFO" + b"x" * 36
    payload = payload[:4] + struct.pack("<L", len(payload) - 8 + len(note)) + payload[8:] + note

    done = shrunk(payload, fails_if(lambda it: len(read(it)[1]) == 1))

    assert len(done.reduction.payload) == 46


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_each_width_keeps_the_promises_of_a_kind(width: int) -> None:
    payload = tone(6, 3, width)

    def is_sound(payload: bytes) -> bool:
        sound = parse_wav(payload)
        return sound is not None and sound.width == width

    check_format(WAV, [payload, payload[:-1], b"", b"RIFF????WAVE"])
    for each in KINDS["wav"].passes:
        check_pass(each, [payload], is_valid=is_sound, order=WAV_ORDER)


@pytest.mark.parametrize("cut", [1, 100, 15990])
def test_a_broken_sound_is_bytes(cut: int) -> None:
    assert kinds_of(tone()[:-cut])[-1].name == "bytes"
