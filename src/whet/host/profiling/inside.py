"""A profiler that whet's agent starts inside the program, and what it leaves there."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.limits import LimitMet
from whet.core.observations.evidence import PROFILE, Evidence
from whet.core.observations.profile import Obstacle, Recording, refusal_in
from whet.core.text.record import MalformedRecordError, as_record, decoded, text
from whet.host.files.agent_files import process_of
from whet.host.files.files import content_of
from whet.host.limits.enforcer import End, Order
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.profiling.compilations import VARIABLES as COMPILING
from whet.host.profiling.compilations import read_compilations
from whet.host.profiling.jax_traces import jax_traces
from whet.host.profiling.nsys import exported, read_report
from whet.host.profiling.request import Profiling

VARIABLE = "WHET_PROFILER"
"""Tells the agent what to record."""

_NO_MEMRAY = "memray is not installed for the program's Python: `{python} -m pip install memray`"
_NO_TRACE = (
    "no profiler wrote anything: the program didn't import torch and compiled nothing with JAX, or"
    " a signal ended it before the profiler could write"
)
_NO_ALLOCATIONS = "the program took no memory of a GPU by way of torch, or a signal ended it before torch could tell"
_NO_JAX = "JAX's profiler can't be started in the program's version of JAX"
_READ_SECONDS = 300.0
_MOST_BYTES = 4 << 30
_MEMRAY = """
import json, sys
from memray import FileReader
with FileReader(sys.argv[1]) as reader:
    peak = reader.metadata.peak_memory
    blocks = [
        [each.size, each.n_allocations, [list(frame) for frame in reversed(each.stack_trace())]]
        for each in reader.get_high_watermark_allocation_records(merge_threads=True)
    ]
held = sum(size for size, *_ in blocks)
print(json.dumps({"peak": max(peak, held), "held": held, "blocks": blocks}))
"""


class Inside:
    """What profiles one trial from inside; a `whet.host.limits.enforcer.Prepared`."""

    way = ""
    steps: tuple[Order, ...] = ()
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    notes: tuple[str, ...] = ()

    def __init__(self, asked: Profiling, agent_folder: Path) -> None:
        """Prepare.

        Args:
            asked: what is to be recorded.
            agent_folder: where the agents of the trial write.
        """
        self._asked = asked
        self._folder = agent_folder

    @property
    def environment(self) -> Mapping[str, str]:
        """What tells the agent."""
        if self._asked.trace:
            more = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
            return {**more, **COMPILING, **self._asked.variables}
        gpu = {
            "WHET_CAPTURE": "jax",
            "KINETO_LOG_LEVEL": "99",  # what torch's profiler says of itself isn't the program's
            # XLA would take nearly all of the GPU's memory at once, and hide what is needed.
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            **COMPILING,
        }
        more = gpu if self._asked.question == "gpu" else {}
        return {VARIABLE: self._asked.question, **more, **self._asked.variables}

    def note_waiting(self) -> None:
        """Note nothing."""

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Return nothing: it isn't a limit."""
        return ()

    def close(self) -> None:
        """Remove nothing: the folder goes with the trial."""

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the profile that the agents of the trial have left."""
        if self._asked.trace:
            recording = self._nsys()
        else:
            recorded = {"gpu": self._traces, "gpu_memory": self._allocations}
            recording = recorded.get(self._asked.question, self._memory)()
        compilations = read_compilations(self._folder)
        profile = replace(self._asked.read(recording), compilations=compilations)
        detail = {"question": profile.question, "engine": profile.engine}
        data = json.dumps(profile.to_json()).encode()
        return (Evidence(kind=PROFILE, detail=detail, data=data),)

    def _nsys(self) -> Recording:
        """Return what Nsight Systems has recorded."""
        database, complaint = exported(self._folder)
        if database is None:
            return Recording(
                engine="nsys", rate=0.0, running=b"[]", complaint=complaint,
                obstacle=refusal_in(complaint),
            )  # fmt: skip
        events, notes = read_report(database, is_captured=self._asked.is_captured)
        by_process: dict[object, list[dict[str, object]]] = {}
        for event in events:
            by_process.setdefault(event["pid"], []).append(event)
        traces = [{"pid": pid, "traceEvents": each} for pid, each in by_process.items()]
        return Recording(
            engine="nsys", rate=0.0, running=json.dumps(traces).encode(),
            complaint="\n".join(notes),
        )  # fmt: skip

    def _traces(self) -> Recording:
        """Return the traces that torch's profiler has written, or JAX's if there are none."""
        traces: list[str] = []
        engine, words = "torch.profiler", ""
        obstacle: Obstacle | None = None
        for path in sorted(self._folder.glob("*.torch.json")):
            try:
                content = content_of(path, most_bytes=_MOST_BYTES, follows=False)
            except OSError as error:
                words = f"whet can't read the trace {path.name}: {error.strerror}"
                obstacle = refusal_in(error.strerror or "")
                continue
            data = content.decode("utf-8", "replace").lstrip()
            if data.startswith("{"):
                more = f'"pid": {process_of(path)}, "positions": {_positions(path)},'
                traces.append(f"{{{more} {data[1:]}")
        if not traces:
            engine, traces = "jax.profiler", jax_traces(self._folder)
        if not traces:
            engine = "torch.profiler"
            is_jax = bool(list(self._folder.glob("*.jax-seen")))
            words = words or (_NO_JAX if is_jax else _NO_TRACE)
        running = f"[{', '.join(traces)}]".encode()
        return Recording(
            engine=engine, rate=0.0, running=running, complaint=words, obstacle=obstacle
        )

    def _allocations(self) -> Recording:
        """Return what torch's allocators held at their peak, for each GPU of each process."""
        gpus: list[dict[str, object]] = []
        complaints: list[str] = []
        for path in sorted(self._folder.glob("*.allocations")):
            for line in content_of(path, most_bytes=_MOST_BYTES, follows=False).splitlines():
                told = as_record(decoded(line), "allocations")
                if "complaint" in told:
                    complaints.append(f"torch keeps no history: {text(told, 'complaint')}")
                else:
                    gpus.append({**told, "pid": process_of(path)})
        if not gpus and not complaints:
            complaints.append(_NO_ALLOCATIONS)
        return Recording(
            engine="torch's allocator", rate=0.0, running=json.dumps(gpus).encode(),
            complaint="\n".join(complaints), obstacle=refusal_in("\n".join(complaints)),
        )  # fmt: skip

    def _memory(self) -> Recording:
        """Return the blocks that each process held at its peak."""
        processes: list[dict[str, object]] = []
        complaints: list[str] = []
        engine = "memray"
        obstacle: Obstacle | None = None
        for path in sorted(self._folder.glob("*.memory")):
            try:
                words = as_record(decoded(content_of(path, follows=False)), "memory")
                python, using = text(words, "executable"), text(words, "engine")
            except (OSError, MalformedRecordError) as error:
                complaints.append(f"{path.name} is damaged: {error}")
                continue
            if not using:
                complaints.append(_NO_MEMRAY.format(python=python))
                obstacle = Obstacle.MISSING
                continue
            engine = using
            for file in sorted(self._folder.glob(f"{path.stem}.memray*")):
                answer = self._read(python, file)
                try:
                    told = as_record(decoded(answer.encode()), "memory")
                except MalformedRecordError:
                    complaints.append(answer)
                    obstacle = obstacle or refusal_in(answer)
                    continue
                # A process that was forked has a file with its own number at the end.
                forked = process_of(file.with_name(file.name.rpartition(".")[2]))
                processes.append({**told, "pid": forked or process_of(path)})
        return Recording(
            engine=engine, rate=0.0, running=json.dumps(processes).encode(),
            complaint="\n".join(complaints), obstacle=obstacle,
        )  # fmt: skip

    def _read(self, python: str, file: Path) -> str:
        """Return what memray finds in a file that the same Python has written, or its complaint."""
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("WHET_")
        }
        try:
            answer = call_tool(
                [python, "-c", _MEMRAY, str(file)],
                environment=environment, timeout_seconds=_READ_SECONDS,
            )  # fmt: skip
        except (ToolMissingError, OSError, TimeoutExpired) as error:
            return str(error)
        return answer.text if answer.exit_code == 0 else answer.complaint


def _positions(trace: Path) -> str:
    """Return where the program was meanwhile, as JSON; Pythons before 3.12 don't tell."""
    path = trace.with_name(trace.name.replace(".torch.json", ".positions.json"))
    try:
        return content_of(path, most_bytes=_MOST_BYTES, follows=False).decode("utf-8", "replace")
    except OSError:
        return "null"
