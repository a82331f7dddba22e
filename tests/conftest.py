"""What holds for every test: the same answers anywhere, and nothing left behind."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from whet.host.kernel import mounts
from whet.host.trial import known_secrets

DEBIAN_PACKAGES = {
    "gdb": "gdb",
    "pgrep": "procps",
    "ps": "procps",
    "script": "util-linux",
    "strace": "strace",
    "tmux": "tmux",
    "unshare": "util-linux",
}

_PATIENCE_SECONDS = 20.0

_ENOUGH_TO_LOOK_FOR_GARBAGE = 50_000
"""New objects: what is collected is thousands of items that stay, and looking at them finds nothing."""

# On a busy machine a deadline fails the innocent; time is measured in benchmarks/, not here.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``needs`` known; keep what is mounted from other tests that run beside."""
    config.addinivalue_line(
        "markers", "needs(*programs): skip, saying which package brings it, where one is missing"
    )
    gc.set_threshold(_ENOUGH_TO_LOOK_FOR_GARBAGE)
    # A shell has what it starts in the background ignore Ctrl-C, and all that this starts inherits it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The kernel refuses an ordinary user's overlay of `/tmp` while something is mounted below it.
    with suppress(OSError):
        mounts.unshare(mounts.CLONE_NEWNS)
        mounts.keep_mounts_private()


def pytest_collection(session: pytest.Session) -> None:
    """Have each worker compile a share of the tests, and take what the others have compiled."""
    worker: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    module: Any = pytest.Module  # its parent has no type
    places = {Path(each.partition("::")[0]) for each in session.config.args}
    files = sorted(file for place in places for file in place.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # the collection says it
            _ = module.from_parent(session, path=file.absolute()).obj


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, not among the tests."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a program which is not installed."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            assert isinstance(program, str)
            if shutil.which(program) is None:
                package = DEBIAN_PACKAGES.get(program, program)
                pytest.skip(f"needs `{program}`: apt-get install {package}")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run on a machine that has no git identity, no whet settings and no outer repository."""
    home = tmp_path_factory.mktemp("xdg")
    with pytest.MonkeyPatch.context() as patch:
        for name in tuple(os.environ):
            if name.startswith(("GIT_", "WHET_", "COV_CORE_")) and name not in _KEPT:
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        # As where an environment is active: `python3` is the one that runs the tests, not a script of
        # a version manager that looks for it each time.
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        # `make` unsets this, too; in a container it is often set, and then each process compiles all of
        # its modules again: an investigation takes twice as much processor time.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        # A pytest that a test starts has no use for the plugins of this one, and they take twice as
        # long to load as pytest itself.
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _hang_ups_are_heard() -> None:
    """Run as from a terminal: `nohup` would let whet, too, ignore that signal."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


_KEPT = {"GIT_SSL_CAINFO"}


@pytest.fixture(autouse=True)
def _secrets_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the secrets of earlier tests: those of a process are masked in all that it says."""
    monkeypatch.setattr(known_secrets, "_known_secrets", known_secrets.KnownSecrets())


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Fail a test that leaves a process behind, and end that process."""
    before = _children()
    yield
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left := {pid: name for pid, name in _children().items() if pid not in before}:
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"left running: {left}")
        time.sleep(0.01)


def _children() -> dict[int, str]:
    """Return the living children of this process: number and command line. Linux only."""
    found: dict[int, str] = {}
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            pids = listing.read_text().split()
        except OSError:
            continue  # that thread has ended
        for pid in pids:
            try:
                command = Path("/proc", pid, "cmdline").read_bytes()
            except OSError:
                continue
            if command:  # a zombie has none: it is not running
                found[int(pid)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


@pytest.fixture
def mounted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder on a file system whose clock goes in "ticks", or in "whole seconds"."""
    kind, folder = request.param, tmp_path / "mounted"
    folder.mkdir()
    command: list[str | Path] = ["mount", "-t", "ramfs", "none", folder]
    if kind == "whole seconds":
        if not shutil.which("mkfs.ext4"):
            pytest.skip("`mkfs.ext4` is not installed (Debian: e2fsprogs)")
        image = tmp_path / "image"
        with image.open("wb") as file:
            file.truncate(4 << 20)
        # An inode of 128 bytes has no room for parts of a second.
        subprocess.run(["mkfs.ext4", "-q", "-I", "128", image], check=True, capture_output=True)
        command = ["mount", "-o", "loop", image, folder]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"cannot mount a file system with {kind} here")
    try:
        yield folder
    finally:
        # Lazily: a process that was killed may not have let go of it yet.
        subprocess.run(["umount", "--lazy", folder], check=True)
