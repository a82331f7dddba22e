"""Each recipe by which people make a machine run out of something, as one option of whet.

A recipe fills a disk with `dd`, holds memory with a line of Perl, opens a shell with `systemd-run` or takes
GPU memory from another window. Here a real program fails that way, at once, and the limit is named.
The rows stand in docs/guides/running-out.md too.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from whet_command import Whet

_AT_ONCE_SECONDS = 5.0
_PERL = "$b = 'A' x 2**20; $y .= $b for 2..1000; sleep 1000"
_LEAKS = """
held = []
def leak():
    while True:
        held.append(b"1" * 1_000_000)
leak()
"""
_DOWNLOADS = """
import tempfile
with tempfile.NamedTemporaryFile() as file:
    while True:
        file.write(b"1" * 65536)
"""
_SPREADS = """
import multiprocessing

def hold(_):
    return len(bytearray(b"1" * 15_000_000) * 1) and __import__("time").sleep(1000)

if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        pool.map(hold, range(4))
"""


@pytest.fixture
def ready(whet: Whet) -> Whet:
    """Whet in a folder with the programs of the recipes."""
    for name, text in (("leaks", _LEAKS), ("downloads", _DOWNLOADS), ("spreads", _SPREADS)):
        whet.write(f"{name}.py", text)
    whet.write("files/large.bin", "1" * 4_000_000)
    return whet


def _outcome(whet: Whet, *words: str) -> "dict[str, object]":
    said = whet("starve", "--json", *words)
    assert said.stdout, said.stderr
    outcome: dict[str, object] = json.loads(said.stdout)["outcome"]
    assert float(str(outcome["wall_seconds"])) < _AT_ONCE_SECONDS
    return outcome


def _failure(outcome: "dict[str, object]") -> "dict[str, str]":
    failure = outcome["failure"]
    assert isinstance(failure, dict), outcome
    return failure


@pytest.mark.parametrize(
    ("options", "command", "limit", "says"),
    [
        pytest.param(
            ["--disk-free", "1M"],
            ["sh", "-c", "tar cf - files | tar xf - -C $TMPDIR"],
            "disk-free",
            "used)",
            id="a temporary folder that is almost full while a program unpacks there",
        ),
        pytest.param(
            ["--disk", "1M"],
            [sys.executable, "downloads.py"],
            "disk",
            "No space left on device",
            id="a small file system in memory, found by TMPDIR",
        ),
        pytest.param(
            ["--limits", "full-tmp"],
            ["sh", "-c", "dd if=/dev/zero of=$TMPDIR/one.bin bs=64K count=100"],
            "disk-free",
            "No space left on device",
            id="a full temporary folder, by name",
        ),
        pytest.param(
            ["--memory", "64M"],
            ["perl", "-e", _PERL],
            "memory",
            "largest process perl",
            id="memory held step by step by a line of Perl",
        ),
        pytest.param(
            ["--memory", "64M"],
            [sys.executable, "leaks.py"],
            "memory",
            "killed by the memory limit",
            id="a leak",
        ),
        pytest.param(
            ["--memory", "80M"],
            [sys.executable, "spreads.py"],
            "memory",
            " of 80.00 MiB",
            id="a tree of processes, of which none needs much by itself",
        ),
    ],
)
def test_it_runs_out_at_once_and_the_limit_is_named(
    ready: Whet, options: list[str], command: list[str], limit: str, says: str
) -> None:
    failure = _failure(_outcome(ready, *options, "--", *command))
    assert failure["limit"] == limit, failure
    assert says in failure["summary"]


def test_soft_and_hard_limit_and_swap_as_of_a_shell_of_systemd_run(ready: Whet) -> None:
    options = ("--memory", "64M", "--memory-high", "64M", "--swap", "16M")
    said = ready("starve", "--json", *options, "--", sys.executable, "leaks.py")
    if said.code == os.EX_UNAVAILABLE:
        assert "version 1 has no limit that slows a program down" in said.stderr
        pytest.skip(
            "--memory-high needs control groups of version 2: see tests/host/limits/test_groups_of_version_2.py"
        )
    assert json.loads(said.stdout)["outcome"]["failure"]["limit"] == "memory"


def test_each_recipe_stands_in_the_guide() -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs/guides/running-out.md").read_text()
    for option in (
        "--disk-free 1G",
        "--disk 1G",
        "--memory 5G",
        "--gpu-free 3G",
        "--gpu-memory 3G",
    ):
        assert f"`{option}" in guide, option
