"""The readers of what other programs answer, and of what whets have left: tools, Pythons, agents, evidence."""

import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from benchmarks.faults.facts import an_outcome
from benchmarks.faults.mutator import Shape
from benchmarks.faults.reader import Reader, placed, scratch, text
from whet.agent.site import whet_where
from whet.agent.tiny import json_data
from whet.core.errors import HostFailure
from whet.core.observations.evidence import COUNTS, LINES, Evidence
from whet.core.observations.profile import Profile, Recording
from whet.core.observations.system_call import SystemCalls
from whet.core.text.literal import literal_in
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.host.inspect.spying import threads_in
from whet.host.profiling.inside import Inside
from whet.host.profiling.request import Profiling
from whet.host.python.asked_python import AskedPython
from whet.host.python.installed_packages import python_at
from whet.host.python.line_counts import read_lines
from whet.host.python.module_search import PythonStart, ask_where
from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.pythons import paths_in
from whet.host.trial.made_payloads import read_made
from whet.measurement.profiles.integrity import read_checked
from whet.measurement.profiles.jax_trace import JAX, read_jax
from whet.measurement.profiles.kineto import read_kineto
from whet.measurement.profiles.memory_blocks import read_blocks
from whet.measurement.profiles.waits import waits_of
from whet.notebook.stored_output import removed_so_far
from whet.workbench.expect.estimate import known_machines
from whet.workbench.expect.lines import LinesTarget, report_of
from whet.workbench.inspect.definition import Definition
from whet.workbench.inspect.where import counted_in
from whet.workbench.trials.run import RunResult

_MALFORMED = (MalformedRecordError,)
_SECONDS = 4.0
"""A program is started for each example."""


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


# ---- what profilers inside the program leave ----


def _is_own(path: str) -> bool:
    return path.endswith(".py")


def _read_gpu(recording: Recording) -> Profile:
    read = read_jax if recording.engine == JAX else read_kineto
    return read_checked(partial(read, is_own=_is_own), recording, "gpu")


def _read_memory(recording: Recording) -> Profile:
    return read_checked(partial(read_blocks, is_own=_is_own), recording, "memory")


def _left_inside(question: str, name: str, data: bytes) -> None:
    """Read what a profiler inside the program has left in one file, and what belongs to it."""
    shutil.rmtree(scratch() / "inside", ignore_errors=True)
    file = placed(f"inside/{name}", data)
    folder = scratch() / "inside"
    if name.endswith(".jax-files"):
        placed(f"inside/{_JAX_TRACE}", _JAX_PACKED)
    asked = Profiling(
        question=question, read=_read_memory if question == "memory" else _read_gpu, read_native=_read_gpu
    )  # fmt: skip
    Inside(asked, folder).evidence()
    file.unlink()


_JAX_TRACE = "7.jax/plugins/profile/a/a.trace.json.gz"
_JAX_PACKED = gzip.compress(
    _json({"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": 1.0, "dur": 9.0, "name": "$x.py:3 f"}]}),
    mtime=0,
)  # fmt: skip
_TORCH = _json({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 2.0, "dur": 9.0, "tid": 9}]})  # fmt: skip


# ---- what tools and other Pythons answer ----


def _answering(data: bytes) -> str:
    """Return the path of a program that prints an example, whatever it is asked."""
    answer = placed("answering/answer", data)
    program = placed("answering/program", f"#!/bin/sh\nexec cat {answer}\n".encode())
    program.chmod(0o755)
    return str(program)


def _ask_facts(data: bytes) -> None:
    PythonFacts.ask(_answering(data))


def _ask_packages(data: bytes) -> None:
    state = scratch() / "answers-state"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    python_at(_answering(data), state=state)


def _ask_where(data: bytes) -> None:
    start = PythonStart(python=_answering(data))
    request: dict[str, object] = {"module": "x", "attributes": [], "split": False, "imports": False}
    ask_where(start, dict(os.environ), scratch(), request)


def _ask_model(data: bytes) -> None:
    answer = data.replace(b"\n", b" ") + b"\n"
    with AskedPython(
        _answering(answer), Path(__file__), cwd=scratch(), environment=dict(os.environ)
    ) as python:
        python.ask({"what": "anything"})


def _installed(name: str, data: bytes) -> None:
    """Look where a module is in an environment that somebody else has made."""
    top = scratch() / "where"
    shutil.rmtree(top, ignore_errors=True)
    metadata = b"Metadata-Version: 2.1\nName: odd-module\nVersion: 1\n"
    for file, content in (("METADATA", metadata), ("top_level.txt", b"odd_module\n"), (name, data)):
        placed(f"where/odd_module-1.dist-info/{file}", content)
    placed("where/odd_module.py", b"def f(): pass\n")
    _where_is(top)


def _compiled(data: bytes) -> None:
    import importlib.util

    top = scratch() / "where"
    shutil.rmtree(top, ignore_errors=True)
    source = placed("where/odd_module.py", b"def f(): pass\n")
    cached = Path(importlib.util.cache_from_source(str(source)))
    placed(str(cached.relative_to(scratch())), data)
    _where_is(top)


def _where_is(top: Path) -> None:
    path, finders = [*sys.path], [*sys.meta_path]
    request = {
        "module": "odd_module",
        "attributes": ["f"],
        "split": False,
        "imports": False,
        "first": str(top),
    }
    try:
        whet_where.answer(request)
    finally:
        sys.path[:], sys.meta_path[:] = path, finders
        sys.path_importer_cache.pop(str(top), None)
        sys.modules.pop("odd_module", None)


def _byte_code() -> bytes:
    import importlib.util
    import marshal

    code = compile("def f(): pass\n", "odd_module.py", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


# ---- what agents have counted ----


def _result(kind: str, data: bytes) -> RunResult:
    """Return what these readers look at of a run."""
    entry = SimpleNamespace(number=1, outcome=an_outcome())
    evidence = (Evidence(kind=kind, data=data),)
    return cast("RunResult", SimpleNamespace(evidence=evidence, entry=entry))


_DEFINITION = Definition(module="x", name="f", path="/p/x.py", line=3)


def _counted(data: bytes) -> None:
    str(counted_in(_result(COUNTS, data), _DEFINITION))


_SOURCE = "x = 1  # expect: 10 ms\nfor a in (1, 2):\n    x += a\n"
_TARGET = LinesTarget(path=Path("/p/x.py"), name="x.py", source=_SOURCE, span=(1, 3))


def _lines(data: bytes) -> None:
    str(report_of(_result(LINES, data), _TARGET, as_record(decoded(data), "lines")))


def _line_seeds() -> list[bytes]:
    import struct

    shutil.rmtree(scratch() / "counted", ignore_errors=True)
    counted = placed("counted/7.lines", struct.pack("16d", *map(float, range(1, 17))))
    wish = json.dumps({"lines": {"count": 3, "path": "/p/x.py"}})
    return [read_lines(counted.parent, wish).data]


def _made(data: bytes) -> None:
    shutil.rmtree(scratch() / "made-by", ignore_errors=True)
    read_made(placed("made-by/7.made", data).parent)


def _waits(data: bytes) -> None:
    waits_of(SystemCalls.from_json(as_record(decoded(data), "calls")))


_WAITS: dict[str, object] = {
    "seen": 9, "failed": 0,
    "waits": [{"call": "connect", "target": "127.0.0.1:80", "seconds": 0.5, "count": 2, "pid": 7, "frames": []}],
}  # fmt: skip
_COUNTS: dict[str, object] = {
    "told": [
        {"at": 1.0, "pid": 7, "file": "/p/x.py", "by": [["/p/y.py", 3, "<module>"]]},
        {"at": 2.0, "pid": 7, "file": "/p/x.py", "function": "f", "count": 3, "by": []},
        {"at": 3.0, "unwoven": True},
    ]
}


# ---- what whets have left ----


def _machines(data: bytes) -> None:
    place = placed("machines/whet/machines.json", data)
    environment: Mapping[str, str] = {"XDG_STATE_HOME": str(place.parents[1])}
    known_machines(environment)


def _literal(data: bytes) -> None:
    literal_in(text(data))


_MACHINE = {"name": {"flops": 1e10, "bytes_moved": 1e10}}
_FACTS = {"path": "/usr/bin/python3", "version": "3.11.7", "implementation": "cpython"}
_PYTHON = {"version": "CPython 3.11", "prefix": "/", "folders": ["/l"], "user": ""}
_DUMP = [
    {"pid": 7, "os_thread_id": 7, "thread_name": "MainThread", "active": True, "owns_gil": False,
     "frames": [{"name": "f", "filename": "/p/x.py", "line": 3, "module": None}]},
]  # fmt: skip

_Row = tuple[str, Shape, bytes, Callable[[bytes], object], tuple[type[Exception], ...]]


def _rows() -> Iterator[_Row]:
    plain, lines, tree, no = Shape.BYTES, Shape.JSON_LINES, Shape.JSON, ()
    gpu, memory = partial(_left_inside, "gpu"), partial(_left_inside, "memory")
    yield "inside: a trace of torch", tree, _TORCH, partial(gpu, "7-0.torch.json"), no
    yield "inside: a trace of JAX", plain, _JAX_PACKED, partial(gpu, _JAX_TRACE), no
    yield "inside: files of JAX", plain, f"{__file__}\n".encode(), partial(gpu, "7.jax-files"), no
    yield "inside: memray", tree, _json({"executable": sys.executable, "engine": "memray 1"}), partial(memory, "7.memory"), no  # fmt: skip
    yield "answer: a Python's facts", tree, _json(_FACTS), _ask_facts, no
    yield "answer: a Python's packages", tree, _json(_PYTHON), _ask_packages, no
    yield "answer: where a module is", tree, _json({"missing": "x", "known": []}), _ask_where, no
    yield "answer: a model's Python", tree, _json({"made": [1, 2]}), _ask_model, (HostFailure,)
    yield "answer: uv's Pythons", tree, _json([{"path": "/p", "version": "3.11"}, {"path": None}]), paths_in, _MALFORMED  # fmt: skip
    yield "answer: py-spy's threads", tree, _json(_DUMP), threads_in, _MALFORMED
    yield "where: byte code", plain, _byte_code(), _compiled, no
    yield "where: an editable package", tree, _json({"dir_info": {"editable": True}, "url": "file:///p"}), partial(_installed, "direct_url.json"), no  # fmt: skip
    yield "agent: what was made", lines, _json({"name": "x", "summary": "an array", "fill": "count"}) + b"\n", _made, no  # fmt: skip
    yield "evidence: counts", tree, _json(_COUNTS), _counted, _MALFORMED
    yield "evidence: waits", tree, _json(_WAITS), _waits, _MALFORMED
    yield "left by a whet: machines", tree, _json(_MACHINE), _machines, no
    yield "left by a whet: removed files", tree, b'{"files": 3}', lambda data: removed_so_far(placed("removed", data)), no  # fmt: skip
    yield "words: a literal", plain, b"[1, 'x', {2.5: (None, True)}, b'y']", _literal, (ValueError,)
    yield "tiny: an object", tree, b'{"model_type": "llama"}', lambda data: json_data.read_object(str(placed("config.json", data))), (ValueError,)  # fmt: skip


def answer_readers() -> Iterator[Reader]:
    """Yield the readers of answers, of agents' files and of what whets have left."""
    for name, shape, seed, read, refuses in _rows():
        yield Reader(
            name=name, seeds=partial(_one, seed), read=read, shape=shape, refuses=refuses,
            most_seconds=_SECONDS,
        )  # fmt: skip
    yield Reader(
        name="evidence: lines", seeds=_line_seeds, read=_lines, shape=Shape.JSON, refuses=_MALFORMED
    )  # fmt: skip


def _one(seed: bytes) -> Sequence[bytes]:
    return [seed]
