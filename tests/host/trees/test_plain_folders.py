"""The code of a folder in no repository is kept, and no more of it than belongs to the code."""

import os
import shutil
from pathlib import Path

import pytest
from user_repository import UserRepository, files_in

from whet.core.trial import CodeState
from whet.host.code.code_changes import describe_changes, diff_text
from whet.host.code.code_snapshots import Snapshot, take_snapshot
from whet.host.code.plain_folders import look_through
from whet.host.code.worktrees import Worktrees
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository

LIMIT_BYTES = 1000


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    write(top / "train.py", "a\nb\n")
    write(top / "package" / "model.py", "x = 1\n")
    return top


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def snapshot_of(top: Path, folder: Path | None = None) -> Snapshot:
    return take_snapshot(
        folder or top,
        state=top.parent / "state",
        root=top,
        keep_untracked_below_bytes=LIMIT_BYTES,
    )


def code_of(top: Path) -> CodeState:
    taken = snapshot_of(top)
    assert taken.code is not None, taken.notes
    return taken.code


def restored(code: CodeState, tmp_path: Path) -> Path:
    repository = Repository.keeping(Path(code.repository))
    journal = CleanupJournal(tmp_path / "made")
    slot = Worktrees(repository, journal, tmp_path / "slots").checkout_code(code)
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(slot, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    journal.discard_all()
    assert not slot.exists()
    return copy


def test_every_state_of_a_plain_folder_comes_back_byte_for_byte(top: Path, tmp_path: Path) -> None:
    before = files_in(top)
    first = code_of(top)
    write(top / "train.py", "a\r\nc\n")
    write(top / "new name.py", "")
    (top / "package" / "model.py").unlink()
    (top / "link").symlink_to("train.py")
    (top / "train.py").chmod(0o755)
    second = code_of(top / ".")
    after = files_in(top)

    assert files_in(restored(first, tmp_path)) == before
    assert files_in(restored(second, tmp_path)) == after
    assert describe_changes(first, second).startswith("train.py +2 −2, link +1 −0")
    assert "+c" in diff_text(first, second)
    assert code_of(top) == second
    assert files_in(top) == after


def test_a_folder_below_the_projects_has_the_projects_code_and_one_beside_its_own(
    top: Path, tmp_path: Path
) -> None:
    write(tmp_path / "beside" / "a.py", "1\n")

    assert snapshot_of(top, top / "package").code == code_of(top)
    beside = snapshot_of(top, tmp_path / "beside").code
    assert beside is not None
    assert beside.repository == str(tmp_path / "beside")


def test_what_is_ignored_made_or_installed_is_no_code(top: Path, tmp_path: Path) -> None:
    code = code_of(top)
    write(top / ".gitignore", "out/\n*.log\n")
    with_rules = code_of(top)
    write(top / "out" / "a", "1")
    write(top / "b.log", "1")
    write(top / "__pycache__" / "a.pyc", "1")
    write(top / "web" / "node_modules" / "a" / "index.js", "1")
    write(top / "env-3" / "pyvenv.cfg", "")
    write(top / "env-3" / "lib" / "a.py", "")
    write(top / "target" / "CACHEDIR.TAG", "")
    write(top / "target" / "big", "")

    assert code.tree != with_rules.tree
    assert code_of(top) == with_rules
    assert sorted(files_in(restored(with_rules, tmp_path))) == [
        ".gitignore", "package/model.py", "train.py",
    ]  # fmt: skip


def test_a_file_that_is_too_large_counts_by_name_size_and_time(top: Path) -> None:
    write(top / "weights", "1" * (LIMIT_BYTES + 1))
    for number in range(4):
        write(top / f"part{number}", str(number) * (LIMIT_BYTES - 100))
    code = code_of(top)

    kept_aside = [entry.split()[0] for entry in code.large_files]
    assert kept_aside == ["part2", "part3", "weights"]
    write(top / "weights", "2" * LIMIT_BYTES)
    assert code_of(top).tree != code.tree


def many_files(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{number}.png").touch()


def test_a_folder_with_many_files_is_left_out_and_said_once(top: Path, tmp_path: Path) -> None:
    many_files(top / "data" / "images", 1001)
    write(top / "data" / "labels.csv", "1\n")
    taken = snapshot_of(top)
    assert taken.code is not None
    assert taken.notes == ("not kept with the code, for its many files: `data/images`",)
    assert snapshot_of(top).notes == ()
    assert sorted(files_in(restored(taken.code, tmp_path))) == [
        "data/labels.csv", "package/model.py", "train.py",
    ]  # fmt: skip

    shutil.rmtree(top / "data" / "images")
    write(top / "data" / "images" / "1.png", "1")
    again = snapshot_of(top)
    assert again.code is not None
    assert "data/images/1.png" in files_in(restored(again.code, tmp_path))


def test_many_folders_with_many_files_are_left_out_together(top: Path) -> None:
    for number in range(5):
        many_files(top / "data" / f"class_{number}", 900)

    assert snapshot_of(top).notes == ("not kept with the code, for its many files: `data`",)
    assert len(look_through(str(top)).notes) == 1
    write(top / ".gitignore", "data\n")
    assert look_through(str(top)).notes == ()


def test_of_a_folder_with_too_many_files_nothing_is_kept_and_that_is_said_once(
    tmp_path: Path,
) -> None:
    top = tmp_path / "heap"
    many_files(top, 3001)
    taken = snapshot_of(top)

    assert taken.code is None
    assert "holds 3,001 files; in a git repository" in taken.notes[0]
    assert snapshot_of(top) == Snapshot()


def test_a_home_a_folder_above_it_and_one_of_everybody_are_never_looked_through(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(top / "package"))
    for folder in (top / "package", top, tmp_path, Path("/"), Path("/usr"), Path("/proc/self")):
        looked = look_through(str(folder))
        assert not looked.is_kept, folder
        assert looked.notes[0].startswith("no code is kept with the trial: "), folder
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert look_through(str(top)).is_kept
    top.chmod(0o1777)
    assert "others can write to" in look_through(str(top)).notes[0]


def test_a_folder_that_becomes_a_repository_keeps_its_earlier_code(
    top: Path, tmp_path: Path
) -> None:
    before = files_in(top)
    first = code_of(top)
    user = UserRepository(top)
    user.git("init", "--quiet")
    write(top / "train.py", "changed\n")
    user.git("add", "--all")
    user.git("commit", "--quiet", "--message", "first")
    second = code_of(top)

    assert second.commit
    assert "train.py" in describe_changes(first, second)
    assert files_in(restored(first, tmp_path)) == before
    shutil.rmtree(top / ".git")
    assert code_of(top).commit == ""


def test_a_repository_inside_counts_by_its_commit_and_changes(top: Path) -> None:
    inner = UserRepository.with_two_files(top / "inner")
    clean = code_of(top)
    assert code_of(top) == clean
    inner.write("train.py", "changed\n")

    assert code_of(top).tree != clean.tree


def test_nothing_is_left_in_the_folder(top: Path) -> None:
    before = files_in(top)
    code_of(top)

    assert files_in(top) == before
    assert not os.path.lexists(top / ".git")


def test_a_folder_with_a_line_end_in_its_name_is_left_out_as_it_is_said(
    top: Path, tmp_path: Path
) -> None:
    for number in range(1001):
        write(top / "a\nb" / str(number), "")
    code = code_of(top)

    assert set(files_in(restored(code, tmp_path))) == {"train.py", "package/model.py"}
