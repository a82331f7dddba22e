"""Laws of the marks by which a program's looks at files are compared with the files of now."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.host.files.marks import (
    UNSURE,
    first_other,
    has_other_entries,
    listing,
    of_file,
    of_link,
    with_contents,
    without_contents,
)

NAMES = ("a", "b", "d/a", "d", "l", "gone/a")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for each in path.iterdir():
            _remove(each)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _write(path: Path) -> None:
    if path.parent.is_dir() and not path.is_dir():
        path.write_text(f"{path.stat().st_size if path.exists() else 0}x")


def _make(path: Path) -> None:
    if path.parent.is_dir() and not os.path.lexists(path):
        path.mkdir()


def _link(path: Path) -> None:
    if path.parent.is_dir() and not os.path.lexists(path):
        path.symlink_to("b")


def _change(top: Path, steps: "list[tuple[Callable[[Path], None], str]]") -> None:
    for change, name in steps:
        with suppress(OSError):  # a link that leads to itself, for one
            change(top / name)


CHANGES: "tuple[Callable[[Path], None], ...]" = (_write, _remove, _make, _link)
STEPS = st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES)), max_size=8)
SOME = st.sets(st.sampled_from(NAMES))
LOOKS = st.tuples(SOME, SOME, SOME, SOME)


@given(before=STEPS, after=STEPS, looks=LOOKS)
def test_a_change_is_seen_where_one_of_the_marks_taken_alone_would_be_another(
    tmp_path_factory: pytest.TempPathFactory,
    before: "list[tuple[Callable[[Path], None], str]]",
    after: "list[tuple[Callable[[Path], None], str]]",
    looks: tuple[set[str], set[str], set[str], set[str]],
) -> None:
    files, links, folders, places = looks
    top = tmp_path_factory.mktemp("marks")
    _change(top, before)
    marks = {str(top / name): of_file(str(top / name)) for name in files}
    of_links = {str(top / name): of_link(str(top / name)) for name in links}
    listed = {str(top / name): listing(str(top / name)) for name in folders}
    looked_in = {str(top / name): listing(str(top / name)) for name in places}
    _change(top, after)
    others = {path for path, mark in marks.items() if of_file(path) != mark}
    others |= {path for path, mark in of_links.items() if of_link(path) != mark}
    others |= {path for path, then in listed.items() if has_other_entries(path, then, None)}
    others |= {path for path, then in looked_in.items() if has_other_entries(path, then, {"a"})}

    found = first_other(marks, of_links, listed, looked_in, {"a"})

    assert found in (others or {""})


@given(before=STEPS, after=STEPS)
def test_of_a_file_that_was_only_read_what_it_holds_counts_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory,
    before: "list[tuple[Callable[[Path], None], str]]",
    after: "list[tuple[Callable[[Path], None], str]]",
) -> None:
    top = tmp_path_factory.mktemp("marks")
    path = top / "a"
    path.write_text("1x")
    _change(top, before)
    mark = of_file(str(path))
    marked = with_contents(str(path), mark)
    held = (path.stat().st_ino, path.read_bytes()) if path.is_file() else None
    _change(top, after)
    is_same = path.is_file() and (path.stat().st_ino, path.read_bytes()) == held

    assert without_contents(marked) == mark
    if held is not None:
        assert first_other({str(path): marked}, {}, {}, {}, ()) == ("" if is_same else str(path))
    else:
        assert marked == mark


def test_a_folder_that_took_the_place_of_another_one_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    mark = of_file(str(path))
    path.rename(tmp_path / "old")
    path.mkdir()

    assert first_other({str(path): mark}, {}, {}, {}, ()) == str(path)


def test_a_pipe_that_takes_the_place_of_a_file_is_waited_for_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    mark = of_file(str(path))
    path.unlink()
    os.mkfifo(path)
    asked = threading.Thread(target=with_contents, args=(str(path), mark), daemon=True)
    asked.start()
    asked.join(20)

    assert not asked.is_alive()
    assert with_contents(str(path), mark) == mark


def test_a_large_file_is_not_read_for_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    mark = of_file(str(path))

    assert with_contents(str(path), mark) == mark


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_was_too_young_to_be_trusted_counts_as_changed(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "absent")
    young = {path: UNSURE}

    assert first_other(*((young, {}) if kind == "file" else ({}, young)), {}, {}, ()) == path


def test_each_path_that_is_no_link_is_asked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for name in ("d", "d/e"):
        (tmp_path / name).mkdir()
    (tmp_path / "f").touch()
    paths = [str(tmp_path / name) for name in ("d", "d/e", "f")]
    marks, links = {path: of_file(path) for path in paths}, {path: of_link(path) for path in paths}
    listings = {path: (Path(path).stat().st_mtime_ns, *listing(path)[1:]) for path in paths[:2]}
    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, _noting(asked, getattr(os, name)))

    found = first_other(marks, links, listings, listings, {"e"})

    monkeypatch.undo()
    assert found == ""
    assert sorted(asked) == sorted(paths)


def _noting(
    asked: list[str], look: Callable[[str], os.stat_result]
) -> Callable[[str], os.stat_result]:
    def noting(path: str) -> os.stat_result:
        asked.append(path)
        return look(path)

    return noting
