import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from user_repository import UserRepository, files_in

from whet.core.trial import CodeState
from whet.host.code.code_changes import describe_changes, diff_text, file_changes
from whet.host.code.code_restore import restore
from whet.host.code.code_snapshots import Snapshot, take_snapshot
from whet.host.code.search_stamp import code_without
from whet.host.process.git import GitFailedError, Repository
from whet.host.process.object_store import object_store

LIMIT = 1000


@pytest.fixture
def user(tmp_path: Path) -> UserRepository:
    return UserRepository.with_two_files(tmp_path / "project")


def snapshot_of(user: UserRepository, *, state: Path | None = None) -> Snapshot:
    return take_snapshot(
        user.top, state=state or user.top / ".whet", keep_untracked_below_bytes=LIMIT
    )


def code_of(user: UserRepository) -> CodeState:
    code = snapshot_of(user).code
    assert code is not None
    return code


def check_sound(user: UserRepository, *, expect_notes: bool = False) -> CodeState:
    """Check that a snapshot holds every file as it is and leaves all of the user's alone."""
    before = user.possessions()
    taken = snapshot_of(user)
    assert user.possessions() == before
    assert taken.code is not None, taken.notes
    assert expect_notes or taken.notes == ()
    assert snapshot_of(user).code == taken.code
    folder = user.top.parent / "restored"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    restore(Repository(user.top), taken.code, folder)
    assert files_in(folder) == files_in(user.top)
    assert user.possessions() == before
    user.git("fsck")
    return taken.code


def test_a_clean_tree_is_its_commit_and_makes_no_object(user: UserRepository) -> None:
    objects = user.git("count-objects", "-v")

    code = code_of(user)

    assert code.commit == user.git("rev-parse", "HEAD")
    assert code.tree == user.git("rev-parse", "HEAD^{tree}")
    assert code.snapshot is None
    assert user.git("count-objects", "-v") == objects
    assert user.git("for-each-ref", "refs/whet") == ""


def edit(user: UserRepository) -> None:
    user.write("train.py", "a\nc\n")


def stage(user: UserRepository) -> None:
    edit(user)
    user.git("add", "train.py")
    user.write("train.py", "a\nd\n")


def add_untracked(user: UserRepository) -> None:
    user.write("new/deep/file.txt", "hello")


def delete(user: UserRepository) -> None:
    (user.top / "train.py").unlink()


def delete_folder(user: UserRepository) -> None:
    shutil.rmtree(user.top / "package")


def remove_from_index(user: UserRepository) -> None:
    user.git("rm", "--quiet", "--cached", "train.py")


def make_executable(user: UserRepository) -> None:
    (user.top / "train.py").chmod(0o755)


def make_executable_unseen(user: UserRepository) -> None:
    user.git("config", "core.fileMode", "false")
    make_executable(user)


def link(user: UserRepository) -> None:
    (user.top / "link").symlink_to("nowhere")
    (user.top / "folder-link").symlink_to("package")


def file_becomes_link(user: UserRepository) -> None:
    (user.top / "train.py").unlink()
    (user.top / "train.py").symlink_to("package/model.py")


def file_becomes_folder(user: UserRepository) -> None:
    (user.top / "train.py").unlink()
    user.write("train.py/inside", "x")


def folder_becomes_file(user: UserRepository) -> None:
    shutil.rmtree(user.top / "package")
    user.write("package", "x")


def folder_becomes_link(user: UserRepository) -> None:
    shutil.move(user.top / "package", user.top / "moved")
    (user.top / "package").symlink_to("moved")


def file_becomes_pipe(user: UserRepository) -> None:
    (user.top / "train.py").unlink()
    os.mkfifo(user.top / "train.py")


def socket_and_pipe(user: UserRepository) -> None:
    os.mkfifo(user.top / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(user.top / "socket"))
    edit(user)


def odd_names(user: UserRepository) -> None:
    for name in (b"new\nline", b"tab\t", b"q\"uote'", b"b\\ack", b"not-utf8-\xff\xfe", b" space ",
                 b"-rf", b":(top)x", b"*", b"git~1", b"a\x0bb", b"\xe2\x80\xa8", b"#x", b"!x"):  # fmt: skip
        Path(user.top, os.fsdecode(name)).write_bytes(name)


def ignored_but_tracked(user: UserRepository) -> None:
    user.write(".gitignore", "*.log\nbuild/\n")
    user.write("tracked.log", "1")
    user.git("add", "--force", "tracked.log")


def tracked_then_ignored(user: UserRepository) -> None:
    user.write(".gitignore", "train.py\n")
    edit(user)


def line_ends(user: UserRepository) -> None:
    user.write(".gitattributes", "*.txt text eol=crlf\n*.py text=auto\n")
    user.write("dos.txt", b"a\r\nb\r\n")
    user.write("mixed.py", b"a\r\nb\n")
    user.commit("line ends")
    user.write("train.py", b"a\r\nb\r\n")


def auto_crlf(user: UserRepository) -> None:
    user.git("config", "core.autocrlf", "true")
    user.write("dos.txt", b"a\r\nb\n")


def ident(user: UserRepository) -> None:
    user.write(".gitattributes", "*.py ident\n")
    user.write("ident.py", "# $Id$\n")
    user.commit("ident")
    user.write("ident.py", "# $Id: changed $\n")


def other_encoding(user: UserRepository) -> None:
    user.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE-BOM\n")
    user.write("wide.txt", "wide\n".encode("utf-16"))


def lossy_filter(user: UserRepository) -> None:
    user.write(".gitattributes", "*.nb filter=strip\n")
    user.git("config", "filter.strip.clean", "grep -v out || true")
    user.write("book.nb", "in\nout 1\n")
    user.commit("a book")
    user.write("book.nb", "in\nout 2\n")


def failing_filter(user: UserRepository) -> None:
    user.write(".gitattributes", "*.bin filter=gone\n")
    user.git("config", "filter.gone.clean", "no-such-program-xyz")
    user.git("config", "filter.gone.required", "true")
    user.write("data.bin", "x")


def assume_unchanged(user: UserRepository) -> None:
    user.git("update-index", "--assume-unchanged", "train.py")
    edit(user)


def skip_worktree(user: UserRepository) -> None:
    user.git("update-index", "--skip-worktree", "train.py")
    edit(user)


def sparse_checkout(user: UserRepository) -> None:
    user.git("sparse-checkout", "set", "--no-cone", "package")
    user.write("package/model.py", "x = 2\n")


def sparse_index(user: UserRepository) -> None:
    user.git("sparse-checkout", "set", "--cone", "--sparse-index", "package")


def split_index(user: UserRepository) -> None:
    user.git("update-index", "--split-index")
    edit(user)


def intent_to_add(user: UserRepository) -> None:
    user.write("later.py", "later")
    user.git("add", "--intent-to-add", "later.py")


def conflict(user: UserRepository) -> None:
    user.git("switch", "--quiet", "--create", "side")
    user.write("train.py", "side\n")
    user.commit("side")
    user.git("switch", "--quiet", "main")
    user.write("train.py", "main\n")
    user.commit("main")
    user.git("merge", "side", check=False)


def rebase(user: UserRepository) -> None:
    conflict(user)
    user.git("merge", "--abort")
    user.git("rebase", "side", check=False)


def detached(user: UserRepository) -> None:
    user.git("checkout", "--quiet", "--detach")
    edit(user)


def packed(user: UserRepository) -> None:
    user.git("pack-refs", "--all")
    user.git("gc", "--quiet")
    edit(user)


def monitored(user: UserRepository) -> None:
    # A monitor that says that nothing ever changes.
    monitor = user.write("../monitor", "#!/bin/sh\nprintf 'token\\0'\n")
    monitor.chmod(0o755)
    user.git("config", "core.fsmonitor", str(monitor))
    user.git("config", "core.untrackedCache", "true")
    user.git("status")
    edit(user)


def stashed(user: UserRepository) -> None:
    edit(user)
    user.git("stash")
    user.write("train.py", "after the stash\n")


def excluded_by_settings(user: UserRepository) -> None:
    user.write("../ignore", "*.tmp\n")
    user.git("config", "core.excludesFile", str(user.top.parent / "ignore"))
    user.git("config", "status.showUntrackedFiles", "no")
    user.git("config", "index.skipHash", "true")
    add_untracked(user)


def with_notes_and_hooks(user: UserRepository) -> None:
    for hook in ("reference-transaction", "post-index-change", "pre-commit", "post-checkout"):
        script = user.write(f".git/hooks/{hook}", "#!/bin/sh\necho ran >> hook-ran\nexit 1\n")
        script.chmod(0o755)
    user.git("config", "core.logAllRefUpdates", "always")
    user.write("train.py", "hooked\n")


def unborn(user: UserRepository) -> None:
    shutil.rmtree(user.top / ".git")
    user.git("init", "--quiet", "--initial-branch=main")


def empty_and_unborn(user: UserRepository) -> None:
    unborn(user)
    delete(user)
    delete_folder(user)


def git_file_that_is_none(user: UserRepository) -> None:
    user.write("package/.gitattributes", "* text\n")
    (user.top / "package" / ".gitkeep").write_text("")


STATES: list[Callable[[UserRepository], None]] = [
    edit, stage, add_untracked, delete, delete_folder, remove_from_index, make_executable,
    make_executable_unseen, link, file_becomes_link, file_becomes_folder, folder_becomes_file,
    folder_becomes_link, file_becomes_pipe, socket_and_pipe, odd_names, ignored_but_tracked,
    tracked_then_ignored, line_ends, auto_crlf, ident, other_encoding, lossy_filter,
    failing_filter, assume_unchanged, skip_worktree, sparse_checkout, sparse_index, split_index,
    intent_to_add, conflict, rebase, detached, packed, monitored, stashed, excluded_by_settings,
    with_notes_and_hooks, unborn, empty_and_unborn, git_file_that_is_none,
]  # fmt: skip


# In the long run alone.
RARE = [
    remove_from_index, folder_becomes_file, folder_becomes_link, file_becomes_pipe,
    tracked_then_ignored, line_ends, ident, failing_filter, skip_worktree, sparse_index,
    split_index, detached, monitored, excluded_by_settings, with_notes_and_hooks, unborn,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [pytest.param(each, marks=pytest.mark.long) if each in RARE else each for each in STATES],
)
def test_every_byte_comes_back_and_nothing_of_the_users_is_touched(
    user: UserRepository, change: Callable[[UserRepository], None]
) -> None:
    code_of(user)
    change(user)

    code = check_sound(user)

    # What is remembered of the last snapshot only saves time.
    shutil.rmtree(user.top / ".whet" / "snapshots")
    assert code_of(user) == code


def test_files_kept_out_by_ignore_files_are_not_in_it(user: UserRepository) -> None:
    user.write(".gitignore", "*.log\n")
    user.write("x.log", "1")
    user.write(".git/info/exclude", "*.tmp\n")
    user.write("x.tmp", "1")
    user.write(".whet/x", "1")
    user.write("package/.whet/x", "1")

    kept = code_of(user).snapshot

    assert kept is not None
    assert user.whets("ls-tree", "-r", "--name-only", kept).split() == [
        ".gitignore",
        "package/model.py",
        "train.py",
    ]


def test_an_ignore_file_that_ignores_itself_is_obeyed(user: UserRepository) -> None:
    user.write("package/new.txt", "1")
    clean = user.git("rev-parse", "HEAD^{tree}")
    assert code_of(user).tree != clean
    rules = user.write("package/.gitignore", "*.txt\n.gitignore\n")
    assert code_of(user).tree == clean
    rules.write_text(".gitignore\n")

    assert code_of(user).tree != clean


def test_the_ignore_file_of_the_user_is_obeyed_when_it_changes(
    user: UserRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write("new.txt", "1")
    clean = user.git("rev-parse", "HEAD^{tree}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert code_of(user).tree != clean
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "ignore").write_text("*.txt\n")

    assert code_of(user).tree == clean


def test_state_inside_the_tree_by_another_name_is_not_in_it(user: UserRepository) -> None:
    taken = snapshot_of(user, state=user.top / "my state[1]")

    assert taken.code is not None
    assert taken.code.snapshot is None


@pytest.mark.parametrize("name", [".gitignore", "noise", "link"])
def test_what_is_written_and_ignored_at_once_leaves(user: UserRepository, name: str) -> None:
    def write(text: str, *, ignored: str) -> None:
        user.write(".gitignore", f"/{ignored}\n")
        if name == "noise":
            user.write(name, text)
        elif name == "link":
            (user.top / name).unlink(missing_ok=True)
            (user.top / name).symlink_to(text)

    write("1", ignored="nothing")
    check_sound(user)
    write("2", ignored=name)
    code = code_of(user)

    (user.top.parent / "then").mkdir()
    restore(Repository(user.top), code, user.top.parent / "then")
    assert not os.path.lexists(user.top.parent / "then" / name)


def test_a_file_that_is_no_longer_tracked_and_now_ignored_leaves(user: UserRepository) -> None:
    user.write("secrets.env", "KEY=1")
    user.commit("a mistake")
    code_of(user)
    user.git("rm", "--quiet", "--cached", "secrets.env")
    user.write(".gitignore", "*.env\n")
    user.git("commit", "--quiet", "-am", "repaired")

    kept = code_of(user).snapshot

    assert kept is not None
    assert "secrets.env" not in user.whets("ls-tree", "-r", "--name-only", kept)


def test_the_same_state_is_kept_once_even_when_all_is_forgotten(user: UserRepository) -> None:
    edit(user)
    first = code_of(user)
    shutil.rmtree(user.top / ".whet")

    assert code_of(user) == first


def test_a_snapshot_is_not_collected(user: UserRepository) -> None:
    edit(user)
    user.write("staged.py", "only staged")
    user.git("add", "staged.py")
    kept = code_of(user).snapshot
    user.git("reset", "--quiet", "--hard")

    user.git("gc", "--quiet", "--prune=now")

    assert kept is not None
    assert user.whets("show", f"{kept}:train.py") == "a\nc"
    assert user.whets("show", f"{kept}:staged.py") == "only staged"


def test_the_commit_of_a_trial_is_kept_when_it_is_amended_away(user: UserRepository) -> None:
    first = code_of(user)
    edit(user)
    user.git("commit", "--quiet", "--all", "--amend", "-m", "amended")
    code_of(user)
    user.git("reflog", "expire", "--expire=now", "--all")
    user.git("gc", "--quiet", "--prune=now")

    assert user.whets("show", f"{first.commit}:train.py") == "a\nb"


def test_what_a_snapshot_stands_on_is_kept_when_that_is_amended_away(user: UserRepository) -> None:
    edit(user)
    kept = code_of(user)
    user.git("rm", "--quiet", "package/model.py")
    user.git("commit", "--quiet", "--all", "--amend", "-m", "amended")
    code_of(user)
    user.git("reflog", "expire", "--expire=now", "--all")
    user.git("gc", "--quiet", "--prune=now")

    assert user.whets("show", f"{kept.snapshot}:package/model.py") == "x = 1"
    assert user.whets("show", f"{kept.commit}:train.py") == "a\nb"


def test_a_snapshot_whose_objects_were_deleted_is_made_again(user: UserRepository) -> None:
    edit(user)
    first = code_of(user)
    assert first.snapshot is not None
    Path(object_store(), first.snapshot[:2], first.snapshot[2:]).unlink()

    assert check_sound(user) == first


@pytest.mark.parametrize("damage", ["index", "memory", "version", "lock", "folder"])
def test_damaged_state_of_whets_own_costs_only_time(user: UserRepository, damage: str) -> None:
    edit(user)
    first = code_of(user)
    (place,) = (user.top / ".whet" / "snapshots").iterdir()
    (shadow,) = place.glob("git-*")
    if damage == "index":
        (shadow / "index").write_bytes(b"DIRC nonsense")
    elif damage == "memory":
        (place / "memory.json").write_text('{"version": 1, "tree": 3}')
    elif damage == "version":
        (place / "memory.json").write_text('{"version": 0}')
    elif damage == "lock":
        (shadow / "index.lock").write_text("")
    else:
        shutil.rmtree(shadow)
    user.write("package/model.py", "x = 3\n")

    code = check_sound(user)

    assert code.tree != first.tree


def test_a_large_untracked_file_is_kept_by_name_size_and_time(user: UserRepository) -> None:
    large = user.write("data.bin", b"x" * (LIMIT + 1))
    os.utime(large, ns=(5, 5))
    clean_tree = user.git("rev-parse", "HEAD^{tree}")

    taken = snapshot_of(user)

    assert taken.code is not None
    assert taken.code.large_files == (f"data.bin {LIMIT + 1} 5",)
    assert taken.notes == ("recorded by name, size and time only: `data.bin`",)
    assert taken.code.snapshot is None
    assert taken.code.tree != clean_tree
    assert snapshot_of(user) == taken
    os.utime(large, ns=(5, 6))
    assert code_of(user).tree != taken.code.tree
    large.unlink()
    assert code_of(user).tree == clean_tree


def test_a_large_tracked_file_is_kept_whole(user: UserRepository) -> None:
    user.write("data.bin", b"x" * (LIMIT + 1))
    user.commit("data")
    user.write("data.bin", b"y" * (LIMIT + 1))

    assert check_sound(user).large_files == ()


def test_a_file_that_grows_beyond_the_limit_leaves_and_returns(user: UserRepository) -> None:
    user.write("log.txt", "short")
    small = check_sound(user)
    user.write("log.txt", b"x" * (LIMIT + 1))
    assert len(code_of(user).large_files) == 1
    user.git("add", "log.txt")
    assert check_sound(user).large_files == ()
    user.git("rm", "--quiet", "--cached", "log.txt")
    user.write("log.txt", "short")

    assert check_sound(user).tree == small.tree


def test_so_many_small_files_that_they_are_large_together_are_not_all_kept(
    user: UserRepository,
) -> None:
    for number in range(25):
        user.write(f"pictures/{number:02}", bytes([number]) * (LIMIT - number))

    taken = snapshot_of(user)

    assert taken.code is not None
    assert len(taken.code.large_files) == 5
    assert taken.notes == (
        "recorded by name, size and time only: `pictures/00`, `pictures/01`, `pictures/02` and 2 more",
    )
    assert snapshot_of(user) == taken
    user.git("update-index", "--refresh")
    user.write("package/more.py", "1")
    user.git("add", "package/more.py")
    again = code_of(user)
    assert again.large_files == taken.code.large_files


def test_a_large_file_with_a_filter_is_not_copied_and_comes_back_as_committed(
    user: UserRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    user.write(".gitattributes", "*.bin filter=pointer\n")
    user.git("config", "--global", "filter.pointer.clean", "head -c 5")
    user.git("config", "--global", "filter.pointer.smudge", "sed s/x/y/g")
    user.write("data.bin", b"x" * (LIMIT + 1))
    user.commit("a pointer")
    folder = tmp_path / "restored"
    folder.mkdir()

    code = code_of(user)
    notes = restore(Repository(user.top), code, folder)

    assert [entry.split()[0] for entry in code.large_files] == ["data.bin"]
    assert (folder / "data.bin").read_bytes() == b"yyyyy"
    assert notes == ("`data.bin` is the committed version: the trial's was too large to record",)


def test_a_large_file_whose_filter_fails_is_said_to_be_missing(
    user: UserRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    user.write(".gitattributes", "*.bin filter=pointer\n")
    user.git("config", "--global", "filter.pointer.clean", "head -c 5")
    user.write("data.bin", b"x" * (LIMIT + 1))
    user.commit("a pointer")
    code = code_of(user)
    user.git("config", "--global", "filter.pointer.smudge", "no-such-program-xyz")
    user.git("config", "--global", "filter.pointer.required", "true")
    (tmp_path / "restored").mkdir()

    (note,) = restore(Repository(user.top), code, tmp_path / "restored")

    assert note.startswith("`data.bin` is missing: ")


def test_a_large_file_that_was_not_committed_is_said_to_be_missing(
    user: UserRepository, tmp_path: Path
) -> None:
    user.write("data.bin", b"x" * (LIMIT + 1))
    folder = tmp_path / "restored"
    folder.mkdir()

    notes = restore(Repository(user.top), code_of(user), folder)

    assert notes == ("`data.bin` is missing: it was too large to record",)
    assert sorted(files_in(folder)) == ["package/model.py", "train.py"]


def test_files_that_git_refuses_are_set_aside_and_the_rest_is_kept(user: UserRepository) -> None:
    user.write("new", "new")
    user.write(".GIT/config", "x")
    (user.top / ".gitmodules").symlink_to("nowhere")

    taken = snapshot_of(user)

    assert taken.notes == ("recorded by name, size and time only: `.GIT/config`, `.gitmodules`",)
    assert taken.code is not None
    assert "new" in user.whets("ls-tree", "--name-only", f"{taken.code.snapshot}")
    assert snapshot_of(user) == taken
    user.write(".GIT/config", "xy")
    assert code_of(user).tree != taken.code.tree


def test_a_hook_and_the_settings_of_one_call_lead_nowhere_else(
    user: UserRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = UserRepository.with_two_files(tmp_path / "other")
    user.write("train.py", b"a\r\n")
    expected = code_of(user)
    shutil.rmtree(user.top / ".whet" / "snapshots")
    before = other.possessions()
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.autocrlf'='true' 'core.bare'='true'")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fileMode")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "false")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.top / ".git" / "index"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "0")

    code = code_of(user)

    monkeypatch.undo()
    assert code == expected
    assert other.possessions() == before


def test_no_more_than_some_repositories_inside_are_looked_into(user: UserRepository) -> None:
    for number in range(18):
        inner = UserRepository.make(user.top / f"inner{number:02}")
        inner.commit()

    taken = snapshot_of(user)

    assert taken.notes == (
        "skipped `inner16`: there are too many repositories",
        "skipped `inner17`: there are too many repositories",
    )


@pytest.mark.parametrize("options", [["--depth=1"], ["--filter=blob:none"], ["--shared"]])
def test_a_clone_that_has_not_everything_is_kept_too(
    user: UserRepository, tmp_path: Path, options: list[str]
) -> None:
    user.write("train.py", "second\n")
    user.commit("second")
    user.git("config", "uploadpack.allowFilter", "true")
    url = str(user.top) if options == ["--shared"] else f"file://{user.top}"
    user.git("clone", "--quiet", *options, url, str(tmp_path / "clone"))
    clone = UserRepository(tmp_path / "clone")
    clone.write(".whet/.gitignore", "*\n")
    assert code_of(clone).snapshot is None
    edit(clone)

    assert check_sound(clone).snapshot is not None


def test_a_linked_worktree_has_a_state_of_its_own(user: UserRepository, tmp_path: Path) -> None:
    user.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    linked = UserRepository(tmp_path / "linked")
    linked.write(".whet/.gitignore", "*\n")
    linked.write("train.py", "linked\n")

    kept = check_sound(linked).snapshot

    assert kept is not None
    assert code_of(user).snapshot is None
    assert user.whets("show", f"{kept}:train.py") == "linked"


def test_a_sha256_repository_is_kept_too(tmp_path: Path) -> None:
    user = UserRepository.make(tmp_path / "project", "--object-format=sha256")
    user.write("train.py", "a\n")
    user.commit()
    assert code_of(user).snapshot is None
    edit(user)

    assert len(check_sound(user).snapshot or "") == 64


def with_submodule(user: UserRepository, tmp_path: Path) -> UserRepository:
    inner = UserRepository.with_two_files(tmp_path / "inner")
    user.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "sub"
    )
    user.commit("a submodule")
    return UserRepository(user.top / "sub")


def test_the_digest_of_a_search_is_no_change_of_a_submodule(user: UserRepository) -> None:
    plain = check_sound(user)

    assert describe_changes(code_without(plain, []), plain) == ""


def test_submodules_are_kept_by_commit_and_their_changes_count(
    user: UserRepository, tmp_path: Path
) -> None:
    submodule = with_submodule(user, tmp_path)
    clean = check_sound(user)
    assert clean.snapshot is None
    submodule.write("train.py", "changed\n")
    before = submodule.possessions()

    changed = snapshot_of(user)

    assert submodule.possessions() == before
    assert changed.code is not None
    assert changed.notes == ("whet didn't record uncommitted changes in `sub`",)
    assert changed.code.tree != clean.tree
    assert describe_changes(clean, changed.code) == "uncommitted changes in a submodule"
    submodule.commit("changed")
    committed = check_sound(user)
    assert committed.snapshot is not None
    assert describe_changes(clean, committed) == "sub +1 −1"
    assert submodule.git("for-each-ref", "refs/whet") == ""


def test_a_submodule_is_kept_right_when_it_is_also_worked_on_by_itself(
    user: UserRepository, tmp_path: Path
) -> None:
    submodule = with_submodule(user, tmp_path)
    state = user.top / ".whet"
    submodule.write("train.py", "one\n")
    first = snapshot_of(submodule, state=state).code
    submodule.write("train.py", "two\n")
    snapshot_of(user)

    second = snapshot_of(submodule, state=state).code

    assert first is not None
    assert second is not None
    assert second.snapshot != first.snapshot
    assert submodule.whets("show", f"{second.snapshot}:train.py") == "two"


def test_a_submodule_that_is_not_checked_out_is_no_change(
    user: UserRepository, tmp_path: Path
) -> None:
    with_submodule(user, tmp_path)
    user.git("clone", "--quiet", str(user.top), str(tmp_path / "clone"))
    clone = UserRepository(tmp_path / "clone")

    code = code_of(clone)

    assert code.snapshot is None
    assert code.tree == user.git("rev-parse", "HEAD^{tree}")
    (clone.top / "sub").rmdir()
    assert code_of(clone).snapshot is not None


def test_a_repository_inside_that_is_no_submodule_counts(user: UserRepository) -> None:
    clean = code_of(user)
    inner = UserRepository.make(user.top / "vendored")
    inner.write("x.py", "1")

    unborn_inside = code_of(user)
    inner.commit()
    committed = code_of(user)
    inner.write("x.py", "2")
    edited = code_of(user)

    assert len({clean.tree, unborn_inside.tree, committed.tree, edited.tree}) == 4
    shutil.rmtree(inner.top)
    assert code_of(user) == clean


def test_a_repository_inside_that_git_cannot_read_is_said(user: UserRepository) -> None:
    user.write("vendored/.git", "gitdir: /nowhere\n")
    user.write("vendored/x.py", "1")

    taken = snapshot_of(user)

    assert taken.code is not None


def test_a_bare_repository_has_no_working_tree(tmp_path: Path) -> None:
    bare = UserRepository.make(tmp_path / "bare", "--bare")

    assert snapshot_of(bare).code is None


def test_a_broken_repository_is_a_note(user: UserRepository) -> None:
    (user.top / ".git" / "HEAD").unlink()

    taken = snapshot_of(user)

    assert taken.code is None
    assert "not a git repository" in taken.notes[0]


def test_without_git_there_is_a_note(
    user: UserRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert snapshot_of(user).notes == ("whet didn't record the code: git is not installed",)


def test_a_repository_of_another_user_is_a_note(
    user: UserRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    (note,) = snapshot_of(user).notes

    assert note.startswith("whet didn't record the code")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_root_writes_nothing_into_the_repository_of_another_user(user: UserRepository) -> None:
    os.chown(user.top / ".git" / "objects", 1, 1)
    edit(user)
    before = user.possessions()

    assert snapshot_of(user).code is not None

    assert user.possessions() == before


@pytest.mark.slow
@pytest.mark.needs("unshare")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_repository_that_may_not_be_written_to_is_kept(
    user: UserRepository, tmp_path: Path
) -> None:
    edit(user)
    git_dir = user.top / ".git"
    mount = f"mount --bind {git_dir} {git_dir} && mount -o remount,ro,bind {git_dir}"
    script = (
        "from pathlib import Path; from whet.host.code.code_snapshots import take_snapshot;"
        f"print(take_snapshot(Path({str(user.top)!r}), state=Path({str(tmp_path / 'state')!r})))"
    )

    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c", script],
        capture_output=True, check=False, text=True,
    )  # fmt: skip

    assert f"snapshot='{code_of(user).snapshot}'" in done.stdout, done.stderr


def test_a_path_that_git_cannot_tell_is_a_note(tmp_path: Path) -> None:
    user = UserRepository.with_two_files(tmp_path / "line\nbreak")

    assert snapshot_of(user).notes == (
        "whet didn't record the code: the path of the repository holds a line break",
    )


def test_a_state_folder_that_cannot_be_made_is_a_note(user: UserRepository) -> None:
    user.write("file", "x")

    taken = snapshot_of(user, state=user.top / "file")

    assert taken.code is None
    assert taken.notes[0].startswith("whet didn't record the code")


def test_many_at_once_find_the_same(user: UserRepository) -> None:
    edit(user)
    found: list[CodeState] = []
    threads = [threading.Thread(target=lambda: found.append(code_of(user))) for _ in range(6)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 6
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("change", "description"),
    [
        (lambda _: None, ""),
        (edit, "train.py +1 −1"),
        (delete, "train.py +0 −2"),
        (make_executable, "train.py changed mode"),
        (lambda user: user.write("x", b"\0"), "x changed"),
        (lambda user: (user.top / "train.py").rename(user.top / "t.py"), "train.py → t.py"),
        (lambda user: user.write("big", b"x" * (LIMIT + 1)), "big new (1001 bytes)"),
    ],
)
def test_a_change_is_described_in_a_line(
    user: UserRepository, change: Callable[[UserRepository], object], description: str
) -> None:
    before = code_of(user)
    change(user)

    assert describe_changes(before, code_of(user)) == description


def test_only_the_largest_changes_are_named(user: UserRepository) -> None:
    before = code_of(user)
    for number in range(5):
        user.write(f"f{number}.py", "x\n" * (number + 1))

    after = code_of(user)

    assert describe_changes(before, after) == "f4.py +5 −0, f3.py +4 −0, 3 more"
    assert [change.path for change in file_changes(before, after)] == [
        "f4.py", "f3.py", "f2.py", "f1.py", "f0.py",
    ]  # fmt: skip


def test_a_new_commit_is_described_with_what_it_changed(user: UserRepository) -> None:
    before = code_of(user)
    edit(user)
    edited = code_of(user)
    user.commit("edited")
    after = code_of(user)
    heads = f"HEAD {before.commit[:7]} → {after.commit[:7]}"

    assert describe_changes(before, after) == f"{heads}; train.py +1 −1"
    assert describe_changes(edited, after) == heads


def test_large_files_that_come_change_and_go_are_described(user: UserRepository) -> None:
    large = user.write("data.bin", b"x" * (LIMIT + 1))
    first = code_of(user)
    user.write("data.bin", b"x" * (LIMIT + 2))
    second = code_of(user)
    large.unlink()

    assert describe_changes(first, second) == "data.bin changed"
    assert describe_changes(second, code_of(user)) == "data.bin gone"


def test_the_diff_holds_the_lines(user: UserRepository) -> None:
    before = code_of(user)
    user.write("train.py", b"a\nb\xff\n")
    after = code_of(user)

    assert "-b\n+b\N{REPLACEMENT CHARACTER}\n" in diff_text(before, after)
    assert diff_text(after, after) == ""


def test_code_that_is_gone_is_said_to_be(user: UserRepository, tmp_path: Path) -> None:
    code = code_of(user)
    gone = CodeState(repository=code.repository, commit="1" * 40, tree="2" * 40)
    elsewhere = CodeState(repository=str(tmp_path / "none"), commit="1" * 40, tree="2" * 40)

    assert "no longer holds" in describe_changes(code, gone)
    assert describe_changes(code, elsewhere) == f"another repository: {tmp_path}/none"
    with pytest.raises(GitFailedError):
        diff_text(code, gone)
    with pytest.raises(GitFailedError):
        diff_text(
            elsewhere, elsewhere.__class__(repository=elsewhere.repository, commit="3", tree="4")
        )
