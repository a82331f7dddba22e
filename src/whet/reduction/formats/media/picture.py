"""Images through Pillow: fewer frames, rows and columns, plainer colours; the file format stays."""

import io
import math
import struct
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

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

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_PIXELS = 40_000_000
_OPTIONS: dict[str, dict[str, object]] = {
    "PNG": {},
    "JPEG": {"quality": 95, "subsampling": 0},
    "GIF": {"optimize": False},
    "BMP": {},
    "TIFF": {},
    "WEBP": {"lossless": True},
}
"""How whet writes each format, as close to its pixels as possible."""

_ANIMATED = frozenset({"PNG", "GIF", "TIFF", "WEBP"})
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"RIFF")
_PLAIN_MODES = ("1", "L", "P", "RGB", "LA", "RGBA")
_BROKEN = (
    OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, KeyError, AttributeError,
    OverflowError, MemoryError, Warning, struct.error, zlib.error,
)  # fmt: skip
"""Pillow's errors on broken images, or on other files."""


class _Pixels(Protocol):
    """An image as the bytes of its pixels, with the types that Pillow leaves open."""

    def tobytes(self) -> bytes: ...
    def frombytes(self, data: bytes, /) -> None: ...


def _values(frames: Iterable[_Pixels]) -> bytes:
    return b"".join(frame.tobytes() for frame in frames)


def _fill(frame: _Pixels, values: bytes) -> None:
    frame.frombytes(values)


@value_class
class Picture:
    """An image.

    Attributes:
        payload: the file.
        format: as Pillow calls it.
        frames: at least one, of one size.
    """

    payload: bytes
    format: str
    frames: tuple["Image", ...]

    @property
    def width(self) -> int:
        """Columns."""
        return self.frames[0].width

    @property
    def height(self) -> int:
        """Rows."""
        return self.frames[0].height

    @property
    def mode(self) -> str:
        """What a pixel is, as Pillow calls it."""
        return self.frames[0].mode


def parse_picture(payload: bytes) -> Picture | None:
    """Return the frames of an image; None if it is none, broken, very large, or Pillow lacks."""
    if not payload.startswith(_MAGIC):
        return None
    try:
        from PIL import Image, ImageSequence
    except ImportError:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(payload), formats=list(_OPTIONS)) as image:
                count = int(getattr(image, "n_frames", 1))
                if image.format is None or image.width * image.height * count > _MOST_PIXELS:
                    return None
                frames = _alike([frame.copy() for frame in ImageSequence.Iterator(image)])
                return Picture(payload, image.format, frames) if frames else None
    except (*_BROKEN, Image.DecompressionBombError):
        return None


def _alike(frames: Sequence["Image"]) -> tuple["Image", ...]:
    """Return frames of one mode; none if they aren't of one size."""
    modes = {frame.mode for frame in frames}
    if len({frame.size for frame in frames}) > 1:
        return ()
    if len(modes) > 1:  # of a GIF the first is of a palette, and what is laid over it isn't
        mode = "RGBA" if any(mode.endswith("A") for mode in modes) else "RGB"
        return tuple(_converted(frame, mode) for frame in frames)
    return tuple(frames)


def _saved(picture: Picture, frames: Sequence["Image"]) -> bytes:
    """Return a file of these frames; the payload itself if the format doesn't take them."""
    file = io.BytesIO()
    options = dict(_OPTIONS[picture.format])
    if len(frames) > 1 and picture.format in _ANIMATED:
        options |= {"save_all": True, "append_images": list(frames[1:])}
    save: Callable[..., None] = frames[0].save  # which options there are is the format's matter
    try:
        save(file, picture.format, **options)
    except _BROKEN:
        return picture.payload
    return file.getvalue()


def _of_frames(picture: Picture, ranges: list[range]) -> bytes:
    return _saved(picture, [picture.frames[index] for each in ranges for index in each])


def _of_rows(picture: Picture, ranges: list[range]) -> bytes:
    boxes = [(0, each.start, picture.width, each.stop) for each in ranges]
    return _pasted(picture, boxes, (picture.width, sum(map(len, ranges))), is_across=False)


def _of_columns(picture: Picture, ranges: list[range]) -> bytes:
    boxes = [(each.start, 0, each.stop, picture.height) for each in ranges]
    return _pasted(picture, boxes, (sum(map(len, ranges)), picture.height), is_across=True)


def _pasted(
    picture: Picture,
    boxes: Sequence[tuple[int, int, int, int]],
    size: tuple[int, int],
    *,
    is_across: bool,
) -> bytes:
    frames: list[Image] = []
    for frame in picture.frames:
        made, at = frame.crop((0, 0, *size)), 0
        for box in boxes:
            made.paste(frame.crop(box), (at, 0) if is_across else (0, at))
            at += box[2] - box[0] if is_across else box[3] - box[1]
        frames.append(made)
    return _saved(picture, frames)


def _keeping(
    size_of: Callable[[Picture], int], build: Callable[[Picture, list[range]], bytes]
) -> Callable[[Picture], PassSearch]:
    def search(picture: Picture) -> PassSearch:
        return keep_some(picture.payload, size_of(picture), partial(build, picture))

    return search


def _pixel_bytes(picture: Picture) -> int:
    size = len(_values(picture.frames[:1]))
    pixels = picture.width * picture.height
    return size // pixels if size % pixels == 0 else 1  # one bit a pixel: eight in a byte


def _of_pixels(picture: Picture, values: bytes) -> bytes:
    from PIL import Image

    frames: list[Image.Image] = []
    length = len(values) // len(picture.frames)
    for number, frame in enumerate(picture.frames):
        pixels = values[number * length : (number + 1) * length]
        made = Image.new(frame.mode, frame.size)
        _fill(made, pixels)
        palette = frame.getpalette() if frame.mode == "P" else None
        if palette:
            made.putpalette(palette)
        made.info = frame.info
        frames.append(made)
    return _saved(picture, frames)


def _make_black(picture: Picture) -> PassSearch:
    width = _pixel_bytes(picture)
    values = _values(picture.frames)
    return zero_some(
        picture.payload, values, width, partial(_of_pixels, picture), zero=bytes(width)
    )


def _converted(frame: "Image", mode: str) -> "Image":
    """Return a frame in another mode; Pillow warns where it loses how transparent a colour is."""
    if isinstance(frame.info.get("transparency"), bytes):
        frame = frame.convert("RGBA")
    return frame.convert(mode)


def _make_mode_plain(picture: Picture) -> PassSearch:
    plainer = _PLAIN_MODES[: _mode_rank(picture.mode)]
    candidates = (
        _saved(picture, [_converted(frame, mode) for frame in picture.frames]) for mode in plainer
    )
    return (yield from first_that_fails(candidates)) or picture.payload


def _mode_rank(mode: str) -> int:
    return _PLAIN_MODES.index(mode) if mode in _PLAIN_MODES else len(_PLAIN_MODES)


def _drop_notes(picture: Picture) -> PassSearch:
    """Write the image again, with nothing in it but its pixels."""
    bare: list[Image] = []
    for frame in picture.frames:
        copy = frame.copy()
        copy.info = {}
        bare.append(copy)
    return (yield from first_that_fails([_saved(picture, bare)])) or picture.payload


_parse = last_view(parse_picture)


def picture_again(payload: bytes) -> bytes:
    """Return the same picture as it is written here."""
    picture = parse_picture(payload)
    return payload if picture is None else _saved(picture, picture.frames)


def _weight(payload: bytes) -> float:
    picture = _parse(payload)
    if picture is None:
        return math.inf
    return picture.width * picture.height * len(picture.frames)


def _rank(payload: bytes) -> tuple[object, ...]:
    picture = _parse(payload)
    assert picture is not None, "only what has a weight is ranked"
    values = _values(picture.frames)
    lit = len(values) - values.count(0)
    return (_mode_rank(picture.mode), lit, sum(values), *TEXT.rank(payload))


IMAGE_ORDER = Order(_weight, _rank)
"""Fewer pixels first, then plainer ones, then more black."""

IMAGE = Format(name="image", parse=last_view(parse_picture))

IMAGE_PASSES = (
    ReductionPass(
        name="delete frames of images",
        stage=Stage.STRUCTURE,
        search=_keeping(lambda picture: len(picture.frames), _of_frames),
    ),
    ReductionPass(
        name="delete rows of pixels",
        stage=Stage.STRUCTURE,
        search=_keeping(lambda picture: picture.height, _of_rows),
    ),
    ReductionPass(
        name="delete columns of pixels",
        stage=Stage.STRUCTURE,
        search=_keeping(lambda picture: picture.width, _of_columns),
    ),
    ReductionPass(name="make pixels black", stage=Stage.VALUES, search=_make_black),
    ReductionPass(name="make pixels plain", stage=Stage.VALUES, search=_make_mode_plain),
    ReductionPass(name="delete notes of images", stage=Stage.LOOKS, search=_drop_notes),
)
