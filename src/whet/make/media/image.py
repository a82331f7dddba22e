"""Images: PNG and PNM with the same bytes on every machine; other formats by Pillow."""

import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from whet.core.errors import BadUsage, LibraryMissing
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import dtype_named
from whet.make.elements.fills import Filling
from whet.make.words import unknown_word

MODES = {"L": 1, "RGB": 3, "RGBA": 4}
"""How many channels each mode has."""

IMAGE_TYPES = ("uint8", "uint16")
"""What a pixel's values may be."""

_PNG_COLOURS = {1: 0, 3: 2, 4: 6}
_MOST_STORED = 65535
_TWO_BYTES = 2


def image_array(width: int, height: int, mode: str, dtype: object, filling: Filling) -> FilledArray:
    """Return the values of an image, a row for each line of it.

    Raises:
        BadUsage: if there is no such mode, type or fill, or the image would have no pixels.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    if mode not in MODES:
        raise unknown_word("mode of an image", mode, MODES)
    known = dtype_named(dtype)
    if known.name not in IMAGE_TYPES:
        raise unknown_word("type of an image", known.name, IMAGE_TYPES)
    if min(width, height) < 1:
        raise BadUsage(f"an image can't be {width} by {height}", hint="at least 1 by 1")
    if filling.name in {"ramp", "random"} and filling.high is None:
        filling = replace(filling, high=known.high)
    shape = (height, width) if MODES[mode] == 1 else (height, width, MODES[mode])
    return filled_array(shape, known.name, filling)


def _rows(image: FilledArray) -> list[bytes]:
    """Return the rows, their numbers in big-endian order, as both formats have them."""
    content = bytearray(image.content)
    if image.dtype.width == _TWO_BYTES:
        content[::2], content[1::2] = content[1::2], content[::2]
    length = len(content) // image.shape[0]
    return [bytes(content[start : start + length]) for start in range(0, len(content), length)]


def _channels(image: FilledArray) -> int:
    return image.shape[2] if image.shape[2:] else 1


def png(image: FilledArray) -> bytes:
    """Return an image as PNG. Its data are stored, as zlib's compression differs by version."""
    height, width = image.shape[:2]
    depth, colour = 8 * image.dtype.width, _PNG_COLOURS[_channels(image)]
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    data = b"".join(b"\x00" + row for row in _rows(image))
    chunks = ((b"IHDR", header), (b"IDAT", _stored(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stored(data: bytes) -> bytes:
    """Return a stream of zlib with nothing compressed."""
    pieces = [data[at : at + _MOST_STORED] for at in range(0, len(data), _MOST_STORED)] or [b""]
    blocks = [
        struct.pack("<BHH", at == len(pieces) - 1, len(each), len(each) ^ 0xFFFF) + each
        for at, each in enumerate(pieces)
    ]
    return b"\x78\x01" + b"".join(blocks) + struct.pack(">I", zlib.adler32(data))


def pnm(image: FilledArray) -> bytes:
    """Return an image as PGM or PPM."""
    height, width = image.shape[:2]
    kinds = {1: b"P5", 3: b"P6"}
    if _channels(image) not in kinds:
        raise BadUsage("PNM has no transparency", hint="choose `--mode RGB`, or `.png`")
    most = 256**image.dtype.width - 1
    return (
        kinds[_channels(image)] + f"\n{width} {height}\n{most}\n".encode() + b"".join(_rows(image))
    )


def _pillow(ending: str) -> Callable[[FilledArray], bytes]:
    def write(image: FilledArray) -> bytes:
        try:
            library = import_module("PIL.Image")
        except ImportError as error:
            raise LibraryMissing(
                f"whet writes {ending} with Pillow, which isn't installed here",
                hint="`pip install 'whet[formats]'`, or choose `.png` or `.ppm`",
            ) from error
        stream, read = io.BytesIO(), library.open(io.BytesIO(png(image)))
        try:
            read.save(stream, library.registered_extensions()[ending])
        except (OSError, KeyError, ValueError) as error:
            raise BadUsage(
                f"a {ending} file has no place for this image: {error}",
                hint="choose another `--mode` or `--dtype`, or `.png`",
            ) from error
        return stream.getvalue()

    return write


IMAGE_FILES: dict[str, Callable[[FilledArray], bytes]] = {
    ".png": png,
    ".ppm": pnm,
    ".pgm": pnm,
    **{each: _pillow(each) for each in (".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tiff")},
}
"""The files that there are, by their endings."""
