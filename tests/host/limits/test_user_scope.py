"""Asking a user's own systemd for control groups: what is missing is said, and a refusal ends nothing.

That it works where there is one: test_groups_of_version_2.py.
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet.host.kernel.control_groups import own_group
from whet.host.limits.groups import user_scope
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.spawner_process import SpawnerProcess


@pytest.fixture
def runtime(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where somebody listens as a user's systemd does, and a `systemd-run` that gives nothing."""
    program = short_folder / "systemd-run"
    program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{short_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder))
    monkeypatch.setattr(user_scope, "_refusals", [])
    (short_folder / "systemd").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(short_folder / "systemd" / "private"))
        listener.listen()
        yield short_folder


@pytest.fixture
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose path leaves room for the name of a socket."""
    return tmp_path_factory.mktemp("run")


def test_a_systemd_that_answers_is_worth_a_try(runtime: Path) -> None:
    assert user_scope.scope_blocker() == ""
    assert user_scope.scope_prefix()[0] == str(runtime / "systemd-run")


def test_what_is_missing_is_said(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (runtime / "systemd" / "private").unlink()
    assert "your user's systemd doesn't answer" in user_scope.scope_blocker()
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert "`XDG_RUNTIME_DIR` isn't set" in user_scope.scope_blocker()
    monkeypatch.setenv("PATH", str(runtime / "systemd"))
    assert user_scope.scope_blocker() == "`systemd-run` isn't installed"


@pytest.mark.usefixtures("runtime")
def test_where_it_gives_nothing_another_spawner_does_the_work_and_it_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_scope, "_PATIENCE_SECONDS", 0.0)
    cleanup_journal = CleanupJournal(tmp_path / "made")
    first = SpawnerProcess(cleanup_journal)
    second = first.in_scope(cleanup_journal)
    try:
        assert second.pid != first.pid
        assert second.ready(cleanup_journal) is second
        assert not Path(f"/proc/{first.pid}").exists()
        assert user_scope.home_group() == own_group("")
        assert user_scope.scope_blocker() == "it created no group"
    finally:
        second.close()
    assert list((tmp_path / "made").iterdir()) == []
