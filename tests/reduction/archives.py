"""Real archives, made by the standard library."""

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def ending_in_64_bits(payload: bytes) -> bytes:
    """Return a zip without a comment as torch ends its own: with the 64-bit record as well."""
    place = len(payload) - 22
    count, size, start = struct.unpack_from("<HLL", payload, place + 10)
    record = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 798, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, place, 1)
    return payload[:place] + record + locator + payload[place:]


def unzipped(payload: bytes) -> dict[str, bytes]:
    if not zipfile.is_zipfile(io.BytesIO(payload)):
        raise ValueError(payload[:20])
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def tarred(members: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name.rstrip("/"))
            info.size, info.mtime, info.uname = len(content), 1_500_000_000, "ada"
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def untarred(payload: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(payload)) as archive:
        found: dict[str, bytes] = {}
        for member in archive:
            file = archive.extractfile(member)
            found[member.name] = b"" if file is None else file.read()
        return found


def documents(count: int, culprit: int) -> dict[str, bytes]:
    """Return files of JSON in four folders, one of which has a list where the others have none."""
    odd = {"a": {"b": [7, 8], "c": "x" * 50}, "rest": [{"n": n} for n in range(30)]}
    return {
        f"dir{number % 4}/f{number}.json": json.dumps(
            odd if number == culprit else {"a": {"b": number}}
        ).encode()
        for number in range(count)
    }


def has_list(members: Mapping[str, bytes]) -> bool:
    return any(isinstance(json.loads(each)["a"]["b"], list) for each in members.values())
