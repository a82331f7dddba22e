"""Images, sounds and tokens: what whet writes, the library of the format reads."""

import io
import json
import math
import struct
import wave

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from whet.core.errors import BadUsage
from whet.make.arrays.tokens import TOKEN_FILLS, token_array
from whet.make.elements.fills import FILLS, Filling
from whet.make.media.image import IMAGE_FILES, MODES, image_array, png, pnm
from whet.make.media.sound import SOUND_TYPES, sound_array, wav

sizes = st.integers(1, 9)
whole_fills = st.sampled_from(sorted({*FILLS} - {"nan", "inf", "normal", "coordinates"}))


@given(sizes, sizes, st.sampled_from(sorted(MODES)), whole_fills)
def test_pillow_reads_an_image(width: int, height: int, mode: str, fill: str) -> None:
    library = pytest.importorskip("PIL.Image")
    image = image_array(width, height, mode, "uint8", Filling(name=fill))

    for write in (png, pnm)[: 1 if mode == "RGBA" else 2]:
        with library.open(io.BytesIO(write(image))) as read:
            assert (read.mode, read.size) == (mode, (width, height))
            assert read.tobytes() == bytes(image.content)


@given(sizes, sizes)
def test_pillow_reads_sixteen_bits(width: int, height: int) -> None:
    library = pytest.importorskip("PIL.Image")
    image = image_array(width, height, "L", "uint16", Filling(name="coordinates"))

    for write in (png, pnm):
        with library.open(io.BytesIO(write(image))) as read:
            values = [read.getpixel((x, y)) for y in range(height) for x in range(width)]
        assert values == [1000 * y + x for y in range(height) for x in range(width)]


def test_a_large_image_has_many_blocks() -> None:
    library = pytest.importorskip("PIL.Image")
    image = image_array(300, 300, "RGB", "uint8", Filling(name="random"))

    with library.open(io.BytesIO(png(image))) as read:
        assert read.tobytes() == bytes(image.content)


@pytest.mark.parametrize("ending", [".jpg", ".bmp", ".gif", ".webp", ".tiff"])
def test_pillow_writes_the_other_formats(ending: str) -> None:
    library = pytest.importorskip("PIL.Image")
    image = image_array(4, 3, "RGB", "uint8", Filling(name="ramp"))

    with library.open(io.BytesIO(IMAGE_FILES[ending](image))) as read:
        assert read.size == (4, 3)


@pytest.mark.parametrize(
    ("width", "mode", "dtype", "fill", "message"),
    [
        (0, "L", "uint8", "count", "0 by 2"),
        (2, "RBG", "uint8", "count", "`RBG` is not a mode"),
        (2, "L", "float32", "count", "`float32` is not a type of an image"),
        (2, "L", "uint8", "coordinates", "can't tell the coordinates"),
        (2, "L", "uint8", "nan", "uint8 has no nan"),
    ],
)
def test_an_image_that_can_not_be_is_refused(
    width: int, mode: str, dtype: str, fill: str, message: str
) -> None:
    with pytest.raises(BadUsage, match=message):
        image_array(width, 2, mode, dtype, Filling(name=fill))


@given(
    st.integers(0, 20), st.integers(1, 3), st.sampled_from(["int16", "uint8", "int32"]), whole_fills
)
def test_wave_reads_a_sound(frames: int, channels: int, dtype: str, fill: str) -> None:
    sound = sound_array(frames, channels, dtype, Filling(name=fill))

    with wave.open(io.BytesIO(wav(sound, 8000))) as read:
        assert (read.getnframes(), read.getnchannels(), read.getframerate()) == (
            frames,
            channels,
            8000,
        )
        assert read.readframes(frames) == bytes(sound.content)


def test_a_sound_can_hold_floats() -> None:
    content = wav(sound_array(3, 1, "float32", Filling(name="nan", at=(1, 0))), 8000)

    kind, channels, rate = struct.unpack("<HHI", content[20:28])
    values = struct.unpack("<3f", content[-12:])
    assert (kind, channels, rate) == (3, 1, 8000)
    assert [math.isnan(each) for each in values] == [False, True, False]


@pytest.mark.parametrize("dtype", SOUND_TYPES)
def test_every_type_of_sound_is_whole(dtype: str) -> None:
    content = wav(sound_array(3, 1, dtype, Filling()), 8000)
    assert struct.unpack("<I", content[4:8])[0] == len(content) - 8


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple),
    st.integers(1, 300),
    st.sampled_from(TOKEN_FILLS),
)
def test_tokens_are_below_the_size_of_the_vocabulary(
    shape: tuple[int, ...], vocabulary: int, fill: str
) -> None:
    if fill in {"coordinates", "ramp", "constant", "eye", "onehot"} and vocabulary < 300:
        return

    try:
        array = token_array(shape, vocabulary, Filling(name=fill))
    except BadUsage:
        assert fill == "coordinates"
        return
    numbers = array.dtype.decoded(array.content)

    assert len(numbers) == math.prod(shape)
    assert all(0 <= each.real < vocabulary for each in numbers)


def test_tokens_of_the_edge_are_the_first_and_the_last() -> None:
    assert whet.make.tokens((1, 4), 50257, "edge", library="list") == [[0, 50256, 1, 50255]]
    assert whet.make.tokens(5, 3, library="list") == [1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("vocabulary", "dtype", "fill", "message"),
    [
        (0, "int64", "count", "vocabulary of 0"),
        (300, "uint8", "count", "vocabulary of 300"),
        (9, "float32", "count", "float32 can't hold"),
        (9, "int64", "coordinates", "isn't below 9"),
    ],
)
def test_tokens_that_can_not_be_are_refused(
    vocabulary: int, dtype: str, fill: str, message: str
) -> None:
    with pytest.raises(BadUsage, match=message):
        token_array((2, 2), vocabulary, Filling(name=fill), dtype)


def test_in_python_they_are_arrays() -> None:
    assert whet.make.image(3, 2, library="list") == [[1, 2, 3], [4, 5, 6]]
    assert whet.make.sound(2, 2, library="list") == [[1, 2], [3, 4]]
    assert json.dumps(whet.make.tokens((1, 2), library="list")) == "[[1, 2]]"
