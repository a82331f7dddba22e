import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from user_repository import UserRepository, files_in

from whet.core.errors import CodeNotKept, HostFailure, UnknownRevision
from whet.core.trial import CodeState
from whet.host.code.code_snapshots import take_snapshot
from whet.host.code.worktrees import Worktrees
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository


@pytest.fixture
def user(tmp_path: Path) -> UserRepository:
    repository = UserRepository.with_two_files(tmp_path / "project")
    repository.write("train.py", "second\n")
    repository.write("new.py", "new\n")
    repository.commit("second")
    return repository


@pytest.fixture
def worktrees(user: UserRepository, tmp_path: Path) -> Iterator[Worktrees]:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    made = Worktrees(Repository(user.top), cleanup_journal, tmp_path / "w")
    yield made
    made.discard_all()
    cleanup_journal.discard_all()


def test_a_revision_is_there_and_nothing_else(user: UserRepository, worktrees: Worktrees) -> None:
    before = user.possessions()

    slot = worktrees.checkout("HEAD~1")

    assert files_in(slot) == {
        "train.py": ("file", b"a\nb\n"),
        "package/model.py": ("file", b"x = 1\n"),
    }
    assert worktrees.notes_on(slot) == ()
    worktrees.discard_all()
    assert not slot.exists()
    assert user.possessions() == before
    assert not (user.top / ".git" / "worktrees").exists()


def test_a_slot_is_used_again_without_a_trace_of_what_ran_in_it(
    user: UserRepository, worktrees: Worktrees
) -> None:
    user.write(".gitignore", "ignored/\n")
    user.commit("ignoring")
    first = worktrees.checkout("HEAD")
    for name in ("junk", "ignored/junk", "train.py"):
        (first / name).parent.mkdir(exist_ok=True)
        (first / name).write_text("junk")
    subprocess.run(["git", "init", "--quiet", "inner"], cwd=first, check=True)
    UserRepository(first).git("add", "train.py")
    worktrees.give_back(first)

    second = worktrees.checkout("HEAD~2")

    assert second == first
    assert sorted(files_in(second)) == ["package/model.py", "train.py"]
    assert (second / "train.py").read_text() == "a\nb\n"


def test_the_slot_that_is_there_already_is_taken_first(worktrees: Worktrees) -> None:
    slots = [worktrees.checkout(revision) for revision in ("HEAD", "HEAD~1", "HEAD")]
    assert len(set(slots)) == 3
    for slot in slots:
        worktrees.give_back(slot)

    assert worktrees.checkout("HEAD~1") == slots[1]


@pytest.mark.parametrize("damage", ["lock", "git file", "folder", "rights"])
def test_a_slot_that_a_trial_has_broken_is_replaced(worktrees: Worktrees, damage: str) -> None:
    slot = worktrees.checkout("HEAD")
    if damage == "lock":
        git_dir = UserRepository(slot).git("rev-parse", "--absolute-git-dir")
        Path(git_dir, "index.lock").write_text("")
    elif damage == "git file":
        (slot / ".git").unlink()
    elif damage == "folder":
        shutil.rmtree(slot)
    else:
        (slot / "junk").mkdir()
        (slot / "junk" / "x").write_text("")
        subprocess.run(["chattr", "+i", slot / "junk" / "x"], check=False)
    worktrees.give_back(slot)

    try:
        again = worktrees.checkout("HEAD~1")
    except HostFailure:
        assert damage == "rights"  # what cannot be removed at all is said
    else:
        assert (again / "train.py").read_text() == "a\nb\n"
    finally:
        if damage == "rights":
            subprocess.run(["chattr", "-i", slot / "junk" / "x"], check=False)


def test_hooks_of_the_user_do_not_run(user: UserRepository, worktrees: Worktrees) -> None:
    hook = user.write(".git/hooks/post-checkout", '#!/bin/sh\ntouch "$(git rev-parse --git-common-dir)/ran"\n')  # fmt: skip
    hook.chmod(0o755)

    worktrees.checkout("HEAD")

    assert not (user.top / ".git" / "ran").exists()


def test_a_filter_that_fails_leaves_the_file_as_it_is_committed(
    user: UserRepository, worktrees: Worktrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    user.write("data.bin", "pointer\n")
    user.write(".gitattributes", "*.bin filter=lfs\n")
    user.commit("data")
    for setting, value in (("smudge", "no-such-program-xyz"), ("required", "true")):
        user.git("config", "--global", f"filter.lfs.{setting}", value)

    slot = worktrees.checkout("HEAD")

    assert (slot / "data.bin").read_text() == "pointer\n"
    assert "git-lfs" in worktrees.notes_on(slot)[0]


@pytest.mark.parametrize("users", ["", "sed s/pointer/content/"])
def test_a_filter_that_only_the_repository_names_does_not_run(
    user: UserRepository,
    worktrees: Worktrees,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    users: str,
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    user.write("data.bin", "pointer\n")
    user.write(".gitattributes", "*.bin filter=own\n")
    user.commit("data")
    if users:
        user.git("config", "--global", "filter.own.smudge", users)
    user.git("config", "filter.own.smudge", f"tee {tmp_path / 'ran'}")
    user.git("config", "filter.own.required", "true")

    slot = worktrees.checkout("HEAD")

    assert not (tmp_path / "ran").exists()
    assert (slot / "data.bin").read_text() == ("content\n" if users else "pointer\n")
    assert "git config --global" in worktrees.notes_on(slot)[0]


@pytest.mark.parametrize("setting", ["", "core.sshCommand"])
def test_a_partial_clone_fetches_what_it_lacks_unless_its_settings_name_a_program(
    user: UserRepository, tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # other tests store this object
    clone, ran = tmp_path / "clone", tmp_path / "ran"
    for folder, *words in (
        (user.top, "config", "uploadpack.allowFilter", "true"),
        (user.top, "config", "uploadpack.allowAnySHA1InWant", "true"),
        (tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{user.top}", str(clone)),
        *([(clone, "config", setting, f"touch {ran}")] if setting else []),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    cleanup_journal = CleanupJournal(tmp_path / "made")
    made = Worktrees(Repository(clone), cleanup_journal, tmp_path / "w")

    if setting:
        with pytest.raises(HostFailure, match="can't check out") as refused:
            made.checkout("HEAD~1")
        assert "`git fetch --refetch --no-filter`" in str(refused.value.hint)
    else:
        assert files_in(made.checkout("HEAD~1"))["train.py"] == ("file", b"a\nb\n")
    assert not ran.exists()
    made.discard_all()


def test_a_program_that_the_settings_of_a_partial_clone_name_later_counts(
    user: UserRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    clone = tmp_path / "clone"
    user.git("config", "uploadpack.allowFilter", "true")
    user.git("config", "uploadpack.allowAnySHA1InWant", "true")
    user.git("clone", "--quiet", "--filter=blob:none", f"file://{user.top}", str(clone))
    made = Worktrees(Repository(clone), CleanupJournal(tmp_path / "made"), tmp_path / "w")
    made.checkout("HEAD")
    subprocess.run(["git", "-C", str(clone), "config", "core.sshCommand", "true"], check=True)

    with pytest.raises(HostFailure, match="can't check out"):
        made.checkout("HEAD~1")
    made.discard_all()


def test_a_revision_that_is_none_is_named(worktrees: Worktrees) -> None:
    for revision in ("no-such", "HEAD~9", "--help", "HEAD:train.py", ""):
        with pytest.raises(UnknownRevision, match="has no revision"):
            worktrees.checkout(revision)


def test_it_works_from_a_bare_repository(user: UserRepository, tmp_path: Path) -> None:
    user.git("clone", "--quiet", "--bare", str(user.top), str(tmp_path / "bare"))
    cleanup_journal = CleanupJournal(tmp_path / "made")
    worktrees = Worktrees(Repository(tmp_path / "bare"), cleanup_journal, tmp_path / "w")

    slot = worktrees.checkout("HEAD~1")

    assert (slot / "train.py").read_text() == "a\nb\n"
    worktrees.discard_all()
    assert not slot.exists()


def test_it_works_from_a_dirty_linked_worktree(user: UserRepository, tmp_path: Path) -> None:
    user.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    linked = UserRepository(tmp_path / "linked")
    linked.write("train.py", "dirty\n")
    linked.git("add", "train.py")
    before = linked.possessions(), user.possessions()
    cleanup_journal = CleanupJournal(tmp_path / "made")
    worktrees = Worktrees(
        Repository.containing(linked.top / "package"), cleanup_journal, tmp_path / "w"
    )

    slot = worktrees.checkout("HEAD~1")
    assert (slot / "train.py").read_text() == "a\nb\n"
    worktrees.discard_all()

    assert (linked.possessions(), user.possessions()) == before


def test_submodules_come_from_the_users_copy(
    user: UserRepository, worktrees: Worktrees, tmp_path: Path
) -> None:
    inner = UserRepository.with_two_files(tmp_path / "inner")
    user.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "sub")  # fmt: skip
    user.commit("a submodule")
    shutil.rmtree(inner.top)
    submodule = UserRepository(user.top / "sub")
    submodule.write("train.py", "newer\n")
    submodule.commit("newer")
    user.commit("a newer submodule")
    before = submodule.possessions()

    slot = worktrees.checkout("HEAD~1")
    assert (slot / "sub" / "train.py").read_text() == "a\nb\n"
    (slot / "sub" / "junk").write_text("")
    worktrees.give_back(slot)
    again = worktrees.checkout("HEAD")

    assert again == slot
    assert sorted(files_in(again / "sub")) == ["package/model.py", "train.py"]
    assert (again / "sub" / "train.py").read_text() == "newer\n"
    assert submodule.possessions() == before
    worktrees.give_back(again)
    assert not (worktrees.checkout("HEAD~2") / "sub").exists()


def test_a_submodule_that_the_user_does_not_have_is_said(
    user: UserRepository, worktrees: Worktrees, tmp_path: Path
) -> None:
    inner = UserRepository.with_two_files(tmp_path / "inner")
    user.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "sub")  # fmt: skip
    user.commit("a submodule")
    user.git("update-index", "--cacheinfo", f"160000,{'1' * 40},sub")
    user.git("commit", "--quiet", "-m", "a commit that is nowhere")

    assert "the submodule `sub` is empty" in worktrees.notes_on(worktrees.checkout("HEAD"))[0]
    user.git("submodule", "--quiet", "deinit", "--force", "sub")
    assert worktrees.notes_on(worktrees.checkout("HEAD~1")) == (
        "the submodule `sub` is empty: it isn't checked out here",
    )


def code_of(user: UserRepository) -> CodeState:
    code = take_snapshot(user.top, state=user.top / ".whet").code
    assert code is not None
    return code


def test_the_code_of_a_trial_comes_back_on_its_commit(
    user: UserRepository, worktrees: Worktrees
) -> None:
    user.write("train.py", "third\n")
    user.write("untracked.py", "u\n")
    (user.top / "new.py").unlink()
    code, files = code_of(user), files_in(user.top)
    user.git("stash", "--include-untracked")
    before = user.possessions()

    slot = worktrees.checkout_code(code)

    assert files_in(slot) == files
    assert UserRepository(slot).git("rev-parse", "HEAD") == code.commit
    assert UserRepository(slot).git("status", "--short").split("\n") == [
        " D new.py", " M train.py", "?? untracked.py",
    ]  # fmt: skip
    assert user.possessions() != before  # a worktree is listed while it is in use
    worktrees.give_back(slot)
    assert sorted(files_in(worktrees.checkout("HEAD~1"))) == ["package/model.py", "train.py"]
    worktrees.discard_all()
    assert user.possessions() == before


def test_code_before_the_first_commit_comes_back(tmp_path: Path) -> None:
    user = UserRepository.make(tmp_path / "project")
    user.write("train.py", "1\n")
    worktrees = Worktrees(Repository(user.top), CleanupJournal(tmp_path / "made"), tmp_path / "w")

    slot = worktrees.checkout_code(code_of(user))

    assert files_in(slot) == {"train.py": ("file", b"1\n")}
    worktrees.discard_all()


def test_code_that_is_gone_is_said_to_be(user: UserRepository, worktrees: Worktrees) -> None:
    code = code_of(user)
    gone = CodeState(
        repository=code.repository, commit=code.commit, tree="2" * 40, snapshot="3" * 40
    )

    with pytest.raises(CodeNotKept, match="no longer has the commit `3333333333`"):
        worktrees.checkout_code(gone)


def test_many_threads_get_slots_of_their_own(worktrees: Worktrees) -> None:
    got: list[tuple[Path, str]] = []

    def use(revision: str) -> None:
        slot = worktrees.checkout(revision)
        got.append((slot, (slot / "train.py").read_text()))

    revisions = ["HEAD", "HEAD~1"] * 3
    threads = [threading.Thread(target=use, args=(revision,)) for revision in revisions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({slot for slot, _ in got}) == 6
    assert sorted(text for _, text in got) == ["a\nb\n"] * 3 + ["second\n"] * 3


@pytest.mark.slow
def test_what_a_killed_whet_left_is_swept_and_worktrees_of_the_user_are_not(
    user: UserRepository, tmp_path: Path
) -> None:
    user.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "theirs"))
    # Theirs stands on a drive that is not there just now.
    (tmp_path / "theirs").rename(tmp_path / "unplugged")
    before = user.possessions()
    script = f"""
import os, signal, sys
from pathlib import Path
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository
from whet.host.code.worktrees import Worktrees
made = Worktrees(Repository(Path({str(user.top)!r})), CleanupJournal(Path({str(tmp_path / "made")!r})), Path({str(tmp_path / "w")!r}))
print(made.checkout("HEAD~1"), made.checkout("HEAD"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    slots = [Path(word) for word in done.stdout.split()]
    assert all(slot.is_dir() for slot in slots)
    shutil.rmtree(slots[1])

    CleanupJournal(tmp_path / "made").sweep()

    assert not any(slot.exists() for slot in slots)
    (tmp_path / "unplugged").rename(tmp_path / "theirs")
    assert UserRepository(tmp_path / "theirs").git("status", "--short") == ""
    (tmp_path / "theirs").rename(tmp_path / "unplugged")
    assert user.possessions() == before


# Relocation


def test_a_slot_of_a_repository_that_is_away_goes_when_it_is_back(
    user: UserRepository, tmp_path: Path
) -> None:
    journal = CleanupJournal(tmp_path / "made")
    worktrees = Worktrees(Repository(user.top), journal, tmp_path / "slots")
    slot = worktrees.checkout("HEAD")
    away = tmp_path / "away"
    user.top.rename(away)
    user.top.mkdir()  # where it was mounted
    with pytest.raises(HostFailure, match="its repository is missing"):
        journal.discard(slot)
    user.top.rmdir()
    away.rename(user.top)
    journal.discard_all()

    assert not (user.top / ".git" / "worktrees").exists()
    assert list((tmp_path / "made").iterdir()) == []


def test_folders_and_commands_are_named_as_they_are_there(
    user: UserRepository, worktrees: Worktrees
) -> None:
    top = user.top
    user.write("venv/bin/python", "untracked")
    user.write("payload.csv", "untracked")
    slot = worktrees.checkout("HEAD~1")
    moved = worktrees.relocation(slot)

    def command(*words: str, cwd: Path = top) -> list[str]:
        return list(moved.command(words, cwd))

    assert moved.folder(top / "package") == slot / "package"
    assert moved.folder(top) == slot
    assert moved.folder(Path("/usr")) == Path("/usr")
    assert command("python", "train.py") == ["python", "train.py"]
    # What git tracks is part of the history, even where this revision lacks it.
    assert command(f"{top}/train.py", "new.py") == [f"{slot}/train.py", "new.py"]
    # What only the user has stays where it is.
    assert command("venv/bin/python", "payload.csv", "--data=payload.csv") == [
        f"{top}/venv/bin/python", f"{top}/payload.csv", f"--data={top}/payload.csv",
    ]  # fmt: skip
    assert command("pytest", "payload.csv::test", f"{top}/payload.csv") == [
        "pytest", f"{top}/payload.csv::test", f"{top}/payload.csv",
    ]  # fmt: skip
    assert command("cat", "../payload.csv", cwd=top / "package") == ["cat", f"{top}/payload.csv"]
    assert command("payload.csv") == ["payload.csv"]
    assert command("x", "-n", "", "no-such", "/usr/bin", "a=") == [
        "x", "-n", "", "no-such", "/usr/bin", "a=",
    ]  # fmt: skip
    # What lies outside the tree is not found from the other one.
    assert command("ls", "..", "../..", cwd=top) == ["ls", str(top.parent), str(top.parent.parent)]
    # A file that is yet to be written is written there.
    assert command("x", f"--out={top}/out.txt") == ["x", f"--out={slot}/out.txt"]
    assert moved.text(f"{top}/package:{top}:{top}-other:/usr") == (
        f"{slot}/package:{slot}:{top}-other:/usr"
    )


def test_a_shell_text_is_moved_path_by_path(user: UserRepository, worktrees: Worktrees) -> None:
    top = user.top
    user.write("a(1).csv", "untracked")
    slot = worktrees.checkout("HEAD")
    moved = worktrees.relocation(slot)

    assert moved.text(f"(cd {top};cat <{top}/train.py>{top}/out)|x -I{top}/package") == (
        f"(cd {slot};cat <{slot}/train.py>{slot}/out)|x -I{slot}/package"
    )
    assert moved.text(f"cat {top}/a(1).csv {top}/b(1).csv") == (
        f"cat {top}/a(1).csv {slot}/b(1).csv"
    )
    assert moved.text(f"{top}-other/x /mnt{top}/x") == f"{top}-other/x /mnt{top}/x"


def test_a_tree_reached_through_a_link_is_the_same_tree(
    user: UserRepository, worktrees: Worktrees, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(user.top)
    slot = worktrees.checkout("HEAD")

    moved = worktrees.relocation(slot)

    assert moved.folder(tmp_path / "link" / "package") == slot / "package"
    assert moved.command(("cat", f"{tmp_path}/link/train.py"), user.top) == (
        "cat",
        f"{slot}/train.py",
    )
    assert moved.text(f"{tmp_path}/link:{tmp_path}/link/package:{tmp_path}/other") == (
        f"{slot}:{slot}/package:{tmp_path}/other"
    )


def set_up(worktrees: Worktrees, revision: str, state: str) -> Path:
    slot = worktrees.checkout(revision, state)
    if not worktrees.is_set_up(slot):
        (slot / "built").mkdir()
        (slot / "built" / "made").write_text(f"{state}\n")
        worktrees.note_set_up(slot, state)
    return slot


def test_what_a_setup_left_stays_for_revisions_of_the_same_state(
    user: UserRepository, worktrees: Worktrees
) -> None:
    user.write("third.py", "3\n")
    user.commit("third")
    first = set_up(worktrees, "HEAD~2", "a")
    (first / "junk").write_text("x")
    (first / "built" / "junk").write_text("x")
    worktrees.give_back(first)

    second = worktrees.checkout("HEAD", "a")

    assert second == first
    assert worktrees.is_set_up(second)
    assert files_in(second).keys() == {
        "train.py", "new.py", "package/model.py", "third.py", "built/made",
    }  # fmt: skip


@pytest.mark.parametrize("damage", ["changed", "removed"])
def test_a_setup_that_was_tampered_with_counts_no_more(worktrees: Worktrees, damage: str) -> None:
    slot = set_up(worktrees, "HEAD", "a")
    made = slot / "built" / "made"
    if damage == "changed":
        made.write_text("something longer\n")
    else:
        made.unlink()
    worktrees.give_back(slot)

    again = worktrees.checkout("HEAD", "a")

    assert not worktrees.is_set_up(again)
    assert not (again / "built").exists()


def test_slots_of_other_states_are_kept_up_to_a_number(worktrees: Worktrees) -> None:
    slots: list[Path] = []
    for state in "abc":
        slots.append(set_up(worktrees, "HEAD", state))
        worktrees.give_back(slots[-1])
    assert len(set(slots)) == 3

    back = worktrees.checkout("HEAD~1", "a")
    worktrees.give_back(back)
    another = worktrees.checkout("HEAD", "d")

    assert back == slots[0]
    assert another in slots
    assert not worktrees.is_set_up(another)


def test_a_folder_beside_a_slot_is_new_each_time_and_goes_with_all_else(
    user: UserRepository, tmp_path: Path
) -> None:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    worktrees = Worktrees(Repository(user.top), cleanup_journal, tmp_path / "w")
    slot = worktrees.checkout("HEAD")

    beside = worktrees.environment_beside(slot)
    (beside / "left").write_text("x")
    again = worktrees.environment_beside(slot)

    assert again == beside
    assert list(beside.iterdir()) == []
    worktrees.discard_all()
    cleanup_journal.discard_all()
    assert list((tmp_path / "w").iterdir()) == []
