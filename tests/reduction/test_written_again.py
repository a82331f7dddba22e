"""A failure that needs what the passes of a kind do not know of is reduced as something else."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import openpyxl
import pytest
from odd_oracles import fails_if
from PIL import Image, PngImagePlugin

from whet.core.verdict import Verdict
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reducer_of
from whet.search.proposal import run_search


def _packed_arrays() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, a=np.arange(3000), b=np.zeros((50, 50)))
    return file.getvalue()


def _needs_packing(payload: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        return any(each.compress_type == zipfile.ZIP_DEFLATED for each in archive.infolist())


def _workbook_with_a_part_of_its_own() -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for number in range(200):
        sheet.append([number, f"text {number}"])
    file = io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("custom/part.xml", "<part/>")
    return file.getvalue()


def _needs_the_part(payload: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        return any(name.startswith("custom/") for name in archive.namelist())


def _picture_with_a_chunk() -> bytes:
    noted = PngImagePlugin.PngInfo()
    noted.add(b"abCd", b"private")
    file = io.BytesIO()
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8))
    picture.save(file, "png", pnginfo=noted)
    return file.getvalue()


def _needs_the_chunk(payload: bytes) -> bool:
    return b"abCd" in payload


def _file_of_a_late_version() -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w", libver="latest") as opened:
        opened["x"] = np.random.default_rng(0).normal(size=(10, 10))
    return file.getvalue()


def _needs_the_version(payload: bytes) -> bool:
    return payload.startswith(b"\x89HDF\r\n\x1a\n\x03")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("payload", "needs", "most_bytes", "most_calls"),
    [
        pytest.param(_packed_arrays(), _needs_packing, 150, 60, id="how arrays are packed"),
        pytest.param(_workbook_with_a_part_of_its_own(), _needs_the_part, 130, 80, id="a part of a workbook"),
        pytest.param(_picture_with_a_chunk(), _needs_the_chunk, 4, 60, id="a chunk of a picture"),
        pytest.param(_file_of_a_late_version(), _needs_the_version, 9, 60, id="the version of a file"),
    ],
)  # fmt: skip
def test_what_a_kind_does_not_know_of_is_reduced_as_something_else(
    payload: bytes, needs: Callable[[bytes], bool], most_bytes: int, most_calls: int
) -> None:
    judge = fails_if(needs)
    assert judge(payload) is Verdict.BAD

    asked = list[Reduced]()

    def test(candidate: Reduced) -> Verdict:
        asked.append(candidate)
        return judge(candidate.data)

    left = run_search(reducer_of(payload, may_grow=True).reduce(), test).payload
    assert needs(left)
    assert len(left) <= most_bytes, left
    assert len(asked) <= most_calls, "ask for the reason before raising this"
