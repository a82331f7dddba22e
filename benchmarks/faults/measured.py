"""The readers of what measures: profilers, sections, counted lines, leaks; and of what is asked of them."""

import json
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from benchmarks.faults.facts import a_resource_use, an_outcome
from benchmarks.faults.mutator import Shape
from benchmarks.faults.reader import Reader, placed, scratch, text
from whet.core.observations.evidence import LEAK, Evidence
from whet.core.observations.profile import Profile, Recording
from whet.core.observations.timeline import Timeline
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.core.threshold import Threshold
from whet.host.profiling.compilations import read_compilations
from whet.host.profiling.nsys import read_report
from whet.host.python.line_counts import read_lines
from whet.host.trial.leak_reports import read_leak
from whet.host.trial.sections import sections_so_far, with_sections
from whet.make.documents.json_values import read_json
from whet.make.documents.made_json import made_json
from whet.make.elements.fills import Filling
from whet.measurement.expectations.comments import comments_in
from whet.measurement.profiles.compilations import compiling_sentences
from whet.measurement.profiles.exports.chrome_trace import chrome_trace
from whet.measurement.profiles.exports.collapsed import collapsed
from whet.measurement.profiles.exports.pprof import pprof
from whet.measurement.profiles.exports.speedscope import speedscope
from whet.measurement.profiles.flame import flame
from whet.measurement.profiles.integrity import checked, read_checked
from whet.measurement.profiles.jax_trace import read_jax
from whet.measurement.profiles.kineto import read_kineto
from whet.measurement.profiles.line_table import lines_of
from whet.measurement.profiles.memory_blocks import read_blocks
from whet.measurement.profiles.merge import merged
from whet.measurement.profiles.perf_script import read_perf
from whet.measurement.profiles.sentences import sentences_of
from whet.measurement.profiles.spied import read_spied
from whet.sampling.row_condition import RowCondition
from whet.workbench.leak.reports import leak_reports
from whet.workbench.watch.numeric_column import numbers_in
from whet.workbench.watch.panels import parse_panels
from whet.workbench.watch.recording import replay_of

_MALFORMED = (MalformedRecordError,)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _is_own(path: str) -> bool:
    return path.endswith(".py")


# ---- what profilers write ----


def _shown(profile: Profile) -> None:
    """Say everything that whet says of a profile."""
    sentences_of(profile, None)
    lines_of(profile)
    flame(profile, "all")
    merged([profile, profile])
    list(compiling_sentences(profile, 1.0))
    chrome_trace(profile, [profile.timeline])
    for export in (collapsed, pprof):
        export(profile)
    speedscope(profile, "name")


def _recorded(
    read: Callable[[Recording], Profile], *, is_present: bool = False
) -> Callable[[bytes], None]:
    def reads(data: bytes) -> None:
        running, present = (b"", data) if is_present else (data, b"")
        recording = Recording(engine="py-spy 1", rate=100, running=running, present=present)
        _shown(read_checked(read, recording, "cpu"))

    return reads


_SPEEDSCOPE = _json({
    "shared": {"frames": [{"name": "f", "file": "/p/x.py", "line": 3}, {"name": "g", "file": None}]},
    "profiles": [{"type": "sampled", "name": 'Process 7 Thread 9 "MainThread"', "unit": "seconds",
                  "samples": [[0, 1], [0]], "weights": [0.01, 0.01]}],
})  # fmt: skip
_PRESENT = _json([
    {"name": "process 7:python x.py", "ph": "B", "ts": 0, "pid": 7, "tid": 9, "args": {"filename": "", "line": 0}},
    {"name": "thread (9): A", "ph": "B", "ts": 0, "pid": 7, "tid": 9, "args": {"filename": "", "line": 0}},
    {"name": "f", "ph": "B", "ts": 0, "pid": 7, "tid": 9, "args": {"filename": "/p/x.py", "line": 3}},
    {"name": "f", "ph": "E", "ts": 90000, "pid": 7, "tid": 9, "args": {"filename": "/p/x.py", "line": 3}},
])  # fmt: skip
_EVENTS = [
    {"ph": "X", "cat": "python_function", "name": "x.py(3): f", "ts": 1.0, "dur": 90.0, "pid": 7, "tid": 9,
     "args": {"Python id": 1, "Python parent id": None}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 2.0, "dur": 9.0, "pid": 7, "tid": 9,
     "args": {"External id": 3, "Input Dims": [[2, 2], [2, 2]]}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 3.0, "dur": 1.0, "pid": 7, "tid": 9,
     "args": {"correlation": 5}},
    {"ph": "X", "cat": "kernel", "name": "sgemm", "ts": 5.0, "dur": 4.0, "pid": 0, "tid": 7,
     "args": {"correlation": 5, "device": 0, "stream": 7}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 9.0, "dur": 4.0, "args": {"correlation": 6, "bytes": 9}},
]  # fmt: skip
_KINETO = _json([{"pid": 7, "traceEvents": _EVENTS}])
_JAX_TRACES: list[object] = [{
    "pid": 7, "places": [["x.py", 3, "f", "/p/x.py"]],
    "traceEvents": [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "python"}},
        {"ph": "X", "pid": 1, "tid": 2, "ts": 1.0, "dur": 9.0, "name": "$x.py:3 f"},
        {"ph": "X", "pid": 1, "tid": 2, "ts": 2.0, "dur": 3.0, "name": "PjitFunction(f)"},
        {"ph": "X", "pid": 1, "tid": 2, "ts": 3.0, "dur": 1.0, "name": "dot.1", "args": {"hlo_op": "dot.1", "hlo_module": "jit_f"}},
    ],
}]  # fmt: skip
_JAX = _json(_JAX_TRACES)
_STACK: list[object] = [["f", "/p/x.py", 3], ["<module>", "/p/x.py", 9]]
_HELD: list[object] = [[800, 2, _STACK], [100, 1, list[object]()]]
_BLOCKS = _json([{"pid": 7, "peak": 900, "blocks": _HELD}])
_PERF = b"""python 7/7 123.456:
\t    7f01 sum_it+0x1f (/usr/lib/libx.so)
\t    7f02 py::f:/p/x.py (/tmp/perf-7.map)
\t    7f03 [unknown] ([unknown])

python 7/8 123.466:
\t    7f01 sum_it+0x1f (/usr/lib/libx.so)
"""


@cache
def _nsys() -> bytes:
    path = placed("seed-nsys.sqlite", b"")
    with closing(sqlite3.connect(path)) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'sgemm'), (2, 'cudaLaunchKernel');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, demangledName INT, correlationId INT, globalPid INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 9, 1, 5, 117440512);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, "end" INT, nameId INT, correlationId INT, globalTid INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 1, 2, 5, 117440519);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, "end" INT, bytes INT, copyKind INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2, 3, 64, 1);
            CREATE TABLE NVTX_EVENTS (start INT, "end" INT, text TEXT, textId INT, globalTid INT, eventType INT);
            INSERT INTO NVTX_EVENTS VALUES (0, 9, 'step', NULL, 117440519, 59);
            CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT);
            INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'lost');
        """)
    return path.read_bytes()


def _read_nsys(data: bytes) -> None:
    path = placed("nsys/whet-nsys.sqlite", data)
    events, _ = read_report(path, is_captured=True)
    read_kineto(
        Recording(engine="nsys", rate=0, running=_json([{"pid": 7, "traceEvents": events}])),
        _is_own,
    )


def _profile_seeds() -> list[bytes]:
    profile = read_spied(
        Recording(engine="py-spy 1", rate=100, running=_SPEEDSCOPE, present=_PRESENT), _is_own
    )
    gpu = read_kineto(Recording(engine="torch 2", rate=0, running=_KINETO), _is_own)
    return [_json(profile.to_json()), _json(gpu.to_json())]


# ---- what agents write ----

_SECTIONS = (
    b"begin\t0\t-1\t1000\tload\tMainThread\t\tsection\t.\n"
    b"end\t0\t9000\t4096\t1024\tload\t1\t9000\t8000\t4096\t1024\t4096\t0\t0\t.\n"
    b"begin\t1\t0\t2000\tinner\tMainThread\ttask\tnvtx\t'red\t\t1\t2.5\t.\nover\t1\t700\t.\n"
    b"mark\t3000\tnow\tMainThread\tsection\t'red\t.\nsums\tload\t2\t9\t8\t1\t1\t1\t0\t0\tgpu,1,2\t.\n"
    b"resumed\tload\t.\nleft out\t9\t.\nobjects\t0\t[1, 2]\t.\n"
)
_LINES_WISH = json.dumps({"lines": {"count": 2, "path": "/p/x.py"}})
_COMPILATION = _json(
    {
        "name": "f",
        "seconds": 0.1,
        "path": "/p/x.py",
        "line": 3,
        "library": "torch",
        "types": ["f32[2]"],
    }
)
_LEAK_LINES = b"\n".join(map(_json, [
    {"kind": "loop", "loop": ["/p/x.py", 3, 9, "main"], "python": "3.11"},
    {"kind": "round", "number": 1, "seconds": 0.1, "usage": {"blocks": 9, "rss": 4096, "files": 3, "threads": 1}},
    {"kind": "round", "number": 2, "seconds": 0.2, "usage": {"blocks": 9, "rss": 4096, "files": 3, "threads": 1}},
    {"kind": "growth", "types": [["dict", 9, 900]], "lines": [["/p/x.py", 3, 900]], "holders": []},
]))  # fmt: skip


def _agents(name: str, data: bytes) -> Path:
    for old in (scratch() / "measured").glob("*"):
        old.unlink()
    return placed(f"measured/{name}", data).parent


def _sections(data: bytes) -> None:
    folder = _agents("7-0.sections", data)
    outcome = with_sections(an_outcome(), folder, 0.5)
    sections_so_far(folder, 0.5)
    _timelines([each.data for each in outcome.evidence if each.kind == "timeline"])


def _timelines(kept: Sequence[bytes]) -> None:
    timelines = [Timeline.from_json(as_record(decoded(each), "timeline")) for each in kept]
    replay_of(timelines, a_resource_use(), 1.0)


def _leaks(data: bytes) -> None:
    evidence = read_leak(_agents("7.leak", data))
    with suppress(MalformedRecordError):
        _leak_evidence(evidence.data)


def _leak_evidence(data: bytes) -> None:
    reports = leak_reports([Evidence(kind=LEAK, data=data)])
    str((reports.rounds, reports.repeated, reports.growth, reports.unrepeatable, reports.sections))


# ---- schemas and words ----


_SCHEMA = _json({
    "type": "object", "required": ["a", "b"], "additionalProperties": False, "$defs": {"x": {"type": "integer", "minimum": 3}},
    "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2}-\\\\d+$"}, "minItems": 1},
                   "c": {"anyOf": [{"const": None}, {"enum": [1, "x"]}]}, "d": {"type": "number", "multipleOf": 0.5, "exclusiveMaximum": 9}},
})  # fmt: skip


def _schema(data: bytes) -> None:
    made_json(read_json(text(data), "schema"), None, 2, Filling())


def _comments(data: bytes) -> None:
    comments_in(text(data), "x.py")


def _words(parse: Callable[[str], object]) -> Callable[[bytes], None]:
    def reads(data: bytes) -> None:
        parse(text(data))

    return reads


def _where(words: str) -> None:
    condition = RowCondition.parse(words)
    for value in (1, -0.5, "1", None, b"x"):
        row = dict.fromkeys(condition.columns, value)
        condition.holds(row)


def measured_readers() -> Iterator[Reader]:
    """Yield the readers of what measures and of what is sampled."""
    rows: list[tuple[str, Shape, Callable[[], Sequence[bytes]], Callable[[bytes], object], bool]] = [
        ("profile: py-spy", Shape.JSON, lambda: [_SPEEDSCOPE], _recorded(lambda r: read_spied(r, _is_own)), True),
        ("profile: py-spy, all threads", Shape.JSON, lambda: [_PRESENT], _recorded(lambda r: read_spied(r, _is_own), is_present=True), True),
        ("profile: torch", Shape.JSON, lambda: [_KINETO], _recorded(lambda r: read_kineto(r, _is_own)), True),
        ("profile: jax", Shape.JSON, lambda: [_JAX], _recorded(lambda r: read_jax(r, _is_own)), True),
        ("profile: memray", Shape.JSON, lambda: [_BLOCKS], _recorded(lambda r: read_blocks(r, _is_own)), True),
        ("profile: perf", Shape.BYTES, lambda: [_PERF], _recorded(read_perf), False),
        ("profile: nsys", Shape.BYTES, lambda: [_nsys()], _read_nsys, True),
        ("evidence: a profile", Shape.JSON, _profile_seeds, lambda data: _shown(checked(Profile.from_json(as_record(decoded(data), "profile")))), True),
        ("evidence: a timeline", Shape.JSON, lambda: [Timeline.to_bytes(read_spied(Recording(engine="", rate=1, present=_PRESENT), _is_own).timeline)], lambda data: _timelines([data]), True),
        ("evidence: a leak", Shape.JSON, lambda: [read_leak(_agents("7.leak", _LEAK_LINES)).data], _leak_evidence, True),
        ("agent: sections", Shape.BYTES, lambda: [_SECTIONS], _sections, False),
        ("agent: lines", Shape.BYTES, lambda: [struct.pack("12d", *range(1, 13))], lambda data: read_lines(_agents("7.lines", data), _LINES_WISH), False),
        ("agent: compilations", Shape.JSON_LINES, lambda: [_COMPILATION], lambda data: read_compilations(_agents("7.compilations", data)), False),
        ("agent: leaks", Shape.JSON_LINES, lambda: [_LEAK_LINES], _leaks, False),
        ("make: a JSON schema", Shape.JSON, lambda: [_SCHEMA], _schema, False),
        ("source: expectations", Shape.BYTES, lambda: [b"x = 1  # expect: 40 ms\n# expect: < 100 MB, 10 calls\nfor a in b: pass\n"], _comments, False),
        ("words: rows", Shape.BYTES, lambda: [b"amount < 0 and country == 'DE' or not (a in (1, 2) and b is null)", b"a ~ 'x.*'"], _words(_where), False),
        ("words: a threshold", Shape.BYTES, lambda: [b"rss > 8G", b"cpu > 90 %"], _words(lambda words: Threshold.parse(words, "bell")), False),
        ("words: panels", Shape.BYTES, lambda: [b"processes:python memory:7 disk:/tmp gpu:0"], _words(lambda words: parse_panels(words.split(), has_program=True)), False),
        ("watched: an output", Shape.BYTES, lambda: [b"Filesystem Size Used Use%\n/dev/sda1 1.5T 99G 7%\n"], _words(numbers_in), False),
    ]  # fmt: skip
    for name, shape, seeds, read, is_record in rows:
        refuses: tuple[type[Exception], ...] = _MALFORMED if is_record else ()
        yield Reader(name=name, seeds=seeds, read=read, shape=shape, refuses=refuses)
