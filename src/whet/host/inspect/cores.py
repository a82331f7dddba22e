"""Core files: the program of a core file, and where the kernel would write one.

A core is an ELF file; its note ``NT_FILE`` lists the mapped files: core(5), elf(5).
"""

import os
import resource
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from whet.host.inspect.spying import core_pattern

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NOTE = struct.Struct("<III")
_PT_NOTE, _NT_FILE, _ET_CORE = 4, 0x46494C45, 4
_MOST_NOTE_BYTES = 64 << 20


def program_of_core(core: Path) -> str:
    """Return the file that the crashed process ran; empty: the core doesn't tell."""
    with suppress(OSError, struct.error, ValueError, IndexError), open(core, "rb") as file:
        for note in _file_notes(file):
            names = _names(note)
            if names:
                return os.fsdecode(names[0])
    return ""


def _file_notes(file: BinaryIO) -> Iterator[bytes]:
    """Yield what each ``NT_FILE`` note holds."""
    header = file.read(_HEADER.size)
    kind, _, _, _, start, _, _, _, size, count, *_ = _HEADER.unpack(header)
    if not header.startswith(_MAGIC) or kind != _ET_CORE:
        return
    for number in range(count):
        file.seek(start + number * size)
        segment, _, offset, _, _, length, _, _ = _SEGMENT.unpack(file.read(_SEGMENT.size))
        if segment == _PT_NOTE and length <= _MOST_NOTE_BYTES:
            file.seek(offset)
            yield from _of_kind(file.read(length), _NT_FILE)


def _of_kind(notes: bytes, wanted: int) -> Iterator[bytes]:
    place = 0
    while place + _NOTE.size <= len(notes):
        name_bytes, length, kind = _NOTE.unpack_from(notes, place)
        begin = place + _NOTE.size + _padded(name_bytes)
        if kind == wanted:
            yield notes[begin : begin + length]
        place = begin + _padded(length)


def _padded(length: int) -> int:
    return (length + 3) & ~3


def _names(note: bytes) -> list[bytes]:
    """Return the mapped files, in the order of their addresses: the program stands first."""
    (count,) = struct.unpack_from("<Q", note)
    return note[16 + 24 * count :].split(b"\0")[:count]


def why_no_core() -> str:
    """Return how to get a core file of a crash, in words."""
    soft, _ = resource.getrlimit(resource.RLIMIT_CORE)
    limit = "raise the limit from 0 first (`ulimit -c unlimited`); then " if soft == 0 else ""
    return f"{limit}{core_pattern() or 'the kernel writes cores'}"
