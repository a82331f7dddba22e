"""A stream is kept whole, however it comes in pieces."""

import hashlib
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from whet.core.output import BytesOutput, Output
from whet.host.trial.capture import IN_MEMORY_BYTES, Capturing, FileOutput, keep_in_place

_PIECES = st.lists(st.binary(max_size=40), max_size=30)
_BIG = os.urandom(IN_MEMORY_BYTES)


def _capture(folder: Path, pieces: list[bytes], *, from_terminal: bool = False) -> Output:
    capturing = Capturing(folder, lambda _path: None, from_terminal=from_terminal)
    for piece in pieces:
        capturing.feed(memoryview(piece))
    return keep_in_place(capturing.finish())


@given(pieces=_PIECES, place_of_big=st.none() | st.integers(0, 30))
def test_any_pieces_give_the_whole(pieces: list[bytes], place_of_big: int | None) -> None:
    if place_of_big is not None:
        pieces = [*pieces[:place_of_big], _BIG, *pieces[place_of_big:]]
    whole = b"".join(pieces)
    with TemporaryDirectory() as folder:
        output = _capture(Path(folder), pieces)

        assert isinstance(output, BytesOutput if len(whole) <= IN_MEMORY_BYTES else FileOutput)
        assert output.size_bytes == len(whole)
        assert output.digest == hashlib.sha256(whole).hexdigest()
        assert output.head(50) == whole[:50]
        assert output.tail(50) == whole[-50:]
        assert output.tail(10**6) == whole


@given(
    text=st.lists(st.sampled_from([b"\n", b"\r", b"a"]), max_size=30).map(b"".join), data=st.data()
)
def test_what_a_terminal_adds_is_taken_away_again(text: bytes, data: st.DataObject) -> None:
    shown = text.replace(b"\n", b"\r\n")  # what ONLCR does
    cuts = sorted(data.draw(st.sets(st.integers(0, len(shown)), max_size=5)))
    pieces = [shown[a:b] for a, b in zip([0, *cuts], [*cuts, len(shown)], strict=True)]
    with TemporaryDirectory() as folder:
        assert _capture(Path(folder), pieces, from_terminal=True).head(100) == text


def test_a_file_is_searched_from_both_ends(tmp_path: Path) -> None:
    output = _capture(tmp_path, [b"x: 1\n", _BIG.replace(b"x", b"y"), b"x: 2\nend"])
    assert isinstance(output, FileOutput)
    pattern = re.compile(rb"x: (\d)")

    assert output.search(pattern) == b"1"
    assert output.search_last(pattern) == b"2"
    assert output.search(re.compile(rb"end$")) == b"end"
    assert output.search(re.compile(rb"x: 3")) is None


def test_an_empty_file_can_be_searched(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    output = FileOutput(path=tmp_path / "empty", digest="", size_bytes=0)

    assert output.search(re.compile(b"x")) is None
    assert output.search_last(re.compile(b"x*")) == b""
