import errno
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_builder import whole

from whet.core.errors import CannotWrite, DiskFull, NotebookDamaged
from whet.core.output import BytesOutput, digest_of
from whet.notebook.blobs import BlobStore


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def files_of(store: BlobStore) -> list[Path]:
    return sorted(path for path in store.folder.rglob("*") if path.is_file())


@given(st.binary(max_size=50))
def test_what_is_put_in_comes_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    store = BlobStore(tmp_path_factory.mktemp("blobs"))

    digest = store.put_bytes(data)

    assert digest == digest_of(data)
    assert store.read(digest) == data
    assert store.holds(BytesOutput(data))
    assert store.path_of(digest).read_bytes() == data


def test_equal_contents_are_one_file_that_nobody_may_write_to(
    store: BlobStore, tmp_path: Path
) -> None:
    for _ in range(3):
        store.put_bytes(b"data")
        (tmp_path / "captured").write_bytes(b"data")
        store.adopt_file(tmp_path / "captured")

    (file,) = files_of(store)
    assert file == store.path_of(digest_of(b"data"))
    assert file.stat().st_mode & 0o222 == 0


@pytest.mark.parametrize("is_known", [True, False])
def test_a_file_is_taken_away_from_where_it_lay(
    store: BlobStore, tmp_path: Path, *, is_known: bool
) -> None:
    captured = tmp_path / "captured"
    captured.write_bytes(b"out")
    inode = captured.stat().st_ino

    output = store.keep(captured, digest_of(b"out") if is_known else None)

    assert not captured.exists()
    assert whole(output) == b"out"
    assert (output.digest, output.size_bytes) == (digest_of(b"out"), 3)
    assert store.path_of(output.digest).stat().st_ino == inode, "renamed, not copied"


def test_a_file_of_another_disk_is_copied(store: BlobStore) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == store.folder.parent.stat().st_dev:
        pytest.skip("needs a second file system: /dev/shm")
    captured = memory / f"whet-test-{os.getpid()}"
    captured.write_bytes(b"from afar")

    digest = store.adopt_file(captured)

    assert not captured.exists()
    assert store.read(digest) == b"from afar"
    assert store.path_of(digest).stat().st_mode & 0o222 == 0
    assert files_of(store) == [store.path_of(digest)]


def test_a_blob_that_a_power_cut_emptied_is_written_again(store: BlobStore, tmp_path: Path) -> None:
    digest = store.put_bytes(b"data")
    emptied = store.path_of(digest)
    emptied.unlink()
    emptied.write_bytes(b"")

    assert not store.holds(BytesOutput(b"data"))
    with pytest.raises(NotebookDamaged, match="doesn't match"):
        store.read(digest)

    store.put_bytes(b"data")
    assert store.read(digest) == b"data"

    emptied.unlink()
    emptied.write_bytes(b"")
    (tmp_path / "captured").write_bytes(b"data")
    store.adopt_file(tmp_path / "captured")
    assert store.read(digest) == b"data"


def test_a_blob_with_the_right_length_and_other_bytes_is_said_to_be_lost_and_kept_again(
    store: BlobStore,
) -> None:
    digest = digest_of(b"data")
    torn = store.path_of(digest)
    torn.parent.mkdir(parents=True)
    torn.write_bytes(bytes(4))  # a power cut may leave zeros
    output = store.output_of(digest, 4)

    assert not store.holds(output)
    uses: tuple[Callable[[], object], ...] = (
        lambda: output.head(4),
        lambda: output.tail(4),
        lambda: store.read(digest),
    )
    for use in uses:
        with pytest.raises(NotebookDamaged, match="doesn't match") as caught:
            use()
        assert "whet again" in caught.value.hint

    store.put_bytes(b"data")
    assert whole(output) == store.read(digest) == b"data"


def test_a_blob_that_is_gone_is_named(store: BlobStore) -> None:
    digest = digest_of(b"never")
    output = store.output_of(digest, 5)
    pattern = re.compile(b"x")

    uses: tuple[Callable[[], object], ...] = (
        lambda: store.read(digest),
        lambda: output.head(1),
        lambda: output.tail(1),
        lambda: output.search(pattern),
        lambda: output.search_last(pattern),
    )
    for use in uses:
        with pytest.raises(NotebookDamaged, match=str(store.path_of(digest))):
            use()


@pytest.mark.parametrize("dated", [-1_000_000, 0, 1_000_000], ids=["long ago", "now", "to come"])
def test_only_what_nobody_writes_is_swept_however_it_is_dated(
    store: BlobStore, dated: float
) -> None:
    store.sweep()
    store.put_bytes(b"kept")
    incoming = store.folder / "incoming"
    (incoming / "1-abandoned").write_bytes(b"half")
    (incoming / "no-file").mkdir()
    with store._incoming_file() as (_, written):
        for path in incoming.iterdir():
            os.utime(path, (time.time() + dated,) * 2)

        BlobStore(store.folder).sweep()

        assert sorted(incoming.iterdir()) == sorted([written, incoming / "no-file"])
    assert store.read(digest_of(b"kept")) == b"kept"


def test_sweeps_take_nothing_that_others_put_in_just_now(store: BlobStore) -> None:
    is_over = threading.Event()

    def sweep() -> None:
        while not is_over.is_set():
            BlobStore(store.folder).sweep()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for each in range(300):
            data = b"%d" % each
            assert store.read(store.put_bytes(data)) == data
    finally:
        is_over.set()
        sweeper.join()


def test_many_threads_may_put_the_same_in(store: BlobStore) -> None:
    start = threading.Barrier(4)
    contents = [bytes([each]) * 10_000 for each in range(50)]

    def put() -> None:
        start.wait()
        for data in contents:
            store.put_bytes(data)
            assert store.read(digest_of(data)) == data

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(files_of(store)) == len(contents)


@pytest.mark.parametrize("write", ["put", "adopt"])
@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, DiskFull), (errno.EROFS, CannotWrite), (errno.EIO, OSError)]
)
def test_what_cannot_be_placed_leaves_nothing_behind(
    store: BlobStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: str,
    number: int,
    kind: type[Exception],
) -> None:
    captured = tmp_path / "captured"
    captured.write_bytes(b"data")

    def refuse(_from: Path, _to: Path) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(kind):
            store.put_bytes(b"data") if write == "put" else store.adopt_file(captured)

    assert files_of(store) == []
    assert captured.read_bytes() == b"data"
    assert store.adopt_file(captured) == store.put_bytes(b"data")


def test_a_copy_that_fails_leaves_nothing_behind(
    store: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured = tmp_path / "captured"
    captured.write_bytes(b"data")

    def refuse(_from: Path, _to: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(OSError, match="Invalid cross-device link"):
            store.adopt_file(captured)

    assert files_of(store) == []
    assert captured.read_bytes() == b"data"


@given(
    data=st.binary(max_size=40) | st.text("ab\n", max_size=40).map(str.encode),
    size=st.integers(0, 50),
    pattern=st.sampled_from([rb"a+", rb"(?m)^b(a*)$", rb"(a)|b", rb"", rb"zz"]),
)
def test_a_stored_stream_answers_like_one_in_memory(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int, pattern: bytes
) -> None:
    store = BlobStore(tmp_path_factory.mktemp("blobs"))
    held, kept = BytesOutput(data), store.output_of(store.put_bytes(data), len(data))
    regex = re.compile(pattern)

    assert (kept.digest, kept.size_bytes) == (held.digest, held.size_bytes)
    assert kept.head(size) == held.head(size)
    assert kept.tail(size) == held.tail(size)
    assert kept.search(regex) == held.search(regex)
    assert kept.search_last(regex) == held.search_last(regex)
