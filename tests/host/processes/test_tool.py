"""Calling the tools that whet itself needs."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.host.process import tool
from whet.host.process.ending import EndSignalError, orderly_end
from whet.host.process.tool import call_tool


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _ready_then(is_ready: threading.Event, act: Callable[[], object]) -> None:
    is_ready.set()
    act()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_tool_outlives_a_signal_that_comes_while_it_is_started(number: signal.Signals) -> None:
    before, is_ready = children(), threading.Event()

    def interrupt() -> None:
        is_ready.wait()
        while children() == before:
            pass
        os.kill(os.getpid(), number)

    for _ in range(20):
        thread = threading.Thread(target=interrupt)
        is_ready.clear()
        thread.start()
        with orderly_end(), pytest.raises((KeyboardInterrupt, EndSignalError)):
            _ready_then(is_ready, lambda: call_tool(["sleep", "60"]))
        thread.join()
        assert children() == before


def test_a_signal_while_no_tool_starts_is_what_it_was() -> None:
    with orderly_end():
        call_tool(["true"])
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_tool_that_reads_late_gets_all_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    let_go = threading.Thread(target=lambda: gate.write_text("now"))

    def looked(_pid: int) -> bool:
        if let_go.ident is None:  # its time was up once
            let_go.start()
        return False

    monkeypatch.setattr(tool, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(tool, "_opens_a_pipe", looked)
    command = "import sys; open(sys.argv[1]).read(); print(len(sys.stdin.buffer.read()))"
    answer = call_tool(
        [sys.executable, "-c", command, str(gate)], stdin=bytes(1_000_000), timeout_seconds=20
    )
    let_go.join()
    assert answer.text == "1000000"


def test_a_tool_that_reads_nothing_ends_as_it_does() -> None:
    assert call_tool(["false"], stdin=bytes(1_000_000)).exit_code == 1
