"""Reads the traces of JAX's profiler: XLA's operations, by the functions of the user's that start them."""

import bisect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.core.observations.profile import Profile, Recording
from whet.core.text.record import (
    JsonObject,
    as_record,
    decoded,
    items_of,
    number,
    optional_record,
    records,
    rows,
    text,
    whole,
)
from whet.measurement.profiles.kineto import LAUNCHED, read_kineto, thread_key

JAX = "jax.profiler"

Key = int | str | None
"""The number of a process or a thread."""

Places = Mapping[tuple[str, int, str], str]
"""The file of a function, by the name of its file, its first line and its own name."""

_PYTHON = re.compile(r"^\$(?P<file>[^/ ]+\.py):(?P<line>\d{1,9}) (?P<function>.+)$")
_CALL = re.compile(r"^PjitFunction\((?P<name>.*)\)$")
_COMPILER = "backend_compile_and_load"
_CALLED = ("jit_", "pjit_", "pmap_", "jvp_")
"""How the modules are called that a program runs; the compiler's own have other names."""
_COMPILES = {_COMPILER: "compile", "lower_sharding_computation": "lower"}
_WAITS = {"np.asarray(jax.Array)": "cudaStreamSynchronize"}
_DEVICE, _STREAM, _COPY = "/device:GPU", "Stream", "Memcpy"
_NO_GPU = "JAX's profiler saw no work on a GPU, so this is processor time of its operations"


@dataclass(slots=True)
class _Calls:
    """The calls of compiled functions, in the order of their starts."""

    starts: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    numbers: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add(self, name: str, start: float, number: int) -> None:
        """Note a call."""
        self.starts.setdefault(_plain(name), []).append(start)
        self.numbers.setdefault(_plain(name), []).append(number)

    def before(self, module: str, start: float) -> int | None:
        """Return the number of the last call of a function that began before a moment."""
        name = _plain(module.removeprefix("jit_"))
        place = bisect.bisect_right(self.starts.get(name, []), start)
        return self.numbers[name][place - 1] if place else None


class _Compiling:
    """When XLA compiled."""

    def __init__(self, events: Sequence[JsonObject]) -> None:
        """Take it from the events of a trace, in the order of their starts."""
        self._starts: list[float] = []
        self._ends: list[float] = []
        for event in events:
            if event.get("name") == _COMPILER:
                end = _start(event) + number(event, "dur")
                self._starts.append(_start(event))
                self._ends.append(max(end, self._ends[-1] if self._ends else end))

    def at(self, moment: float) -> bool:
        """Whether it compiled at a moment."""
        place = bisect.bisect_right(self._starts, moment)
        return place > 0 and moment < self._ends[place - 1]


def read_jax(recording: Recording, is_own: Callable[[str], bool]) -> Profile:
    """Return the profile of the traces of a trial.

    Args:
        recording: the traces with their processes and the places of functions, as a JSON list.
        is_own: whether a file is the user's own.
    """
    traces: list[dict[str, object]] = []
    for each in items_of(decoded(recording.running)):
        told = as_record(each, "trace")
        places = {
            (_word(file), whole(line), _word(name)): _word(path)
            for file, line, name, path in rows(told.get("places"), 4)
        }
        events = list(_as_kineto(records(told, "traceEvents"), places))
        traces.append({"pid": told.get("pid"), "traceEvents": events})
    profile = read_kineto(replace(recording, running=json.dumps(traces).encode()), is_own)
    if profile.stacks and not any(each.number("gpu_seconds") for each in profile.stacks):
        return replace(profile, notes=(*profile.notes, _NO_GPU))
    return profile


def _as_kineto(events: Sequence[JsonObject], places: Places) -> Iterator[dict[str, object]]:
    """Yield the events of a trace in the words of torch's profiler."""
    processes, threads = _names(events)
    timed = [each for each in events if each.get("ph") == "X" and "ts" in each]
    timed.sort(key=_start)
    calls = _Calls()
    has_gpu = any(_DEVICE in each for each in processes.values())
    compiling = _Compiling(timed)
    for place, event in enumerate(timed, 1):
        name, start = text(event, "name", ""), _start(event)
        found = _CALL.match(name)
        if found is not None:
            calls.add(found["name"], start, place)
        made = _translated(name, places, has_gpu=has_gpu)
        if made is not None:
            arguments = {} if found is None else {"correlation": place}
            yield {**_times(event), **made, "args": arguments}
    for event in timed:
        details = _details(event)
        module, operation = details.get("hlo_module"), details.get("hlo_op")
        process = _process(event)
        stream = threads.get((process, thread_key(event)), "")
        is_on_gpu = _DEVICE in processes.get(process, "")
        if is_on_gpu and not stream.startswith(_STREAM):
            continue  # the same work again, by operations, modules and steps
        if not (module and operation) and not is_on_gpu:
            continue
        if is_on_gpu and not _word(module).startswith(_CALLED) and compiling.at(_start(event)):
            continue  # the compiler tries kernels, to choose the fastest
        caller = calls.before(_word(module), _start(event))
        correlation = {} if caller is None else {"correlation": caller}
        name = text(event, "name", "")
        kind = LAUNCHED
        if is_on_gpu:
            kind = "gpu_memcpy" if _COPY in name else "kernel"
        shown = f"{_word(module)}: {_word(operation)}" if module else name
        yield {**_times(event), "name": shown, "cat": kind, "args": correlation}


def _translated(name: str, places: Places, *, has_gpu: bool) -> dict[str, object] | None:
    """Return the name and the kind of an event of the program's own threads; None: it isn't needed."""
    python = _PYTHON.match(name)
    if python is not None:
        key = (python["file"], int(python["line"]), python["function"])
        path = places.get(key)
        if path is None:
            return None  # of a library
        # It tells where a function begins; a module begins on its first line, which says nothing.
        line = 0 if key[2] == "<module>" else key[1]
        return {"name": f"{path}({line}): {key[2]}", "cat": "python_function"}
    if _CALL.match(name):
        return {"name": name, "cat": "cuda_runtime"}
    if name in _COMPILES:
        return {"name": _COMPILES[name], "cat": "cpu_op"}
    if name in _WAITS and has_gpu:
        return {"name": _WAITS[name], "cat": "cuda_runtime"}
    return None


def _names(
    events: Sequence[JsonObject],
) -> tuple[dict[Key, str], dict[tuple[Key, Key], str]]:
    """Return what processes and threads are called."""
    processes: dict[Key, str] = {}
    threads: dict[tuple[Key, Key], str] = {}
    for event in events:
        if event.get("name") == "process_name":
            processes[_process(event)] = _word(_details(event).get("name"))
        elif event.get("name") == "thread_name":
            threads[_process(event), thread_key(event)] = _word(_details(event).get("name"))
    return processes, threads


def _process(event: JsonObject) -> Key:
    return thread_key({"tid": event.get("pid")})


def _start(event: JsonObject) -> float:
    return number(event, "ts")


def _word(value: object) -> str:
    """Return a text of the trace; what is none stands for nothing."""
    return value if isinstance(value, str) else ""


def _details(event: JsonObject) -> JsonObject:
    return optional_record(event, "args") or {}


def _times(event: JsonObject) -> dict[str, object]:
    return {"ph": "X", "ts": event["ts"], "dur": event.get("dur", 0), "tid": thread_key(event)}


def _plain(name: str) -> str:
    """Return a function's name as XLA writes it."""
    return re.sub(r"\W+", "_", name).strip("_")
