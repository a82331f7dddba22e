"""``whet loop --json`` whose driver goes away."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from crossed import crossed
from loop_command import PATIENCE_SECONDS, SLOW, looping, wait_until_gone
from whet_command import Whet


def test_a_loop_ends_when_nobody_reads_what_it_tells(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, sys.executable, "main.py") as loop:
        assert loop.out() == "1\n"
        pids = loop.processes
        assert len(pids) > 2, "a copy waits"
        assert loop.process.stdout is not None
        loop.process.stdout.close()
        assert loop.process.wait(PATIENCE_SECONDS) == 0
        wait_until_gone(pids)


def _driven(
    whet: Whet, script: str, *options: str, stdout: int | None = None
) -> "subprocess.Popen[bytes]":
    """Start a loop by a shell's script."""
    loop = [sys.executable, "-m", "whet", "loop", "--json", "--verify", "off", *options]
    return subprocess.Popen(
        ["sh", "-c", script, "-", *loop, "--", sys.executable, "main.py"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
    )


@crossed(ends={"interrupted": ("true", 0), "told": ("trap '' INT", 128 + signal.SIGTERM)})
def test_a_run_ends_when_nobody_reads_what_will_be_told_of_it(
    whet: Whet, tmp_path: Path, ends: tuple[str, int]
) -> None:
    before, code = ends
    fifo = tmp_path / "began"
    os.mkfifo(fifo)
    whet.write(
        "main.py",
        f"import os, time\nwith open({str(fifo)!r}, 'w') as told:\n"
        "    told.write(str(os.getpid()))\ntime.sleep(1000)\n",
    )
    ours, its = socket.socketpair()
    with ours, _driven(whet, f'{before}; exec "$@"', stdout=its.fileno()) as process:
        its.close()
        pid = int(fifo.read_text())
        ours.close()
        assert process.wait(PATIENCE_SECONDS) == code
    wait_until_gone([pid])


def test_a_loop_goes_on_for_the_next_reader_of_a_pipe_with_a_name(
    whet: Whet, tmp_path: Path
) -> None:
    fifo = tmp_path / "told"
    os.mkfifo(fifo)
    whet.write("main.py", f"{SLOW}print(1)\n")
    with _driven(whet, f'exec "$@" > {fifo}', "--runs", "2") as process:
        with fifo.open() as reader:
            assert '"event": "run"' in reader.readline()
        with fifo.open() as reader:
            whet.write("main.py", f"{SLOW}print(2)\n")
            assert '"event": "run"' in reader.readline()
        assert process.wait(PATIENCE_SECONDS) == 0
