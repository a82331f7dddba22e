import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from local_index import LocalIndex, served

from whet.core.errors import CannotWrite, DiskFull, IndexUnreachable, ReleaseNotInstallable
from whet.host.python.environments import PackageEnvironment, PackageEnvironments, default_place
from whet.host.python.index_settings import IndexSettings
from whet.host.python.python_interpreter import PythonFacts

pytestmark = pytest.mark.slow
PYTHON = PythonFacts.ask(sys.executable)


@pytest.fixture
def local() -> Iterator[LocalIndex]:
    with served(LocalIndex()) as index:
        yield index


def environments(local: LocalIndex, tmp_path: Path, *, with_uv: bool = True) -> PackageEnvironments:
    inherited = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
        "PIP_CONFIG_FILE": "/dev/null",
        "NO_PROXY": "127.0.0.1",
        # None of these may lead the installer or the environment astray.
        "PYTHONPATH": str(tmp_path),
        "VIRTUAL_ENV": str(tmp_path / "mine"),
        "PIP_USER": "1",
    }
    return PackageEnvironments(
        place=tmp_path / "made",
        python=PYTHON,
        settings=IndexSettings(url=local.url),
        environment=inherited,
        uv=None if with_uv else "",
    )


def version_seen_by(environment: PackageEnvironment, module: str = "tool") -> str:
    done = subprocess.run(
        [environment.python, "-c", f"import {module}; print({module}.VERSION)"],
        capture_output=True,
        check=True,
        text=True,
        cwd="/",
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "with_uv", [True, pytest.param(False, marks=pytest.mark.long)], ids=["uv", "pip"]
)
def test_the_release_and_what_it_requires_stand_in_an_environment_of_their_own(
    local: LocalIndex, tmp_path: Path, *, with_uv: bool
) -> None:
    local.wheel("tool", "1.0", requires=("needed>=2",)).wheel("tool", "2.0")
    local.wheel("needed", "1.0").wheel("needed", "2.1").wheel("beside", "0.3")

    made = environments(local, tmp_path, with_uv=with_uv).environment_for(
        {"tool": "1.0"}, ["beside"]
    )

    assert version_seen_by(made) == "1.0"
    installed = dict(folder.stem.rsplit("-", 1) for folder in made.packages.glob("*.dist-info"))
    wanted = {"tool": "1.0", "needed": "2.1", "beside": "0.3"}
    assert {name: installed.get(name) for name in wanted} == wanted
    assert "pytest" not in installed


def test_an_environment_is_made_once_and_kept_apart_from_others(
    local: LocalIndex, tmp_path: Path
) -> None:
    local.wheel("tool", "1.0").wheel("tool", "2.0", yanked="withdrawn")
    maker = environments(local, tmp_path)

    first = maker.environment_for({"tool": "1.0"})
    asked = len(local.asked)
    again = maker.environment_for({"tool": "1.0"})
    other = maker.environment_for({"tool": "2.0"})

    assert first == again
    assert len([path for path, _ in local.asked[:asked] if "simple" in path]) >= 1
    assert (version_seen_by(first), version_seen_by(other)) == ("1.0", "2.0")


def test_what_is_made_needs_the_index_no_more(local: LocalIndex, tmp_path: Path) -> None:
    local.wheel("tool", "1.0")
    maker = environments(local, tmp_path)
    first = maker.environment_for({"tool": "1.0"})
    local.status = 503

    assert maker.environment_for({"tool": "1.0"}) == first


def test_whets_side_by_side_make_one_environment(local: LocalIndex, tmp_path: Path) -> None:
    local.wheel("tool", "1.0")

    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda _: environments(local, tmp_path).environment_for({"tool": "1.0"}), range(4)
            )
        )

    assert len(set(made)) == 1
    assert len(list(made[0].folder.parent.glob("environment-*"))) == 1


def test_a_source_distribution_is_built(local: LocalIndex, tmp_path: Path) -> None:
    local.sdist("tool", "1.0")

    assert version_seen_by(environments(local, tmp_path).environment_for({"tool": "1.0"})) == "1.0"


def test_a_release_that_cannot_be_built_is_refused_with_the_builders_last_words(
    local: LocalIndex, tmp_path: Path
) -> None:
    local.sdist("tool", "1.0", is_broken=True)

    with pytest.raises(ReleaseNotInstallable, match=r"can't install `tool==1\.0`") as refused:
        environments(local, tmp_path).environment_for({"tool": "1.0"})

    assert "RuntimeError: this release needs a compiler of 1998" in str(refused.value)
    complaint = Path(refused.value.hint.split("`")[1])
    assert "this release needs a compiler of 1998" in complaint.read_text()
    assert not list((tmp_path / "made").glob("*/environment-*"))


@pytest.mark.parametrize(
    ("version", "requires"), [("9.9", ()), ("1.0", ("no-such-thing",)), ("1.0", ("other>3",))]
)
def test_a_release_whose_requirements_cannot_be_met_is_refused(
    local: LocalIndex, tmp_path: Path, version: str, requires: tuple[str, ...]
) -> None:
    local.wheel("tool", "1.0", requires=requires).wheel("other", "3.0")

    with pytest.raises(ReleaseNotInstallable, match=f"`tool=={version}`"):
        environments(local, tmp_path).environment_for({"tool": version})


def test_a_release_for_another_python_is_refused(local: LocalIndex, tmp_path: Path) -> None:
    local.wheel("tool", "1.0", requires_python=">=99")

    with pytest.raises(ReleaseNotInstallable, match=r"tool==1\.0"):
        environments(local, tmp_path).environment_for({"tool": "1.0"})


def test_an_index_that_is_down_is_not_held_against_the_release(
    local: LocalIndex, tmp_path: Path
) -> None:
    local.status = 403  # uv tries again for seconds where an answer begins with 5

    with pytest.raises(IndexUnreachable, match="it answers 403"):
        environments(local, tmp_path).environment_for({"tool": "1.0"})


def test_dependencies_may_be_those_of_a_day(local: LocalIndex, tmp_path: Path) -> None:
    local.wheel("tool", "1.0", requires=("needed",), uploaded="2020-01-01T00:00:00Z")
    local.wheel("needed", "1.0", uploaded="2019-01-01T00:00:00Z")
    local.wheel("needed", "2.0", uploaded="2021-01-01T00:00:00Z")
    maker = environments(local, tmp_path)

    then = maker.environment_for({"tool": "1.0"}, as_of="2020-01-02T00:00:00Z")
    now = maker.environment_for({"tool": "1.0"})

    assert version_seen_by(then, "needed") == "1.0"
    assert version_seen_by(now, "needed") == "2.0"


KILLED_WHILE_MAKING = """
import json, sys
from pathlib import Path
from whet.host.python.environments import PackageEnvironments
from whet.host.python.index_settings import IndexSettings
from whet.host.python.python_interpreter import PythonFacts
place, url, environment = json.loads(sys.argv[1])
maker = PackageEnvironments(place=Path(place), python=PythonFacts.ask(sys.executable),
                            settings=IndexSettings(url=url), environment=environment)
print(maker.environment_for({"tool": "1.0"}).folder, flush=True)
"""


def test_a_whet_killed_half_way_leaves_nothing_half_used(local: LocalIndex, tmp_path: Path) -> None:
    local.wheel("tool", "1.0")
    maker = environments(local, tmp_path)
    asked, goes_on = threading.Event(), threading.Event()

    def wait() -> None:
        asked.set()
        goes_on.wait(20)

    local.before_answer = wait
    # A cache of its own: uv locks what it fetches, and the installer outlives its whet.
    inherited = {**maker.environment, "UV_CACHE_DIR": str(tmp_path / "its-cache")}
    argument = json.dumps([str(maker.place), local.url, inherited])
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_WHILE_MAKING, argument],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        assert asked.wait(20)  # its installer waits for the index: the environment is half made
        child.send_signal(signal.SIGKILL)
        child.wait()
        (left,) = maker.place.glob("*/environment-*")
        assert not (left.parent / "ready").exists()

        local.before_answer = None
        made = maker.environment_for({"tool": "1.0"})  # while the killed one's installer lives on
        goes_on.set()
        assert child.stdout is not None
        assert child.stdout.read() == b""

    assert made.folder != left
    assert version_seen_by(made) == "1.0"
    assert maker.environment_for({"tool": "1.0"}) == made


@pytest.mark.parametrize("damage", ["python", "ready"])
def test_a_damaged_environment_is_made_anew(local: LocalIndex, tmp_path: Path, damage: str) -> None:
    local.wheel("tool", "1.0")
    maker = environments(local, tmp_path)
    made = maker.environment_for({"tool": "1.0"})
    if damage == "python":
        made.python.unlink()
    else:
        (made.folder.parent / "ready").write_text("{")

    anew = maker.environment_for({"tool": "1.0"})

    assert version_seen_by(anew) == "1.0"
    assert [anew.folder] == list(anew.folder.parent.glob("environment-*"))


@pytest.mark.parametrize("place", ["/proc/whet", "/dev/full/whet"])
def test_a_place_that_cannot_be_made_is_named(local: LocalIndex, place: str) -> None:
    maker = PackageEnvironments(
        place=Path(place), python=PYTHON, settings=IndexSettings(url=local.url)
    )

    with pytest.raises(CannotWrite, match=place):
        maker.environment_for({"tool": "1.0"})


def test_a_disk_without_space_is_named(
    local: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: object, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    maker = environments(local, tmp_path)
    monkeypatch.setattr(os, "open", full)

    with pytest.raises(DiskFull, match=str(tmp_path)):
        maker.environment_for({"tool": "1.0"})


def test_a_python_that_cannot_make_environments_is_refused(
    local: LocalIndex, tmp_path: Path
) -> None:
    local.wheel("tool", "1.0")
    maker = environments(local, tmp_path)
    without = PackageEnvironments(
        place=maker.place,
        python=PythonFacts(
            path=str(tmp_path / "python3"), version="3.11.0", implementation="cpython"
        ),
        settings=maker.settings,
        environment=maker.environment,
    )

    with pytest.raises(ReleaseNotInstallable, match="python3"):
        without.environment_for({"tool": "1.0"})


def ready_made(tmp_path: Path) -> PackageEnvironment:
    programs = tmp_path / "env" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "tool"):
        (programs / name).write_text("")
    return PackageEnvironment(folder=tmp_path / "env")


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (["python", "-m", "tool"], "env/bin/python"),
        (["python3.9", "x.py"], "env/bin/python"),
        (["/usr/bin/python3", "x.py"], "env/bin/python"),
        (["tool", "x"], "env/bin/tool"),
        (["mine/bin/tool", "x"], "env/bin/tool"),
        (["./tool", "x"], None),
        (["sh", "-c", "tool"], None),
        (["./repro.py"], None),
    ],
)
def test_pythons_and_programs_of_the_environment_take_the_place_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], first: str | None
) -> None:
    environment = ready_made(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool").write_text("a script of the user's own")
    (tmp_path / "mine" / "bin").mkdir(parents=True)
    for name in ("python", "tool"):
        (tmp_path / "mine" / "bin" / name).write_text("")

    words, overrides = environment.command_in(command, "/usr/bin:/bin")

    assert words[0] == (command[0] if first is None else str(tmp_path / first))
    assert list(words[1:]) == command[1:]
    assert overrides == {
        "PATH": f"{tmp_path}/env/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": f"{tmp_path}/env",
        "PYTHONPATH": "",
        "PYTHONHOME": "",
    }


def test_a_command_without_words_or_path_is_left_alone(tmp_path: Path) -> None:
    words, overrides = ready_made(tmp_path).command_in([], "")

    assert words == ()
    assert overrides["PATH"] == f"{tmp_path}/env/bin"


def test_a_checkout_on_the_python_path_does_not_hide_the_release(
    local: LocalIndex, tmp_path: Path
) -> None:
    local.wheel("tool", "1.0")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "tool.py").write_text("VERSION = 'that of the checkout'")
    made = environments(local, tmp_path).environment_for({"tool": "1.0"})

    words, overrides = made.command_in(
        ["python", "-c", "import tool; print(tool.VERSION)"], os.environ["PATH"]
    )
    seen = subprocess.run(
        words,
        env={"PYTHONPATH": str(tmp_path / "checkout"), **overrides},
        capture_output=True,
        check=True,
        cwd="/",
    )
    program, overrides = made.command_in(["tool"], os.environ["PATH"])
    said = subprocess.run(program, env=overrides, capture_output=True, check=True)

    assert seen.stdout == said.stdout == b"1.0\n"


def test_environments_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")

    assert default_place() == Path("/some/cache/whet/environments")
