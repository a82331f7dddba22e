"""A file whose library doesn't come back is refused, and whet doesn't wait for it or die of it."""

import io
import os
import select
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from whet.core.errors import PayloadUnreadable
from whet.workbench.files.first_reading import read_first_elsewhere

pytestmark = pytest.mark.slow
# Its library follows a circle of blocks for ever; a fuzzer has found it.
_ENDLESS = Path(__file__).parents[2] / "specimens" / "hostile_payloads" / "endless.h5"
_PROGRAM = """
import sys
from whet.core.errors import PayloadUnreadable
from whet.workbench.files.first_reading import read_first_elsewhere
try:
    read_first_elsewhere(open(sys.argv[1], "rb").read(), "endless.h5", patience_seconds=300.0)
except PayloadUnreadable as error:
    print(error)
"""


def test_a_file_on_which_its_library_goes_round_for_ever_is_refused() -> None:
    pytest.importorskip("h5py")

    with pytest.raises(PayloadUnreadable, match=r"`endless\.h5` did not come to an end within 3 s"):
        read_first_elsewhere(_ENDLESS.read_bytes(), "endless.h5", patience_seconds=3.0)


@pytest.mark.long
@pytest.mark.parametrize("packing", ["zip", "tar", "tar.gz in zip"])
def test_such_a_file_in_an_archive_is_refused_too(packing: str) -> None:
    pytest.importorskip("h5py")
    data, name = _ENDLESS.read_bytes(), "a.h5"
    if packing != "zip":
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz" if "gz" in packing else "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        data, name = packed.getvalue(), "a.tar.gz"
    if "zip" in packing:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, data)
        data = packed.getvalue()

    with pytest.raises(PayloadUnreadable, match=r"`all\.bin` did not come to an end within 5 s"):
        read_first_elsewhere(data, "all.bin", patience_seconds=5.0)


@pytest.mark.long
def test_a_library_that_is_killed_does_not_take_whet_with_it() -> None:
    pytest.importorskip("h5py")
    done = subprocess.run(
        ["prlimit", "--cpu=5:60", sys.executable, "-c", _PROGRAM, str(_ENDLESS)],
        capture_output=True,
        text=True,
        check=True,
        timeout=250,
    )

    assert "`endless.h5` was killed by signal 24" in done.stdout


@pytest.mark.parametrize("data", [b"a,b\n1,2\n", b"", b"\0" * 100, b"\x89HDF\r\n\x1a\n\0\0"])
def test_a_file_whose_reading_ends_is_taken_whether_or_not_it_is_whole(data: bytes) -> None:
    read_first_elsewhere(data, "data.bin")


def test_a_library_that_aborts_as_python_ends_has_read_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow's threads, if they are still starting then, do so: once in fifty times on a busy machine."""
    mark = tmp_path / "loaded"
    (tmp_path / "pyarrow.py").write_text(
        f"import atexit, os\natexit.register(os.abort)\nopen({str(mark)!r}, 'w').close()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    read_first_elsewhere(b"PAR1\0\0PAR1", "t.parquet")

    assert mark.exists()


def test_the_reader_of_a_whet_that_was_killed_is_ended_by_the_kernel() -> None:
    pytest.importorskip("h5py")
    program = _PROGRAM.replace("patience_seconds=300.0", "patience_seconds=2.0")
    with subprocess.Popen([sys.executable, "-c", program, str(_ENDLESS)]) as whet:
        children = Path(f"/proc/{whet.pid}/task/{whet.pid}/children")
        while not (found := children.read_text().split()):
            assert whet.poll() is None
            time.sleep(0.005)
        reader = os.pidfd_open(int(found[0]))
        whet.kill()
    poll = select.poll()
    poll.register(reader, select.POLLIN)

    assert poll.poll(60_000), "the process that reads lives on"


@pytest.mark.long
@pytest.mark.parametrize(
    "words", [("sample", "t.parquet"), ("make", "table", "--like", "t.parquet", "--rows", "2")]
)
@pytest.mark.parametrize(
    ("library", "happened"),
    [
        ("import os\nos.abort()\n", "was killed by signal 6"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n", "was killed by signal 24"),
        ("bytearray(1 << 60)\n", "needs more memory than there is"),
    ],
)
def test_a_table_whose_library_ends_the_process_does_not_take_whet_with_it(
    tmp_path: Path, words: tuple[str, ...], library: str, happened: str
) -> None:
    """A fuzzer has found two Parquet files for which Arrow's library aborts."""
    (tmp_path / "here").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "pyarrow.py").write_text(library)
    (tmp_path / "here" / "t.parquet").write_bytes(b"PAR1\0\0PAR1")
    paths = [str(tmp_path / "lib"), *sys.path]
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=tmp_path / "here", capture_output=True, text=True, check=False, timeout=100,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths),
             "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip

    assert done.returncode == PayloadUnreadable.exit_code, done.stderr
    assert f"the library that reads files such as `t.parquet` {happened}" in done.stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["t.parquet"]
