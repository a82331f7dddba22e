"""The GPUs of a trial: which ones it sees, and how much of their memory is left."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.errors import GpuNotHeld
from whet.core.limits import LimitMet, shown_size
from whet.host.limits.enforcer import End, Order, Plain
from whet.host.limits.gpu import gpu_holder
from whet.host.process.cleanup_journal import CleanupJournal

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_PATIENCE_SECONDS = 60.0  # to allocate 80 GiB takes a second, a driver that wakes up some more

# Two trials at once would count each other's memory as held.
_one_at_a_time = threading.Lock()


def visible_gpus(count: int, environment: Mapping[str, str]) -> Plain:
    """Return the variables with which a program sees only the first ``count`` of its GPUs."""
    variables: dict[str, str] = {}
    for name in _VISIBLE:
        before = environment.get(name)
        numbers = [str(number) for number in range(count)] if before is None else before.split(",")
        variables[name] = ",".join(numbers[:count])
    return Plain(way="CUDA_VISIBLE_DEVICES", environment=variables)


@dataclass(slots=True, kw_only=True)
class HeldMemory:
    """A process that holds memory of GPUs for one trial.

    Attributes:
        process: it; it ends when its standard input does, and so does what it holds.
        cleanup_journal: where it is written down.
        notes: what it holds, in words.
    """

    process: "subprocess.Popen[bytes]"
    cleanup_journal: CleanupJournal
    notes: Sequence[str]
    way: str = "CUDA driver"
    steps: tuple[Order, ...] = ()
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Return nothing: the program itself says that a GPU is full."""
        return ()

    def close(self) -> None:
        """Let go of the memory."""
        _end(self.process, self.cleanup_journal)
        _one_at_a_time.release()


def hold_memory(
    left: Sequence[tuple[str, int]], environment: Mapping[str, str], cleanup_journal: CleanupJournal
) -> HeldMemory:
    """Hold memory of GPUs so that as much is left as is asked for, checked by NVML.

    Args:
        left: bytes by the GPU's number as text; empty text: each that isn't named.
        environment: of the trial: the GPUs are those that it sees.
        cleanup_journal: where the holder is written down.

    Raises:
        GpuNotHeld: if there is no GPU, no driver, or less is free already.
    """
    _one_at_a_time.acquire()
    try:
        return _started(left, environment, cleanup_journal)
    except BaseException:
        _one_at_a_time.release()
        raise


def _started(
    left: Sequence[tuple[str, int]], environment: Mapping[str, str], cleanup_journal: CleanupJournal
) -> HeldMemory:
    words = [f"{gpu}={size}" for gpu, size in left]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", gpu_holder.__file__, *words],
        env={name: value for name, value in environment.items() if name != "LD_PRELOAD"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # no Ctrl-C of the terminal reaches it
    )
    cleanup_journal.adopt("process", str(process.pid))
    try:
        holdings = _answer_of(process)
    except BaseException:
        _end(process, cleanup_journal)
        raise
    notes = [
        f"GPU {each['gpu']}: {shown_size(each['free'])} of {shown_size(each['total'])} are free;"
        " a CUDA program needs a few hundred MiB of that"
        for each in holdings
    ]
    return HeldMemory(process=process, cleanup_journal=cleanup_journal, notes=notes)


def _answer_of(process: "subprocess.Popen[bytes]") -> list[dict[str, int]]:
    assert process.stdout is not None
    watchdog = threading.Timer(_PATIENCE_SECONDS, process.kill)
    watchdog.start()
    line = process.stdout.readline()
    watchdog.cancel()
    answer = json.loads(line or b'{"error": "the process that occupies it was killed"}')
    if "error" in answer:
        raise GpuNotHeld(
            f"whet can't occupy GPU memory: {answer['error']}",
            hint="`nvidia-smi` shows the GPUs and their processes",
        )
    holdings: list[dict[str, int]] = answer["held"]
    return holdings


def _end(process: "subprocess.Popen[bytes]", cleanup_journal: CleanupJournal) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.kill()
    process.wait()
    process.stdout.close()
    cleanup_journal.forget(str(process.pid))


def device_nodes() -> tuple[str, ...]:
    """Return the files by which programs reach GPUs here."""
    names = ("nvidia", "kfd")
    paths = [entry.path for entry in os.scandir("/dev") if entry.name.startswith(names)]
    return tuple(sorted(path for path in paths if not os.path.isdir(path)))
