"""What a run looks at is noted whole: by each way in which a program can look, real ones."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from looking_programs import WAYS, Way, follows, make_history, run_on

from whet.core.observations.file_accesses import READS_GIT, FileAccesses
from whet.host.kernel.seccomp import why_not
from whet.workbench.trials.bench import Workbench, open_workbench

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"programs cannot be watched: {why_not()}")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    with open_workbench() as opened:
        yield opened


def without(looks: FileAccesses, path: str) -> FileAccesses:
    """Return looks as they would be if this path had not been noted."""
    return replace(
        looks,
        paths=tuple(
            each for each in looks.paths if each != path and not each.startswith(f"{path}/")
        ),
        folders=tuple(each for each in looks.folders if each != path),
    )


# The others are in the long run.
OFTEN = {
    "a file that is read", "a module that is not there", "a folder that is listed",
    "whether a file may be run", "a link on the way", "a grandchild that has left its session",
    "by a descriptor of its folder", "behind a link that it has made elsewhere",
    "after it has moved it", "a file that it writes over", "a reset step",
    "how git writes a file out",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.long) for name in WAYS]
)
def test_what_tells_two_states_apart_is_noted(name: str, bench: Workbench, tmp_path: Path) -> None:
    way = WAYS[name]
    shared = {"README": "1", "run.txt": "x", **way.before}
    first, second, other = make_history(
        tmp_path / "r",
        [shared, way.after, {**{each: way.before.get(each) for each in way.after}, "README": "2"}],
    )

    (outcome, looks), (changed, _) = run_on(bench, tmp_path / "r", [first, second], way)

    assert outcome.exit_code == 0, outcome.stderr.head(500)
    assert changed.exit_code != 0
    assert looks.gap == ""
    found = follows(tmp_path / "r", first, looks, [second, other])
    assert second not in found
    if way.seen or not looks.folders:
        assert other in found
    if "git writes" not in name:  # and the test would show it if it were not
        assert second in follows(tmp_path / "r", first, without(looks, way.seen), [second])


GAPS = {
    "git's own data": "import subprocess; subprocess.run(['git', 'rev-parse', 'HEAD'], check=True)",
    "git's folder of the repository": "import glob, re; place = open('.git').read().split()[1]; open(place + '/HEAD').read()",
    "another process": "import socket, os, threading\ns = socket.socket(socket.AF_UNIX); s.bind('\\0whet-test-%d' % os.getpid()); s.listen()\n"
    "c = socket.socket(socket.AF_UNIX); c.connect('\\0whet-test-%d' % os.getpid())",
    "the network": "import socket\ntry: socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError: pass",
    "a pipe with a name": "import os; os.mkfifo('pipe'); os.open('pipe', os.O_RDWR)",
    "another view of the file system": "import ctypes; ctypes.CDLL(None).unshare(0x20000)",
}


@pytest.mark.parametrize("name", GAPS)
def test_nothing_is_concluded_from_a_run_that_names_do_not_tell_of(
    name: str, bench: Workbench, tmp_path: Path
) -> None:
    first, second = make_history(tmp_path / "r", [{"README": "1"}, {"README": "2"}])

    way = Way(program=GAPS[name], before={}, after={}, seen="")
    ((outcome, looks),) = run_on(bench, tmp_path / "r", [first], way)

    assert outcome.exit_code == 0, outcome.stderr.head(500)
    assert looks.gap
    assert (looks.gap == READS_GIT) == ("git" in name)
    assert not follows(tmp_path / "r", first, looks, [second])


def test_nothing_is_concluded_from_a_run_that_moves_a_folder_of_the_checkout(
    bench: Workbench, tmp_path: Path
) -> None:
    program = "import os, sys; os.rename('v1', 'mine'); sys.exit('two' in open('mine/data').read())"
    way = Way(program=program, before={}, after={}, seen="")
    first, second = make_history(tmp_path / "r", [{"v1/data": "one"}, {"v1/data": "two"}])

    ((_, looks),) = run_on(bench, tmp_path / "r", [first], way)

    assert looks.moved == ("v1",)
    assert not follows(tmp_path / "r", first, looks, [second])


def test_a_folder_that_the_run_made_itself_may_be_moved(bench: Workbench, tmp_path: Path) -> None:
    program = "import os; os.mkdir('mine'); os.rename('mine', 'done')"
    way = Way(program=program, before={}, after={}, seen="")
    first, second = make_history(tmp_path / "r", [{"README": "1"}, {"README": "2"}])

    ((_, looks),) = run_on(bench, tmp_path / "r", [first], way)

    assert follows(tmp_path / "r", first, looks, [second]) == {second}


def test_a_repository_that_is_looked_for_is_not_read(bench: Workbench, tmp_path: Path) -> None:
    program = "import os; assert os.path.exists('.git') and not os.path.exists('.git/pyvenv.cfg')"
    way = Way(program=program, before={}, after={}, seen="")
    first, second = make_history(tmp_path / "r", [{"README": "1"}, {"README": "2"}])

    ((_, looks),) = run_on(bench, tmp_path / "r", [first], way)

    assert looks.gap == ""
    assert follows(tmp_path / "r", first, looks, [second]) == {second}


def test_python_itself_and_the_standard_library_leave_no_gap(
    bench: Workbench, tmp_path: Path
) -> None:
    program = "import json, subprocess, tempfile, unittest; subprocess.run(['true'], check=True)"
    way = Way(program=program, before={}, after={}, seen="")
    first, _ = make_history(tmp_path / "r", [{"README": "1"}, {"README": "2"}])

    ((_, looks),) = run_on(bench, tmp_path / "r", [first], way)

    assert looks.gap == ""
    assert not any(path.startswith(sys.prefix.lstrip("/")) for path in looks.paths)
