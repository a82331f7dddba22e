"""Ranks that torch's own `torchrun` has started: probes, one rank of them, stacks by rank."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("torch") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
TRAIN = """\
import os
import sys

import torch
import torch.distributed as dist


def step(value):
    total = torch.tensor([value])
    dist.all_reduce(total)
    return int(total)


def save(path):
    with open(path, "wb") as file:
        file.write(b"weights")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    step(rank + 1)
    if len(sys.argv) > 1:
        os.write(1, b"ready\\n")
        if rank == 1:
            save(sys.argv[1])
        step(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""


def whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=folder,
        env={**os.environ, "WHET_DIR": str(folder / "state"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )


def test_probes_tell_the_ranks_apart_and_may_be_asked_of_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    looking = ("train.py:step", "print", "value", "--json", "--")
    every = whet(tmp_path, "probe", *looking, sys.executable, *TORCHRUN, "train.py")
    assert every.returncode == 0, every.stderr
    hits = json.loads(every.stdout)["hits"]

    seen = sorted((str(each["rank"]), each["values"][0]["value"]) for each in hits)
    assert seen == [("0", 1), ("1", 2)]
    assert len({each["pid"] for each in hits}) == 2

    one = whet(tmp_path, "probe", "--rank", "1", *looking, sys.executable, *TORCHRUN, "train.py")
    assert [str(each["rank"]) for each in json.loads(one.stdout)["hits"]] == ["1"]


def test_the_rank_that_stands_elsewhere_is_told_from_those_that_wait_for_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    os.mkfifo(tmp_path / "place")  # nobody reads it: who opens it to write waits
    running = subprocess.Popen(
        [sys.executable, *TORCHRUN, "train.py", "place"],
        cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    assert running.stdout is not None
    try:
        assert [running.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
        gives_up_at = time.monotonic() + 120
        said = ""
        while "waits in save()" not in said and time.monotonic() < gives_up_at:
            said = whet(tmp_path, "stacks", str(running.pid)).stdout
        assert re.search(r"rank 1 waits in save\(\) at train.py:\d+", said), said
        assert re.search(r"rank 0 .*(all_reduce|step)\(\) at \S*train.py:\d+", said), said
    finally:
        # Who reads it lets the rank go on, and all come to their end; each rank has a session of its own.
        reader = os.open(tmp_path / "place", os.O_RDONLY | os.O_NONBLOCK)
        try:
            running.wait(120)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGTERM)  # which ends the ranks too
            running.wait()
        os.close(reader)
        running.stdout.close()
