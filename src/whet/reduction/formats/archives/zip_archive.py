"""Zip archives, and what are ones by another name: .jar, .whl, .docx, .xlsx.

A member is its local part and its entry in the directory at the end; both are copied as they
are, and only the places in the directory are made new. What can't be built again to the byte
(in parts, with gaps, with sizes that need 64 bits) is refused: it is reduced as bytes.
"""

import bz2
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from whet.reduction.formats.archives.archive import (
    FILE,
    FOLDER,
    OTHER,
    Archive,
    Codec,
    Member,
    archive_passes,
)
from whet.reduction.formats.text.expansion import deflate, expand, inflate, most_expanded
from whet.reduction.reduction_pass import Format, last_view

_STORED, _DEFLATED, _BZ2 = 0, 8, 12
_ENCRYPTED, _SIZES_BEHIND = 0x1, 0x8
_MIDNIGHT, _FIRST_OF_1980 = 0, 0x21

_LOCAL = struct.Struct("<4s5H3L2H")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_END64_SIGN, _LOCATOR_SIGN = b"PK\x06\x06", b"PK\x06\x07"
_BOTH64 = _END64.size + _LOCATOR.size
_LOCAL_SIGN, _ENTRY_SIGN, _END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_MOST_COMMENT = 0xFFFF


def parse_zip(payload: bytes) -> Archive | None:
    """Return the members of an archive; None if it is none, broken, or a bomb."""
    end = payload.rfind(_END_SIGN, max(0, len(payload) - _END.size - _MOST_COMMENT))
    if end < 0 or len(payload) < end + _END.size:
        return None
    fields = _END.unpack_from(payload, end)
    count, size, start = fields[4:7]
    end64 = _end64(payload, end)
    if start + size != end - len(end64):
        return None
    entries = _entries(payload[start : start + size], count)
    if entries is None:
        return None
    members, first = _members(payload, start, entries)
    if members is None:
        return None
    archive = Archive(
        payload=payload,
        head=payload[:first],
        members=tuple(members),
        tail=end64 + payload[end + _END.size :],
        codec=ZIP_CODEC,
    )
    return archive if archive.having(archive.members) == payload else None


def _end64(payload: bytes, end: int) -> bytes:
    """Return the end in 64 bits, which torch writes before that in 32 though it needs none."""
    both = payload[max(0, end - _BOTH64) : end]
    is_there = both.startswith(_END64_SIGN) and both.startswith(_LOCATOR_SIGN, _END64.size)
    return both if is_there else b""


def _entries(directory: bytes, count: int) -> list[bytes] | None:
    """Return the entries of a directory; None if they aren't whole, or expand too far."""
    entries: list[bytes] = []
    at = expanded = packed = 0
    while at < len(directory):
        if len(directory) < at + _ENTRY.size or directory[at : at + 4] != _ENTRY_SIGN:
            return None
        fields = _ENTRY.unpack_from(directory, at)
        end = at + _ENTRY.size + sum(fields[10:13])
        entries.append(directory[at:end])
        packed += fields[8]
        expanded += fields[9]
        at = end
    is_bomb = expanded > most_expanded(packed)
    return entries if at == len(directory) and len(entries) == count and not is_bomb else None


def _members(
    payload: bytes, directory: int, entries: Sequence[bytes]
) -> tuple[list[Member] | None, int]:
    """Return the members, and where the first one starts."""
    starts = [_ENTRY.unpack_from(entry)[16] for entry in entries]
    bounds = [*starts, directory]
    if any(left >= right for left, right in pairwise(bounds)):
        return None, 0  # they lie upon each other, or in another order
    members: list[Member] = []
    for entry, (start, end) in zip(entries, pairwise(bounds), strict=True):
        raw = payload[start:end]
        if len(raw) < _LOCAL.size or raw[:4] != _LOCAL_SIGN:
            return None, 0
        local = _LOCAL.unpack_from(raw)
        at, size = _LOCAL.size + local[9] + local[10], _ENTRY.unpack_from(entry)[8]
        if at + size > len(raw):
            return None, 0
        members.append(_member(raw, at, size, entry))
    return members, bounds[0]


def _member(raw: bytes, at: int, size: int, entry: bytes) -> Member:
    fields = _ENTRY.unpack_from(entry)
    path = entry[_ENTRY.size : _ENTRY.size + fields[10]]
    is_secret = bool(fields[3] & _ENCRYPTED)
    what = OTHER if is_secret else FOLDER if path.endswith(b"/") else FILE
    placeless = entry[: _ENTRY.size - 4] + bytes(4) + entry[_ENTRY.size :]
    return Member(path=path, what=what, raw=raw, at=at, size=size, entry=placeless)


def _build(head: bytes, members: Sequence[Member], tail: bytes) -> bytes:
    pieces, entries = [head], list[bytes]()
    at = len(head)
    for member in members:
        place = struct.pack("<L", at)
        entries.append(member.entry[: _ENTRY.size - 4] + place + member.entry[_ENTRY.size :])
        pieces.append(member.raw)
        at += len(member.raw)
    size, count = sum(map(len, entries)), len(members)
    end64, comment = b"", tail
    if tail.startswith(_END64_SIGN) and len(tail) >= _BOTH64:
        comment = tail[_BOTH64:]
        end64 = _END64.pack(*_END64.unpack_from(tail)[:6], count, count, size, at)
        end64 += _LOCATOR.pack(_LOCATOR_SIGN, 0, at + size, 1)
    end = _END.pack(_END_SIGN, 0, 0, count, count, size, at, len(comment))
    return b"".join((*pieces, *entries, end64, end, comment))


def _content(member: Member) -> bytes | None:
    fields = _ENTRY.unpack_from(member.entry)
    method, checksum, size = fields[4], fields[7], fields[9]
    content: bytes | None = None
    if method == _STORED:
        content = member.packed
    elif method == _DEFLATED:
        content = inflate(member.packed, size)
    elif method == _BZ2:
        content = expand(bz2.BZ2Decompressor, member.packed, size)
    return content if content is not None and zlib.crc32(content) == checksum else None


def _with_content(member: Member, content: bytes) -> Member:
    method = _ENTRY.unpack_from(member.entry)[4]
    if method == _STORED:
        packed = content
    elif method == _DEFLATED:
        packed = deflate(content)
    else:
        packed = bz2.compress(content)
    return _made(member, packed, len(content), zlib.crc32(content))


def _made(member: Member, packed: bytes, size: int, checksum: int) -> Member:
    """Return the member with other packed content; its extra fields may tell of the old one."""
    old = _ENTRY.unpack_from(member.entry)
    flags = old[3] & ~_SIZES_BEHIND
    sizes = (checksum, len(packed), size)
    local = _LOCAL.pack(_LOCAL_SIGN, old[2], flags, *old[4:7], *sizes, len(member.path), 0)
    head = local + member.path
    entry = _ENTRY.pack(*old[:3], flags, *old[4:7], *sizes, *old[10:])
    return replace(
        member,
        raw=head + packed,
        at=len(head),
        size=len(packed),
        entry=entry + member.entry[_ENTRY.size :],
    )


def _plain(member: Member) -> Member:
    """Take time, comment and extra fields away."""
    old = _ENTRY.unpack_from(member.entry)
    head = _ENTRY.pack(*old[:5], _MIDNIGHT, _FIRST_OF_1980, *old[7:11], 0, 0, *old[13:])
    timeless = replace(member, entry=head + member.path)
    return _made(timeless, member.packed, old[9], old[7])


ZIP_CODEC = Codec(
    build=_build, content=_content, with_content=_with_content, plain=_plain, plain_tail=b""
)

ZIP = Format(name="zip", parse=last_view(parse_zip))

ZIP_PASSES = archive_passes(parse_zip, "zip")
