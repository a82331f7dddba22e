"""The GPU memory that torch and JAX may use, and whether they applied that limit.

Neither the driver nor NVML can limit one process. whet limits the allocator of a framework instead:
torch by a share that the agent sets (`torch.cuda.set_per_process_memory_fraction`), JAX by a variable
(JAX documentation, "GPU memory allocation"). No probe can check that before the program starts, so the
agent checks it inside the program, and the outcome says what it found.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from whet.core.errors import GpuNotHeld, LimitMakesNoSense
from whet.core.limits import LimitMet, shown_size
from whet.host.files.agent_files import reports_in
from whet.host.limits.enforcer import End, Order
from whet.host.limits.gpu import gpu_holder
from whet.host.limits.program import AGENT_VARIABLE

_PATIENCE_SECONDS = 60.0  # a driver that wakes up
_SUFFIX = ".gpu"
_OLD_NAME, _NEW_NAME = "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"


@dataclass(slots=True, kw_only=True)
class CappedMemory:
    """What torch and JAX may take, for one trial.

    Attributes:
        folder: where the agent tells what it did.
        most: the limit, in bytes.
        environment: what tells both.
        notes: what is bounded and what isn't, complete once `met` was asked.
        way: what was bound, and whether it took; complete then too.
    """

    folder: str
    most: int
    environment: Mapping[str, str]
    notes: list[str] = field(default_factory=list[str])
    way: str = "torch's and JAX's allocators"
    steps: tuple[Order, ...] = ()
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Note whether anything was bounded; the program itself says that it wanted more."""
        reports: list[_Report] = []
        for _, report in reports_in(Path(self.folder), _SUFFIX) if self.folder else ():
            with suppress(TypeError):  # the program may write there too
                lines = report.decode("ascii", "replace").splitlines()
                reports += [_Report(*line.split("\t")) for line in lines]
        self.way, note = _came_of(reports, self.most)
        self.notes.append(note)
        return ()

    def close(self) -> None:
        """Remove nothing: the variables went with the program."""


class _Report(NamedTuple):
    """One line of an agent's, as `whet.agent.site.whet_gpu` writes it."""

    word: str
    gpu: str
    detail: str


def cap_memory(most: int, environment: Mapping[str, str]) -> CappedMemory:
    """Return what tells torch and JAX to take no more than ``most`` bytes of each GPU.

    Raises:
        GpuNotHeld: if there is no GPU or no driver.
        LimitMakesNoSense: if every GPU has less.
    """
    largest = largest_gpu_bytes(environment)
    if most > largest:
        raise LimitMakesNoSense(
            f"`--gpu-memory {shown_size(most)}` is more than the GPU's {shown_size(largest)}",
            hint="lower it, or leave it out",
        )
    # Both at once are an error of JAX's; the old name is heard by every version.
    name = _NEW_NAME if _NEW_NAME in environment else _OLD_NAME
    share = f"{int(most / largest * 10_000) / 10_000:.4f}"
    return CappedMemory(
        folder=str(Path(environment[AGENT_VARIABLE])) if environment.get(AGENT_VARIABLE) else "",
        most=most,
        environment={"WHET_GPU_MEMORY": str(most), name: share},
    )


def largest_gpu_bytes(environment: Mapping[str, str]) -> int:
    """Return how much memory the largest of the visible GPUs has.

    Raises:
        GpuNotHeld: if there is no GPU or no driver.
    """
    return max(_totals(environment))


def _totals(environment: Mapping[str, str]) -> list[int]:
    answer: dict[str, Any]
    try:
        run = subprocess.run(
            [sys.executable, "-I", "-S", gpu_holder.__file__],
            env={name: value for name, value in environment.items() if name != "LD_PRELOAD"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        answer = json.loads(
            run.stdout or b'{"error": "the process that asks the driver was killed"}'
        )
    except subprocess.TimeoutExpired:
        answer = {"error": f"the driver didn't answer within {_PATIENCE_SECONDS:.0f} s"}
    if "error" in answer:
        raise GpuNotHeld(
            f"whet can't cap GPU memory: {answer['error']}",
            hint="`nvidia-smi` shows the GPUs and their processes",
        )
    sizes: list[int] = answer["totals"]
    return sizes


def _came_of(told: Sequence[_Report], most: int) -> tuple[str, str]:
    """Return how GPU memory was limited, and a note for the user.

    Args:
        told: what the agents of all processes told.
        most: the limit.
    """
    size = f"GPU memory {shown_size(most)}"
    loose = _not_held(told)
    if loose:
        return f"{size} had no effect", f"`--gpu-memory` had no effect: {loose}"
    bounds = [
        (name, _is_proved(told, capped, proof))
        for name, capped, proof in _BOUND
        if _gpus(told, capped)
    ]
    if bounds:
        ways = [f"{name}'s allocator ({'took' if took else 'not proved'})" for name, took in bounds]
        names = " and ".join(name for name, _ in bounds)
        text = (
            f"`--gpu-memory` limits {names} in each process, but neither the"
            " driver's own share (the context, a few hundred MiB) nor other libraries"
        )
        return f"{size} by {' and '.join(ways)}", "; ".join([text, *_proofs(told, bounds)])
    if _gpus(told, "torch"):
        why = "the program imported torch but used no GPU"
    else:
        why = "no process imported torch or JAX, and whet limits no other library"
    return f"{size} limited nothing", f"`--gpu-memory` limited nothing: {why}"


_BOUND = (("torch", "capped", "proved"), ("JAX", "jax", "heard"))
"""The libraries that whet can limit, the word that reports it, and the word that proves it."""


def _not_held(told: Sequence[_Report]) -> str:
    for word, gpu, detail in told:
        if word == "failed":
            return f"torch says {detail}"
        if word == "loose":
            return f"a probe got more from torch on GPU {gpu}"
        if word == "unheard":
            return f"JAX can take {shown_size(int(detail))} of GPU {gpu}"
    return ""


def _is_proved(told: Sequence[_Report], capped: str, proof: str) -> bool:
    proved = _gpus(told, proof)
    return bool(proved) and _gpus(told, capped) - {""} <= proved


def _proofs(told: Sequence[_Report], bounds: Sequence[tuple[str, bool]]) -> list[str]:
    """Return how it is known that it took, or why it isn't."""
    words: list[str] = []
    for name, took in bounds:
        if name == "torch" and took:
            gpus = ", ".join(sorted(_gpus(told, "proved")))
            words.append(f"it took effect: torch refused a probe more on GPU {gpus}")
        elif name == "JAX" and took:
            words.append("it took effect: JAX reports the limit")
        elif name == "torch":
            why = next((each for each in told if each.word == "unproved"), None)
            reason = f": GPU {why.gpu}, {why.detail}" if why else ""
            words.append(f"whet couldn't prove that it took effect{reason}")
        else:
            words.append(
                "whet set JAX's limit, but JAX didn't report it, so whether it took effect is unknown"
            )
    questions = [each.detail for each in told if each.word == "asked"]
    if questions:
        words.append(
            f"the program asked torch for a share of {questions[-1]}, but whet's limit stayed"
        )
    return words


def _gpus(told: Sequence[_Report], word: str) -> set[str]:
    """Return the GPUs of which a word was told; empty for one that is told of none in particular."""
    return {each.gpu for each in told if each.word == word}
