"""GPUs: memory, load and processes, from NVML; from `nvidia-smi` where that library is missing."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from subprocess import TimeoutExpired
from typing import Protocol, TypeVar

from whet.core.observations.panel import Number, Reading
from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class
from whet.host.levels.processes import gigabytes
from whet.host.levels.subjects import command_of, shown_command
from whet.host.process.tool import ToolMissingError, call_tool

ValueT = TypeVar("ValueT")

_PATIENCE_SECONDS = 10.0
_MIB = 1 << 20
_QUERY = "index,uuid,name,memory.used,memory.total,utilization.gpu,temperature.gpu"
_APPS = "gpu_uuid,pid,used_memory"
_WIDTH, _APP_WIDTH = 7, 3
_NONE_HERE = "no NVIDIA GPU is visible here"


@value_class(kw_only=True)
class Gpu:
    """One GPU at a moment.

    Attributes:
        index: its number.
        name: such as ``NVIDIA H100``.
        used_bytes: memory in use, whoever holds it.
        total_bytes: all of it.
        busy_percent: share of the last moment in which a kernel ran; None: not measured.
        celsius: its temperature; None: not measured.
        processes: bytes that each process holds, by its number; -1: the driver doesn't tell.
    """

    index: int
    name: str
    used_bytes: int
    total_bytes: int
    busy_percent: float | None
    celsius: int | None
    processes: Mapping[int, int]


class GpuSource(Protocol):
    """Where the figures come from."""

    def gpus(self) -> Sequence[Gpu]:
        """Return the GPUs now.

        Raises:
            NoGpuError: if there are none, or nothing tells of them.
        """
        ...


class NoGpuError(Exception):
    """Nothing tells of a GPU; the message says why."""


class Nvml:
    """NVIDIA's library, through the package `nvidia-ml-py`."""

    def __init__(self) -> None:
        """Load it.

        Raises:
            NoGpuError: if the package or the driver is missing.
        """
        try:
            self._nvml = importlib.import_module("pynvml")
        except ImportError as error:
            raise NoGpuError("the package `nvidia-ml-py` isn't installed") from error
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            raise NoGpuError(f"NVML: {error}") from error

    def gpus(self) -> Sequence[Gpu]:
        """Return the GPUs now."""
        try:
            count = int(self._nvml.nvmlDeviceGetCount())
            return [self._gpu(number) for number in range(count)]
        except self._nvml.NVMLError as error:
            raise NoGpuError(f"NVML: {error}") from error

    def _gpu(self, number: int) -> Gpu:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(number)
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        name = nvml.nvmlDeviceGetName(handle)
        return Gpu(
            index=number,
            name=name.decode() if isinstance(name, bytes) else str(name),
            used_bytes=int(memory.used),
            total_bytes=int(memory.total),
            busy_percent=self._asked(lambda: float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
            celsius=self._asked(lambda: int(nvml.nvmlDeviceGetTemperature(handle, 0))),
            processes=self._asked(lambda: self._processes(handle)) or {},
        )

    def _processes(self, handle: object) -> dict[int, int]:
        both = (self._nvml.nvmlDeviceGetComputeRunningProcesses,
                self._nvml.nvmlDeviceGetGraphicsRunningProcesses)  # fmt: skip
        return {
            int(each.pid): -1 if each.usedGpuMemory is None else int(each.usedGpuMemory)
            for ask in both
            for each in ask(handle)
        }

    def _asked(self, ask: Callable[[], ValueT]) -> ValueT | None:
        try:
            return ask()
        except self._nvml.NVMLError:  # a GPU in slices (MIG) has no load, an old one no such call
            return None


class NvidiaSmi:
    """The command `nvidia-smi`: slower, and there wherever the driver is."""

    def gpus(self) -> Sequence[Gpu]:
        """Return the GPUs now."""
        rows = _smi(f"--query-gpu={_QUERY}")
        held: dict[str, dict[int, int]] = {}
        for row in _smi(f"--query-compute-apps={_APPS}"):
            if len(row) >= _APP_WIDTH and row[1].isdigit():
                size = int(row[2]) * _MIB if row[2].isdigit() else -1
                held.setdefault(row[0], {})[int(row[1])] = size
        found = [
            Gpu(
                index=int(row[0]),
                name=row[2],
                used_bytes=int(row[3]) * _MIB,
                total_bytes=int(row[4]) * _MIB,
                busy_percent=float(row[5]) if row[5].isdigit() else None,
                celsius=int(row[6]) if row[6].isdigit() else None,
                processes=held.get(row[1], {}),
            )
            for row in rows
            if len(row) >= _WIDTH and row[0].isdigit() and row[3].isdigit() and row[4].isdigit()
        ]
        if not found:
            raise NoGpuError(_NONE_HERE)
        return found


def gpu_source() -> GpuSource:
    """Return NVML, or else `nvidia-smi`.

    Raises:
        NoGpuError: if there is neither; says why.
    """
    try:
        return Nvml()
    except NoGpuError as error:
        source = NvidiaSmi()
        try:
            source.gpus()
        except NoGpuError as other:
            raise NoGpuError(f"{other} ({error})") from other
        return source


def gpu_reading(panel: str, gpus: Sequence[Gpu], wanted: int | None) -> Reading:
    """Return the memory of one GPU or of all: the fullest one is the headline."""
    chosen = [each for each in gpus if wanted is None or each.index == wanted]
    if not chosen:
        known = ", ".join(str(each.index) for each in gpus)
        reason = f"there is no GPU {wanted}; here is GPU {known}" if gpus else _NONE_HERE
        return Reading(panel=panel, title="GPU", reason=reason)
    fullest = max(chosen, key=lambda each: each.used_bytes)
    busy = [each.busy_percent for each in chosen if each.busy_percent is not None]
    words = [f"of {shown_bytes(fullest.total_bytes)}"]
    words += [f"{max(busy):.0f} % busy"] if busy else []
    words += [f"{fullest.celsius} °C"] if fullest.celsius is not None else []
    used, total = fullest.used_bytes, fullest.total_bytes
    numbers = [Number(name="gpu.memory", value=used, unit="bytes", full=total)]
    numbers += [Number(name="gpu.busy", value=max(busy), unit="percent")] if busy else []
    return Reading(
        panel=panel,
        title=f"GPU {fullest.index} {fullest.name}",
        headline=shown_bytes(fullest.used_bytes),
        detail=", ".join(words),
        table=_table(chosen),
        numbers=tuple(numbers),
    )


def _table(gpus: Sequence[Gpu]) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = []
    for gpu in gpus:
        rows += [
            (
                str(gpu.index),
                str(pid),
                "?" if size < 0 else gigabytes(size),
                shown_command(command_of(pid)) or "?",
            )
            for pid, size in sorted(gpu.processes.items(), key=lambda item: -item[1])
        ]
        if not gpu.processes and len(gpus) > 1:
            rows.append(
                (str(gpu.index), "", gigabytes(gpu.used_bytes), "no process that whet sees")
            )
    return (("GPU", "PID", "GB", "command"), *rows) if rows else ()


def _smi(question: str) -> list[list[str]]:
    """Return the rows that `nvidia-smi` answers.

    Raises:
        NoGpuError: if it isn't there, fails or hangs.
    """
    command = ["nvidia-smi", question, "--format=csv,noheader,nounits"]
    try:
        answer = call_tool(command, timeout_seconds=_PATIENCE_SECONDS)
    except (ToolMissingError, OSError) as error:
        raise NoGpuError("no NVIDIA driver is installed here: no NVML, no `nvidia-smi`") from error
    except TimeoutExpired as error:
        raise NoGpuError(f"`nvidia-smi` gave no answer in {_PATIENCE_SECONDS:.0f} s") from error
    if answer.exit_code:
        lines = answer.text.splitlines() or [answer.complaint]
        raise NoGpuError(f"`nvidia-smi` fails: {lines[-1]}")
    return [[cell.strip() for cell in line.split(",")] for line in answer.text.splitlines()]
