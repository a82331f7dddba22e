"""What whet makes is gone in the end, whoever has to remove it."""

import json
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whet.core.errors import CannotWrite, HostFailure
from whet.host.files.user_key import user_key
from whet.host.process.cleanup_journal import CleanupJournal, Resource
from whet.host.process.process_identity import ProcessIdentity


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))


def _made(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "made"
    return list(folder.iterdir()) if folder.exists() else []


def _as_dead(tmp_path: Path, script: str) -> str:
    """Run a script in a process that is killed before it can tidy up; return what it printed."""
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from whet.host.process.cleanup_journal import CleanupJournal\n"
        f"cleanup_journal = CleanupJournal(Path({str(tmp_path / 'made')!r}))\n"
        f"{script}\n"
        "sys.stdout.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    return done.stdout.decode().strip()


def _change(record: Path, **fields: object) -> None:
    """Make a record say something else, as if the whet that wrote it had."""
    data = {**json.loads(record.read_text()), **fields}
    place, _ = data.pop("place"), data.pop("seal")
    seal = CleanupJournal(record.parent)._seal(Resource(**data), place)
    record.write_text(json.dumps({**data, "place": place, "seal": seal}))


def test_a_temporary_folder_is_private_and_gone_once_discarded(tmp_path: Path) -> None:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    folder = cleanup_journal.temporary_folder("whet-")

    assert folder.parent == tmp_path / "tmp"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(_made(tmp_path)) == 1
    cleanup_journal.discard(folder)
    cleanup_journal.discard(folder)
    assert not folder.exists()
    assert _made(tmp_path) == []


def test_everything_is_removed_at_once_read_only_or_deep(tmp_path: Path) -> None:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    folders = [cleanup_journal.temporary_folder() for _ in range(3)]
    inner = folders[0] / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (folders[0] / "link").symlink_to(tmp_path)
    inner.chmod(0o500)
    (folders[0] / "a").chmod(0)

    cleanup_journal.discard_all()

    assert not any(folder.exists() for folder in folders)
    assert _made(tmp_path) == []
    assert tmp_path.exists()


def test_what_a_killed_whet_made_is_swept(tmp_path: Path) -> None:
    folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))
    assert folder.exists()

    CleanupJournal(tmp_path / "made").sweep()

    assert not folder.exists()
    assert _made(tmp_path) == []


def test_what_a_living_whet_made_is_not_swept(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from whet.host.process.cleanup_journal import CleanupJournal\n"
        f"print(CleanupJournal(Path({str(tmp_path / 'made')!r})).temporary_folder(), flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        folder = Path(other.stdout.readline().decode().strip())
        mine = CleanupJournal(tmp_path / "made")
        own = mine.temporary_folder()

        mine.sweep()

        assert folder.exists()
        assert own.exists()
        mine.discard_all()
    CleanupJournal(tmp_path / "made").sweep()
    assert not folder.exists()


def test_a_pid_that_is_used_again_does_not_keep_a_dead_owners_things(tmp_path: Path) -> None:
    folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))
    (record,) = _made(tmp_path)
    _, start, number = record.stem.split("-")
    record.rename(record.with_name(f"{os.getppid()}-{start}-{number}.json"))

    CleanupJournal(tmp_path / "made").sweep()

    assert not folder.exists()


def test_a_process_that_has_the_pid_of_a_dead_ones_is_not_killed(tmp_path: Path) -> None:
    with (
        subprocess.Popen(["sleep", "1000"]) as innocent,
        subprocess.Popen(["sleep", "1000"]) as own,
    ):
        try:
            _as_dead(tmp_path, f"cleanup_journal.adopt('process', '{innocent.pid}')")
            _as_dead(tmp_path, f"cleanup_journal.adopt('process', '{own.pid}')")
            for record in _made(tmp_path):
                if json.loads(record.read_text())["what"] == str(innocent.pid):
                    _change(record, start_ticks=1)

            CleanupJournal(tmp_path / "made").sweep()

            assert own.wait() == -signal.SIGKILL
            assert innocent.poll() is None
        finally:
            innocent.kill()
            own.kill()
    assert _made(tmp_path) == []


def test_a_record_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    _as_dead(tmp_path, "cleanup_journal.temporary_folder()")
    (record,) = _made(tmp_path)
    record.write_bytes(record.read_bytes()[:20])

    CleanupJournal(tmp_path / "made").sweep()

    assert _made(tmp_path) == []


def test_a_record_that_this_users_whet_did_not_write_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))
    (record,) = _made(tmp_path)
    written = record.read_text()
    victim = tmp_path / "victim"
    victim.mkdir()

    for fields in ({"what": str(victim)}, {"what": str(victim), "seal": ""}):
        record.write_text(json.dumps({**json.loads(written), **fields}))
        CleanupJournal(tmp_path / "made").sweep()
    record.write_text(written)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    CleanupJournal(tmp_path / "made").sweep()

    assert victim.exists()
    assert folder.exists()
    assert _made(tmp_path) == [record]
    monkeypatch.undo()
    CleanupJournal(tmp_path / "made").sweep()
    assert not folder.exists()


def test_without_a_place_for_a_key_nothing_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))

    CleanupJournal(tmp_path / "made").sweep()

    assert folder.exists()


def test_a_users_key_is_one_and_only_theirs_to_read(tmp_path: Path) -> None:
    state = tmp_path / "state"
    environment = {"XDG_STATE_HOME": str(state)}
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: user_key(environment), range(32)))

    (key,) = keys
    assert len(key) == 32
    assert [path.name for path in (state / "whet").iterdir()] == ["key"]
    assert stat.S_IMODE((state / "whet" / "key").stat().st_mode) == 0o600
    assert user_key({"HOME": str(tmp_path)}) not in {b"", key}
    (state / "whet" / "key").chmod(0o644)
    assert user_key(environment) == b""


def test_another_machines_things_are_left_alone(tmp_path: Path) -> None:
    folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))
    (record,) = _made(tmp_path)
    _change(record, place="elsewhere pid:[1]\nboot")

    CleanupJournal(tmp_path / "made").sweep()

    assert folder.exists()
    assert _made(tmp_path) == [record]


def test_after_a_restart_of_the_machine_folders_go_and_no_process_is_touched(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(["sleep", "1000"]) as innocent:
        try:
            folder = Path(_as_dead(tmp_path, "print(cleanup_journal.temporary_folder())"))
            _as_dead(tmp_path, f"cleanup_journal.adopt('process', '{innocent.pid}')")
            for record in _made(tmp_path):
                here = json.loads(record.read_text())["place"].split("\n")[0]
                _change(record, place=f"{here}\nanother boot")

            CleanupJournal(tmp_path / "made").sweep()

            assert not folder.exists()
            assert innocent.poll() is None
        finally:
            innocent.kill()
    assert _made(tmp_path) == []


def test_a_worktree_is_removed_with_what_git_knows_of_it(tmp_path: Path) -> None:
    top = tmp_path / "repo"

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        command = ["git", "-C", str(top), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode()

    top.mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    tree, other = tmp_path / "tree", tmp_path / "other"
    cleanup_journal = CleanupJournal(tmp_path / "made")
    for path in (tree, other):
        cleanup_journal.adopt("worktree", str(path), repository=str(top))
        git("worktree", "add", "-q", "--detach", str(path))
    git("worktree", "lock", str(tree))
    (tree / "untracked").write_text("x")

    cleanup_journal.discard(tree)
    cleanup_journal.discard_all()

    assert not tree.exists()
    assert not other.exists()
    assert len(git("worktree", "list").splitlines()) == 1
    assert _made(tmp_path) == []


@pytest.mark.parametrize("number", [1, 2, 4])
def test_what_git_failed_to_remove_of_a_worktree_is_removed(tmp_path: Path, number: int) -> None:
    top, tree, other = (tmp_path / name for name in ("repo", "tree", "other"))
    for words in (
        ["init", "-q", "."],
        ["-c", "user.name=n", "-c", "user.email=e@a.org", "commit", "-q", "--allow-empty", "-m1"],
        ["worktree", "add", "-q", "--detach", str(other)],
        ["worktree", "add", "-q", "--detach", str(tree)],
    ):
        top.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=top, check=True)
    fault = f"inject=unlink:error=EIO:when={number}"
    remove = ["git", "worktree", "remove", "--force", str(tree)]
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", fault, *remove], cwd=top, check=False
    )
    assert done.returncode != 0
    cleanup_journal = CleanupJournal(tmp_path / "made")
    cleanup_journal.adopt("worktree", str(tree), repository=str(top))

    cleanup_journal.discard(tree)

    assert [entry.name for entry in (top / ".git" / "worktrees").iterdir()] == ["other"]
    assert other.exists()
    assert _made(tmp_path) == []


def test_what_git_keeps_of_a_worktree_goes_once_its_repository_is_back(tmp_path: Path) -> None:
    top, away, tree = (tmp_path / name for name in ("repo", "away", "tree"))
    top.mkdir()
    for words in (
        ["init", "-q", "."],
        ["-c", "user.name=n", "-c", "user.email=e@a.org", "commit", "-q", "--allow-empty", "-m1"],
        ["worktree", "add", "-q", "--detach", str(tree)],
    ):
        subprocess.run(["git", *words], cwd=top, check=True)
    cleanup_journal = CleanupJournal(tmp_path / "made")
    cleanup_journal.adopt("worktree", str(tree), repository=str(top))
    top.rename(away)
    top.mkdir()  # where a disk was mounted there is an empty folder

    cleanup_journal.discard_all()

    assert not tree.exists()
    assert len(_made(tmp_path)) == 1
    top.rmdir()
    away.rename(top)

    cleanup_journal.discard_all()

    assert not (top / ".git" / "worktrees").exists()
    assert _made(tmp_path) == []


def test_what_cannot_be_removed_stays_written_down(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a file system")
    cleanup_journal = CleanupJournal(tmp_path / "made")
    folder = cleanup_journal.temporary_folder()
    (folder / "mount").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", folder / "mount"], check=True)
    try:
        with pytest.raises(HostFailure, match="can't remove"):
            cleanup_journal.discard(folder)
        cleanup_journal.discard_all()
        assert len(_made(tmp_path)) == 1
    finally:
        subprocess.run(["umount", folder / "mount"], check=True)

    cleanup_journal.discard_all()

    assert not folder.exists()


def test_a_registry_that_cannot_be_written_is_said_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises((CannotWrite, OSError)):
        CleanupJournal(tmp_path / "file" / "made").temporary_folder()

    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_forked_child_owns_nothing_of_its_parents(tmp_path: Path) -> None:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    folder = cleanup_journal.temporary_folder()
    pid = os.fork()
    if pid == 0:
        cleanup_journal.discard_all()
        os._exit(0)
    os.waitpid(pid, 0)

    assert folder.exists()
    cleanup_journal.discard_all()


def test_an_identity_outlives_its_process_but_not_as_alive() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        identity = ProcessIdentity.of(process.pid)
        assert identity is not None
        assert identity.is_alive
        assert identity.kill(signal.SIGKILL)
    assert ProcessIdentity.of(process.pid) != identity
    assert not identity.kill(signal.SIGKILL)


def test_the_part_of_a_file_that_was_being_written_goes_when_whet_is_killed(
    tmp_path: Path,
) -> None:
    result = tmp_path / "result"
    result.write_bytes(b"the last one")
    _as_dead(
        tmp_path,
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"cleanup_journal.write_file(Path({str(result)!r}), b'new')",
    )
    assert list(tmp_path.glob(".result.*.part"))

    CleanupJournal(tmp_path / "made").sweep()

    assert result.read_bytes() == b"the last one"
    assert not list(tmp_path.glob(".result.*.part"))
    assert _made(tmp_path) == []
