"""Archives, images and sounds as a person reads them."""

from collections.abc import Callable, Iterable, Iterator

from whet.core.text.quantity import shown_bytes, shown_count
from whet.core.value_class import value_class
from whet.reduction.formats.archives.archive import FILE, Archive
from whet.reduction.formats.media.picture import Picture
from whet.reduction.formats.media.sound import Sound

MOST_MEMBERS = 30
"""With more members, whet only counts the rest."""

MOST_CHARACTERS = 1000
"""For a longer one, whet shows only the size."""

MOST_VALUES = 32
"""The most pixels, or moments of a sound, to show."""

_MOST_RAW = 32
_DEEPEST = 3


@value_class
class NestedText:
    """What a person reads of payloads that hold others, to a depth: an archive may hold itself."""

    text: Callable[[bytes, int], str]

    def __call__(self, payload: bytes, depth: int = 0) -> str:
        """Return the text, ``depth`` containers deep."""
        return self.text(payload, depth)


def archive_text(archive: Archive, depth: int) -> str:
    """Return the members with their sizes, and below each what it holds if that is little."""
    lines: list[str] = []
    for member in archive.members[:MOST_MEMBERS]:
        name = member.path.decode("utf-8", "backslashreplace")
        content = archive.codec.content(member) if member.what == FILE else None
        if content is None:
            lines.append(f"{name}  ({'a folder' if name.endswith('/') else member.what})")
            continue
        lines.append(f"{name}  ({shown_bytes(len(content))})")
        lines += (f"    {line}" for line in content_text(content, member.name, depth).splitlines())
    if len(archive.members) > MOST_MEMBERS:
        lines.append(f"and {len(archive.members) - MOST_MEMBERS} more")
    return "\n".join(lines)


def content_text(content: bytes, name: str, depth: int) -> str:
    """Return what is in a container as a person reads it; nothing if that is long.

    Args:
        content: that, unpacked.
        name: its file name.
        depth: in how many containers it lies.
    """
    from whet.reduction.payload_kinds import kinds_of

    if depth >= _DEEPEST:
        return ""
    shown = kinds_of(content, name=name)[0].shown
    if shown is None:
        text = _plain_text(content)
    else:
        text = shown(content, depth + 1) if isinstance(shown, NestedText) else shown(content)
    return text if len(text) <= MOST_CHARACTERS else ""


def _plain_text(content: bytes) -> str:
    if len(content) > MOST_CHARACTERS:
        return ""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.hex(" ") if len(content) <= _MOST_RAW else ""


def picture_text(picture: Picture) -> str:
    """Return the size and mode of an image, and its pixels if they are few."""
    frames = "" if len(picture.frames) == 1 else f", {shown_count(len(picture.frames), 'frame')}"
    head = f"{picture.format}, {picture.width} x {picture.height}, {picture.mode}{frames}"
    if picture.width * picture.height * len(picture.frames) > MOST_VALUES:
        return head
    return "\n".join([head, *_rows(picture)])


def _rows(picture: Picture) -> Iterator[str]:
    for frame in picture.frames:
        for row in range(picture.height):
            pixels = (frame.getpixel((column, row)) for column in range(picture.width))
            yield _joined(pixels)


def sound_text(sound: Sound) -> str:
    """Return what a sound is made of, and its values if they are few: a line for each moment."""
    count = len(sound.frames) // sound.frame
    head = (
        f"{shown_count(sound.channels, 'channel')}, {8 * sound.width} bits, {sound.rate} Hz,"
        f" {shown_count(count, 'frame')}"
    )
    if count > MOST_VALUES:
        return head
    values = [
        int.from_bytes(sound.frames[at : at + sound.width], "little", signed=sound.width > 1)
        for at in range(0, len(sound.frames), sound.width)
    ]
    rows = (values[at : at + sound.channels] for at in range(0, len(values), sound.channels))
    return "\n".join([head, *map(_joined, rows)])


def _joined(values: Iterable[object]) -> str:
    return "  ".join(map(str, values))
