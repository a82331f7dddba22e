"""A clone may bring anything along: whet runs, removes, writes and believes none of it."""

import hashlib
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from whet_command import Whet

from whet.host.code.project import Project

OLD = 1_000_000_000
EVIL = [sys.executable, "-c", "open('ran', 'w')"]


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return each file below a folder: mode, time, and what it holds."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() or path.is_symlink()
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder of the user's, full of old files, beside the clone."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("thesis.md", "notes.txt", "0123-abc"):
        (folder / name).write_text(name)
        os.utime(folder / name, (OLD, OLD))
    return folder


def _incoming(whet: Whet, home: Path) -> None:
    (whet.folder / ".whet" / "blobs").mkdir(parents=True)
    (whet.folder / ".whet" / "blobs" / "incoming").symlink_to(home)


def _blobs(whet: Whet, home: Path) -> None:
    (whet.folder / ".whet").mkdir()
    for name in ("blobs", "scratch", "made", "pycache", "claims", "worktrees", "snapshots"):
        (whet.folder / ".whet" / name).symlink_to(home)


def _all(whet: Whet, home: Path) -> None:
    (whet.folder / ".whet").symlink_to(home)


def _made(whet: Whet, home: Path) -> None:
    folder = whet.folder / ".whet" / "made"
    folder.mkdir(parents=True)
    record = {"kind": "folder", "what": str(home), "repository": "", "start_ticks": 0, "token": ""}
    (folder / "1-1-1.json").write_text(json.dumps({**record, "place": "\n", "seal": ""}))


def _notebook(whet: Whet, home: Path) -> None:
    """Bring a whole notebook, of a trial with a reset step that does harm."""
    other = Whet(whet.folder, {**whet.environment, "WHET_DIR": ".whet"})
    removes = f"rm -rf {home}"
    assert other("run", "--reset-try", "true", "--", "false").code == 1
    with sqlite3.connect(whet.folder / ".whet" / "notebook.db") as connection:
        (data,) = connection.execute("SELECT trial FROM trial").fetchone()
        connection.execute("DROP TRIGGER trial_stays")
        connection.execute(
            "UPDATE trial SET trial = ?", [data.replace('"true"', json.dumps(removes))]
        )
    connection.close()


def _pycache(whet: Whet, _home: Path) -> None:
    folder = whet.folder / ".whet" / "pycache"
    assert whet("run", "--", sys.executable, "main.py").code == 0
    shutil.copytree(whet.state / "pycache", folder)
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"evil" + path.read_bytes()[4:])


CLONES: dict[str, Callable[[Whet, Path], None]] = {
    "incoming files elsewhere": _incoming,
    "each folder elsewhere": _blobs,
    "all of it elsewhere": _all,
    "a record of what to remove": _made,
    "trials of others": _notebook,
    "byte code": _pycache,
}


@pytest.mark.parametrize("kind", CLONES)
def test_what_a_clone_brings_along_is_neither_run_nor_removed_nor_written_to(
    kind: str, whet: Whet, home: Path
) -> None:
    whet.write("main.py", "import helper\nprint(helper.ANSWER)\n")
    whet.write("helper.py", "ANSWER = 42\n")
    CLONES[kind](whet, home)
    shutil.rmtree(whet.folder / "__pycache__", ignore_errors=True)
    users, clone = tree(home), tree(whet.folder)

    for words in (["log"], ["run", "--", sys.executable, "-B", "main.py"], ["show"], ["again"]):
        said = whet(*words)
        assert said.code == 0, said.stderr
        assert "Traceback" not in said.stderr
        assert "42" in said.stdout or words[0] in {"log", "show"}

    assert tree(home) == users
    assert tree(whet.folder) == clone


def test_trials_of_others_are_pointed_out_once_and_never_started(whet: Whet, home: Path) -> None:
    _notebook(whet, home)

    assert "there are no trials yet" in whet("again").stderr
    assert "`whet notebook adopt .whet`" in whet("log").stderr
    shutil.rmtree(whet.state)
    first, second = whet("run", "--", "true"), whet("run", "--", "true")
    assert "`whet notebook adopt .whet`" in first.stderr
    assert "adopt" not in second.stderr


def test_a_notebook_is_taken_over_after_what_it_would_start_was_shown(whet: Whet) -> None:
    other = Whet(whet.folder, {**whet.environment, "WHET_DIR": "kept"})
    other("run", "--name", "first", "--", "echo", "hello")
    other("run", "--", *EVIL)
    (whet.folder / "ran").unlink()
    before = tree(whet.folder / "kept" / "blobs")

    asked = whet("notebook", "adopt", "kept")
    assert asked.code == 64
    assert "echo hello" in asked.stderr
    assert "open('\"'\"'ran'\"'\"'" in asked.stderr
    taken = whet("notebook", "adopt", "kept", "--yes")
    assert taken.code == 0, taken.stderr

    assert "adopted 2 trials" in taken.stdout
    assert not (whet.folder / "ran").exists()
    assert tree(whet.folder / "kept" / "blobs") == before
    assert "hello" in whet("show", "1").stdout
    assert "numbers would clash" in whet("notebook", "adopt", "kept", "--yes").stderr


def _trigger(path: Path, _home: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER more AFTER INSERT ON trial BEGIN SELECT load_extension('x'); END"
        )
    connection.close()


def _view(path: Path, _home: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW more AS SELECT * FROM trial")
    connection.close()


def _nested(path: Path, _home: Path) -> None:
    with sqlite3.connect(path) as connection:
        (sql,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'outcome_stays'"
        ).fetchone()
        connection.execute("DROP TRIGGER outcome_stays")
        connection.execute("UPDATE outcome SET outcome = ?", ["[" * 200_000])
        connection.execute(sql)
    connection.close()


def _cut(path: Path, _home: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _noise(path: Path, _home: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:12000] = os.urandom(12000 - 4096)
    path.write_bytes(data)


def _empty(path: Path, _home: Path) -> None:
    path.write_bytes(b"")


def _link(path: Path, home: Path) -> None:
    path.rename(home / "notebook.db")
    path.symlink_to(home / "notebook.db")


def _fifo(path: Path, _home: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path, home: Path) -> None:
    path.parent.rename(home / "kept")
    path.parent.symlink_to(home / "kept")


@pytest.mark.parametrize(
    "spoil", [_trigger, _view, _nested, _cut, _noise, _empty, _link, _fifo, _folder]
)
def test_a_notebook_that_is_not_what_whet_writes_is_refused_in_a_sentence(
    spoil: Callable[[Path, Path], None], whet: Whet, home: Path
) -> None:
    other = Whet(whet.folder, {**whet.environment, "WHET_DIR": "kept"})
    other("run", "--", "true")
    path = whet.folder / "kept" / "notebook.db"
    connection = sqlite3.connect(path)  # folds what was written last into the file
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    spoil(path, home)

    said = whet("notebook", "adopt", "kept", "--yes")

    assert said.code in {65, 66}, said.stderr
    assert "error: " in said.stderr
    assert "hint: " in said.stderr
    assert "Traceback" not in said.stderr
    assert "no trials here yet" in whet("log").stderr


def test_a_blob_that_does_not_hold_what_its_name_says_stays_behind(whet: Whet, home: Path) -> None:
    other = Whet(whet.folder, {**whet.environment, "WHET_DIR": "kept"})
    other("run", "--", "echo", "hello")
    blobs = [path for path in (whet.folder / "kept" / "blobs").rglob("*") if path.is_file()]
    (hello,) = (path for path in blobs if path.read_bytes() == b"hello\n")
    hello.chmod(0o600)
    hello.write_bytes(b"bye!!\n")
    (hello.parent / "0000").symlink_to(home / "thesis.md")

    assert whet("notebook", "adopt", "kept", "--yes").code == 0

    kept = Project.find(whet.folder, {**os.environ, **whet.environment}).state / "blobs"
    held = [path.read_bytes() for path in kept.rglob("*") if path.is_file()]
    assert b"bye!!\n" not in held
    assert b"thesis.md" not in held


@pytest.mark.parametrize(
    ("statement", "verbs"),
    [
        ("""UPDATE outcome SET outcome = '{"exit_code": "three"}'""", ("show", "log", "secrets")),
        ("""UPDATE trial SET trial = '{"command": 7}'""", ("show", "log", "again", "post-mortem")),
        ("""INSERT OR REPLACE INTO resource_use VALUES (1, 1, 1, '{"seconds": 5}')""", ("show",)),
    ],
)
def test_what_is_kept_with_a_trial_and_cannot_be_read_is_said_to_be_damaged(
    whet: Whet, statement: str, verbs: tuple[str, ...]
) -> None:
    whet("run", "--locals", "--", sys.executable, "-c", "1/0")
    with closing(sqlite3.connect(whet.state / "notebook.db")) as notebook:
        kept = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (name,) in notebook.execute(kept).fetchall():
            notebook.execute(f"DROP TRIGGER {name}")
        notebook.execute(statement)
        notebook.commit()

    for verb in verbs:
        said = whet(verb)
        assert said.code == 65, (verb, said)
        assert "whet explain notebook-damaged" in said.stderr


def test_observations_that_cannot_be_read_are_said_to_be_damaged(whet: Whet) -> None:
    whet("run", "--locals", "--", sys.executable, "-c", "1/0")
    odd = b"[7]"
    digest = hashlib.sha256(odd).hexdigest()
    (whet.state / "blobs" / digest[:2]).mkdir(exist_ok=True)
    (whet.state / "blobs" / digest[:2] / digest[2:]).write_bytes(odd)
    with closing(sqlite3.connect(whet.state / "notebook.db")) as notebook:
        notebook.execute("DROP TRIGGER evidence_stays")
        found = notebook.execute("UPDATE evidence SET blob = ? WHERE kind = 'failures'", [digest])
        assert found.rowcount == 1
        notebook.commit()

    for verb in ("show", "post-mortem"):
        said = whet(verb)
        assert said.code == 65, (verb, said)
        assert "can't read something that it keeps with a trial" in said.stderr


def test_a_project_allows_no_more_than_the_user_until_the_user_agrees(
    whet: Whet, tmp_path: Path
) -> None:
    (tmp_path / "config" / "whet").mkdir(parents=True)
    (tmp_path / "config" / "whet" / "settings.toml").write_text("timeout_seconds = 0.5\n")
    mine = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    program = (sys.executable, "-c", "import time; time.sleep(2)")
    whet.write("whet.toml", "timeout_seconds = 600\n")

    left_out = whet("run", "--", *program, environment=mine)
    assert "allow more than yours do, so yours apply to `timeout_seconds`" in left_out.stderr
    assert left_out.code == 124
    assert "`timeout_seconds = 600` allows more" in whet("settings", environment=mine).stdout

    whet("settings", "--agree", environment=mine)
    agreed = whet("run", "--", *program, environment=mine)
    assert (agreed.code, "allow more" in agreed.stderr) == (0, False)
