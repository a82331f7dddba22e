"""Tar archives (POSIX and GNU), members as the blocks that they are.

A member is its header, the headers before it that say its long name, its content and padding.
"""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.value_class import value_class
from whet.reduction.formats.archives.archive import (
    FILE,
    FOLDER,
    OTHER,
    Archive,
    Codec,
    Member,
    archive_passes,
)
from whet.reduction.reduction_pass import Format, last_view

BLOCK = 512
_END = bytes(2 * BLOCK)
_MAGIC, _MAGIC_AT = b"ustar", 257
_FILES, _FOLDERS, _BEFORE = b"0\x007", b"5", b"xLK"
_SPARSE = b"S"


def parse_tar(payload: bytes) -> Archive | None:
    """Return the members of an archive; None if it is none or broken."""
    is_empty = len(payload) >= len(_END) and not payload.strip(b"\0")
    if not is_empty and payload[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] != _MAGIC:
        return None
    members: list[Member] = []
    at = 0
    while at < len(payload) and payload[at : at + BLOCK].strip(b"\0"):
        member = _member(payload, at)
        if member is None:
            return None
        members.append(member)
        at += len(member.raw)
    return Archive(
        payload=payload, head=b"", members=tuple(members), tail=payload[at:], codec=TAR_CODEC
    )


@value_class
class _Header:
    """A header block.

    Attributes:
        sign: its type.
        size: how long its content is.
        path: the name that is in it.
    """

    sign: bytes
    size: int
    path: bytes

    @property
    def padded(self) -> int:
        """How many bytes of whole blocks follow it."""
        return -(-self.size // BLOCK) * BLOCK


def _header(payload: bytes, at: int) -> _Header | None:
    block = payload[at : at + BLOCK]
    if len(block) < BLOCK:
        return None
    size, checksum = _number(block[124:136]), _number(block[148:156])
    if size is None or checksum != _checksum(block) or block[156:157] == _SPARSE:
        return None
    path = block[:100].rstrip(b"\0")
    is_posix = block[_MAGIC_AT : _MAGIC_AT + 6] == b"ustar\0"
    prefix = block[345:500].rstrip(b"\0") if is_posix else b""
    has_content = block[156:157] in (b"1", b"2", b"3", b"4", b"5", b"6")
    return _Header(
        sign=block[156:157],
        size=0 if has_content else size,
        path=prefix + b"/" + path if prefix else path,
    )


def _checksum(block: bytes) -> int:
    return sum(block[:148]) + 8 * ord(" ") + sum(block[156:])


def _number(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    try:
        return int(digits or b"0", 8)
    except ValueError:
        return None


def _member(payload: bytes, start: int) -> Member | None:
    """Return the member that starts here, with the headers that stand before its own."""
    at, path = start, b""
    while (header := _header(payload, at)) is not None:
        content = at + BLOCK
        end = content + header.padded
        if end > len(payload):
            return None
        if header.sign not in _BEFORE:
            what = FILE if header.sign in _FILES else FOLDER if header.sign in _FOLDERS else OTHER
            return Member(
                path=path or header.path,
                what=what,
                raw=payload[start:end],
                at=content - start,
                size=header.size,
            )
        path = _long_path(header.sign, payload[content : content + header.size]) or path
        at = end
    return None


def _long_path(sign: bytes, content: bytes) -> bytes:
    if sign == b"L":
        return content.rstrip(b"\0")
    for line in content.split(b"\n"):
        key, _, value = line.partition(b"=")
        if key.endswith(b" path"):
            return value
    return b""


def _build(head: bytes, members: Sequence[Member], tail: bytes) -> bytes:
    return b"".join((head, *(member.raw for member in members), tail))


def _with_content(member: Member, content: bytes) -> Member:
    headers = member.raw[: member.at - BLOCK]
    block = _signed(member.raw[member.at - BLOCK : member.at], 124, b"%011o\0" % len(content))
    padding = bytes(-len(content) % BLOCK)
    return replace(member, raw=headers + block + content + padding, size=len(content))


def _signed(block: bytes, at: int, text: bytes) -> bytes:
    """Return a header with a text in it, and its checksum."""
    block = block[:at] + text + block[at + len(text) :]
    return block[:148] + b"%06o\0 " % _checksum(block) + block[156:]


def _plain(member: Member) -> Member:
    """Take time, owners and their names away, and headers that say nothing else."""
    block = member.raw[member.at - BLOCK : member.at]
    for at, text in (
        (108, b"0000000\0" * 2),
        (136, b"%011o\0" % 0),
        (265, bytes(64)),
    ):
        block = _signed(block, at, text)
    own = _header(block, 0)
    is_all = own is not None and own.path == member.path
    headers = b"" if is_all else member.raw[: member.at - BLOCK]
    content = member.raw[member.at :]
    return replace(member, raw=headers + block + content, at=len(headers) + BLOCK)


TAR_CODEC = Codec(
    build=_build,
    content=lambda member: member.packed,
    with_content=_with_content,
    plain=_plain,
    plain_tail=_END,
)

TAR = Format(name="tar", parse=last_view(parse_tar))

TAR_PASSES = archive_passes(parse_tar, "tar")
