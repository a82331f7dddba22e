"""Archives: members first, then each where it lies."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from archives import (
    PACKERS,
    documents,
    ending_in_64_bits,
    has_list,
    tarred,
    untarred,
    unzipped,
    zipped,
)
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.archives.tar_archive import TAR, parse_tar
from whet.reduction.formats.archives.zip_archive import ZIP, parse_zip
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass

LONG = "/".join(["folder" * 5] * 9) + "/ä.txt"
MEMBERS = {"a/b.json": b'{"x": [1, 2]}', "a/c.txt": b"text\n" * 300, "empty": b"", LONG: b"e"}


def names(payload: bytes) -> list[str]:
    return [each.name for each in kinds_of(payload)]


def test_formats_keep_their_promises() -> None:
    zips = [zipped(MEMBERS), zipped(MEMBERS, zipfile.ZIP_STORED), zipped({})]
    zips += [ending_in_64_bits(each) for each in zips]
    check_format(ZIP, [*zips, zips[0] + b"?", b"PK\x05\x06", b""])
    tars = [tarred(MEMBERS, form) for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)]
    check_format(TAR, [*tars, bytes(1024), tars[0][:700], b"", b"ustar"])


@pytest.mark.parametrize("name", ["zip", "tar"])
def test_passes_keep_their_promises(name: str) -> None:
    payload = {"zip": zipped, "tar": tarred}[name](MEMBERS)
    read = {"zip": unzipped, "tar": untarred}[name]

    def is_readable(payload: bytes) -> bool:
        return read(payload).keys() <= MEMBERS.keys()

    for each in KINDS[name].passes:
        check_pass(each, [payload], is_valid=is_readable, order=KINDS[name].order)


@given(st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=40)), st.integers(0, 5))
def test_any_zip_and_tar_is_read_as_the_standard_library_reads_it(
    members: dict[str, bytes], method: int
) -> None:
    packed = zipped(
        members, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2][method % 3]
    )
    for payload, parse in ((packed, parse_zip), (tarred(members), parse_tar)):
        archive = parse(payload)
        assert archive is not None
        found = {each.path.decode(): archive.codec.content(each) for each in archive.members}
        assert found == members


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_one_of_forty_documents_in_a_zip_is_left_and_reduced(method: int) -> None:
    payload = zipped(documents(40, 17), method)

    done = shrunk(payload, fails_if(lambda it: has_list(unzipped(it))))

    assert unzipped(done.reduction.payload) == {"dir1/f17.json": b'{"a":{"b":[]}}'}
    with zipfile.ZipFile(io.BytesIO(done.reduction.payload)) as archive:
        (info,) = archive.infolist()
    assert (info.date_time, info.compress_type) == ((1980, 1, 1, 0, 0, 0), method)
    assert done.calls < 80


@pytest.mark.parametrize("packer", ["", *PACKERS])
def test_one_of_forty_documents_in_a_tar_is_left_and_reduced(packer: str) -> None:
    payload = PACKERS.get(packer, bytes)(tarred(documents(40, 17)))

    done = shrunk(payload, fails_if(lambda it: has_list(untarred(it))))

    assert names(payload) == [packer or "tar"]
    assert untarred(done.reduction.payload) == {"dir1/f17.json": b'{"a":{"b":[]}}'}
    with tarfile.open(fileobj=io.BytesIO(done.reduction.payload)) as archive:
        (info,) = archive
    assert (info.mtime, info.uname) == (0, "")
    assert len(done.reduction.payload) <= 2048
    assert done.calls < 80


def test_a_json_text_in_a_cell_of_a_table_in_a_zip_in_a_tar_is_reduced_where_it_lies() -> None:
    table = io.StringIO()
    document = {"a": {"b": [7, 8], "c": "x" * 50}, "rest": [{"n": n} for n in range(9)]}
    csv.writer(table).writerows(
        [[row, json.dumps(document if row == 3 else {"a": {"b": row}})] for row in range(8)]
    )
    inner = zipped({"notes.txt": b"nothing\n" * 50, "t.csv": table.getvalue().encode()})

    def is_wrong(payload: bytes) -> bool:
        members = unzipped(untarred(payload)["in/x.zip"])
        rows = [row for row in csv.reader(io.StringIO(members["t.csv"].decode())) if row]
        return any(has_list({"": row[1].encode()}) for row in rows)

    done = shrunk(tarred({"in/x.zip": inner, "in/y": b"z" * 99}), fails_if(is_wrong))

    (row,) = csv.reader(
        io.StringIO(unzipped(untarred(done.reduction.payload)["in/x.zip"])["t.csv"].decode())
    )
    assert json.loads(row[1]) == {"a": {"b": []}}
    assert done.calls < 180


class OneWay(io.BytesIO):
    """A stream that a zip is written to as it comes: the sizes then stand behind each member."""

    def seek(self, _offset: int, _whence: int = 0, /) -> int:
        raise io.UnsupportedOperation


def test_a_zip_that_was_written_to_a_pipe_is_reduced() -> None:
    stream = OneWay()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in documents(9, 5).items():
            archive.writestr(name, content)

    payload = stream.getvalue()
    assert b"PK\x07\x08" in payload
    done = shrunk(payload, fails_if(lambda it: has_list(unzipped(it))))

    assert unzipped(done.reduction.payload) == {"dir1/f5.json": b'{"a":{"b":[]}}'}


def test_a_zip_that_ends_as_torch_ends_its_own_is_reduced_to_one_that_can_be_read() -> None:
    payload = ending_in_64_bits(zipped(documents(40, 5)))
    plain = shrunk(payload, fails_if(lambda it: has_list(unzipped(it)))).reduction.payload
    as_torch = shrunk(
        payload, fails_if(lambda it: b"PK\6\6" in it and has_list(unzipped(it)))
    ).reduction.payload

    for each in (plain, as_torch):
        assert unzipped(each) == {"dir1/f5.json": b'{"a":{"b":[]}}'}
    assert ending_in_64_bits(plain) == as_torch


def test_a_program_before_a_zip_stays() -> None:
    file = io.BytesIO(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("__main__.py", "print(1)\n" * 30)
        archive.writestr("other.py", "x")

    done = shrunk(
        file.getvalue(),
        fails_if(lambda it: it.startswith(b"#!/") and b"print" in unzipped(it)["__main__.py"]),
    )

    assert unzipped(done.reduction.payload) == {"__main__.py": b"print"}


def test_files_that_must_be_there_are_emptied_at_once() -> None:
    members = {f"pkg/m{number}.py": b"def f():\n    return 1\n" * 20 for number in range(30)}

    done = shrunk(zipped(members), fails_if(lambda it: unzipped(it).keys() == members.keys()))

    assert set(unzipped(done.reduction.payload).values()) == {b""}
    assert done.calls < 130


def test_a_folder_of_an_archive_goes_at_once() -> None:
    members = {f"src/m{number}.py": b"x" for number in range(3)}
    members |= {f"tests/deep/t{number}.py": b"x" for number in range(200)}

    judge = fails_if(
        lambda it: [name for name in unzipped(it) if "src" in name] == list(members)[:3]
    )
    done = shrunk(zipped(members), judge)

    assert list(unzipped(done.reduction.payload)) == list(members)[:3]
    assert done.calls < 30


def test_a_member_that_cannot_be_read_is_cut_or_kept_as_it_is() -> None:
    payload = zipped({"secret": b"a" * 100, "open": b"b" * 100}, zipfile.ZIP_STORED)
    archive = parse_zip(payload)
    assert archive is not None
    secret = bytearray(payload)
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        secret[payload.index(sign) + flags] |= 1

    def is_wrong(payload: bytes) -> bool:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            return any(each.flag_bits & 1 for each in archive.infolist())

    done = shrunk(bytes(secret), fails_if(is_wrong))

    with zipfile.ZipFile(io.BytesIO(done.reduction.payload)) as left:
        (info,) = left.infolist()
    assert (info.filename, info.file_size) == ("secret", 100)
    assert b"a" * 100 in done.reduction.payload


@pytest.mark.parametrize("packer", PACKERS)
def test_a_text_in_a_compressed_file_is_reduced_as_what_it_is(packer: str) -> None:
    unpackers: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress,
        "bz2": bz2.decompress,
        "xz": lzma.decompress,
    }
    unpack = unpackers[packer]
    lines = b"".join(b"line %d\n" % number for number in range(3000))

    def is_wrong(payload: bytes) -> bool:
        try:
            return b"2718" in unpack(payload)
        except (OSError, EOFError, lzma.LZMAError):
            return False

    done = shrunk(PACKERS[packer](lines), fails_if(is_wrong))

    assert unpack(done.reduction.payload) == b"2718"
    assert done.calls < 80


def bombs() -> list[bytes]:
    zeros = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = bytes(1 << 20)
    gzip_bomb = b"".join([zeros.compress(piece) for _ in range(200)]) + zeros.flush()
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("zeros", "w") as member,
    ):
        for _ in range(200):
            member.write(piece)
    return [gzip_bomb, file.getvalue()]


@pytest.mark.slow
def test_a_bomb_is_bytes_and_takes_no_memory() -> None:
    for payload in bombs():
        tracemalloc.start()
        assert names(payload)[-1] == "bytes"
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 160 << 20


@pytest.mark.slow
def test_a_bomb_that_lies_about_its_size_is_not_unpacked() -> None:
    payload = bytearray(bombs()[1])
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", payload, payload.index(sign) + at, 10)

    archive = parse_zip(bytes(payload))

    assert archive is not None
    assert archive.codec.content(archive.members[0]) is None


@pytest.mark.parametrize("cut", [1, 30, 200, 600])
def test_what_is_broken_is_bytes(cut: int) -> None:
    for payload in (zipped(MEMBERS), *(pack(tarred(MEMBERS)) for pack in PACKERS.values())):
        assert names(payload[:-cut])[-1] == "bytes"
        assert names(payload[:-cut])[0] not in ("zip", *PACKERS)
    for pack in PACKERS.values():
        payload = pack(os.urandom(900))
        assert names(payload[:cut] + b"????" + payload[cut + 4 :])[-1] == "bytes"
    broken = tarred(MEMBERS)
    assert parse_tar(broken[:124] + b"eight" + broken[129:]) is None
    assert names(broken[:100] + b"9" + broken[101:])[0] != "tar"


def test_an_archive_that_holds_itself_is_weighed_and_reduced_to_an_end() -> None:
    payload = zipped({"x": b"needle"})
    for _ in range(8):
        payload = zipped({"in.zip": payload, "more": b"text"})

    def depth(payload: bytes) -> int:
        members = unzipped(payload)
        return depth(members["in.zip"]) + 1 if "in.zip" in members else "x" in members and 1

    done = shrunk(payload, fails_if(lambda it: depth(it) == 9))

    assert list(unzipped(done.reduction.payload)) == ["in.zip"]
    assert done.calls < 120


def test_a_package_in_a_zip_is_a_zip() -> None:
    file = io.BytesIO()
    top = Path(json.__file__).parent
    with zipfile.PyZipFile(file, "w") as archive:
        archive.writepy(os.fspath(top))

    payload = file.getvalue()

    assert names(payload) == ["zip"]
    done = shrunk(payload, fails_if(lambda it: any("scanner" in name for name in unzipped(it))))
    assert list(unzipped(done.reduction.payload)) == ["json/scanner.pyc"]
    assert unzipped(done.reduction.payload)["json/scanner.pyc"] == b""


SMALL = {"a/": b"", "a/b": b"text " * 9, "c": b""}


@given(
    st.sampled_from([zipped(SMALL), tarred(SMALL), tarred(MEMBERS, tarfile.GNU_FORMAT)]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=3),
)
def test_an_archive_with_any_bytes_changed_is_refused_or_can_be_built_again(
    payload: bytes, changes: list[tuple[float, int]]
) -> None:
    changed = bytearray(payload)
    for place, byte in changes:
        changed[int(place * (len(payload) - 1))] = byte
    for parse in (parse_zip, parse_tar):
        archive = parse(bytes(changed))
        if archive is not None:
            assert archive.having(archive.members) == changed
            for member in archive.members:
                archive.codec.content(member)
                archive.codec.plain(member)


@pytest.mark.parametrize(
    ("at", "byte", "is_read"),
    [
        (0, 0, False),  # the sign of the first member
        (26, 255, False),  # a name longer than all
        (-22 + 4, 1, False),  # a disk of many
        (-22 + 10, 9, False),  # more members than there are
        (-22 + 12, 0, False),  # a directory of another size
        (-22 + 20, 7, False),  # a comment that is not there
    ],
)
def test_a_zip_that_does_not_hold_together_is_refused(at: int, byte: int, *, is_read: bool) -> None:
    payload = bytearray(zipped({"a": b"b" * 9}))
    payload[at] = byte

    assert (parse_zip(bytes(payload)) is not None) == is_read


def test_members_that_lie_upon_each_other_are_refused() -> None:
    payload = bytearray(zipped({"a": b"x" * 50, "b": b"y" * 50}, zipfile.ZIP_STORED))
    second = payload.rindex(b"PK\x01\x02")
    payload[second + 42 : second + 46] = struct.pack("<L", 0)

    assert parse_zip(bytes(payload)) is None


def test_what_is_not_of_a_kind_is_never_better() -> None:
    for name in ("zip", "tar", "gzip", "bz2", "xz", "image", "wav"):
        assert KINDS[name].order.weight(b"PK nothing") == float("inf")


def test_a_file_of_many_streams_is_read_as_one() -> None:
    payload = gzip.compress(b"one ") + gzip.compress(b"two")

    done = shrunk(payload, fails_if(lambda it: b"e t" in gzip.decompress(it)))

    assert gzip.decompress(done.reduction.payload) == b"e t"


def test_a_tar_with_links_and_long_names_loses_what_it_can() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, sign, target in (
            (LONG, tarfile.SYMTYPE, "x" * 150),
            ("hard", tarfile.LNKTYPE, LONG),
            ("dir", tarfile.DIRTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mtime = sign, target, 1.5
            archive.addfile(info)

    def holds(payload: bytes) -> bool:
        with tarfile.open(fileobj=io.BytesIO(payload)) as archive:
            return [each.linkname for each in archive] == ["x" * 150]

    done = shrunk(file.getvalue(), fails_if(holds))

    assert holds(done.reduction.payload)
    assert len(done.reduction.payload) == 512 + 512 + 512 + 1024
