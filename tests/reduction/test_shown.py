"""What is left of files whose bytes nobody reads, as a person reads it."""

import gzip
import io
import struct
import tarfile
import wave
import zipfile

import pytest

from whet.reduction.payload_kinds import readable
from whet.report.difference import difference


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def test_an_archive_is_shown_as_its_members() -> None:
    inner = zipped({"b.txt": b"needle\n", "c.bin": b"\xff\xfe\xfd\xfc\xfb"})
    whole = gzip.compress(tarred("top/in.zip", inner), mtime=0)

    assert readable(whole) == (
        f"gzip of 10.2 kB\ntop/in.zip  ({len(inner)} B)\n"
        "    b.txt  (7 B)\n        needle\n    c.bin  (5 B)\n        ff fe fd fc fb"
    )


def test_of_many_members_the_rest_is_counted_and_long_ones_are_told_by_their_size() -> None:
    text = str(readable(zipped({f"f{number}": b"x" * 5000 for number in range(40)})))

    assert text.splitlines()[0] == "f0  (5.0 kB)"
    assert text.splitlines()[-1] == "and 10 more"
    assert "xxx" not in text


def test_a_sound_is_shown_as_its_values() -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((2, 2, 8000, 0, "NONE", ""))
        sound.writeframes(struct.pack("<4h", 0, 32767, -1, 5))

    assert readable(file.getvalue()) == "2 channels, 16 bits, 8000 Hz, 2 frames\n0  32767\n-1  5"


def test_an_image_is_shown_as_its_pixels() -> None:
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (2, 1), (7, 0, 255)).save(file, "PNG")

    assert readable(file.getvalue()) == "PNG, 2 x 1, RGB\n(7, 0, 255)  (7, 0, 255)"


def test_what_is_read_otherwise_is_compared_otherwise() -> None:
    fails, passes = zipped({"a": b"1\n2\n"}), zipped({"a": b"1\n3\n"})

    assert difference(fails, passes) == ["     1", "-    2", "+    3"]
