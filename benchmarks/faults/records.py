"""The readers of records: the notebook, what agents leave, what whets leave each other, protocols."""

import json
import marshal
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import cast

import whet.agent
from benchmarks.faults.facts import FRAME, a_resource_use, a_trial, an_outcome
from benchmarks.faults.mutator import Shape
from benchmarks.faults.reader import Reader, placed, scratch
from whet.core.observations.clue import Placing
from whet.core.observations.evidence import CLOSER, PYTHONS, STACKS, SYSTEM_CALLS, Evidence
from whet.core.observations.file_accesses import FileAccesses
from whet.core.observations.resources import ResourceUse, sparkline
from whet.core.observations.stack import ProcessStack, TaskStack, ThreadStack
from whet.core.observations.system_call import (
    AddressUse,
    FailedCall,
    FileUse,
    LongCall,
    OpenFiles,
    PathFacts,
    SystemCalls,
)
from whet.core.output import BytesOutput, Output
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.evidence.clues.closer_look import (
    descriptor_clues,
    foreign_clues,
    lock_clues,
    suspects_in,
    told_in,
)
from whet.evidence.clues.not_a_number import holds_it, is_of_torch, number_clues
from whet.evidence.clues.probes import call_lines, hit_lines, place_line, probe_report
from whet.evidence.provenance.run.recording import read_recording
from whet.evidence.stacks.stack_groups import (
    groups_of,
    motion,
    sentence,
    stack_clues,
    stacks_in,
    task_groups,
    task_sentence,
)
from whet.evidence.variables.kept_frames import traceback_of, user_depth
from whet.evidence.variables.kept_value import value_line
from whet.host.code.snapshot_memory import Commit, Memory, SetAside, recall
from whet.host.inspect.failures import read_failures
from whet.host.inspect.presence import ended_in, name_of, pythons_in, read_pythons
from whet.host.process.channel import Channel
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.working_tree import WorkingTree
from whet.host.python.installed_packages import python_at
from whet.host.python.module_search import counts_told
from whet.host.spawner.frozen import FrozenCopies
from whet.host.trial.instrumented_evidence import read_closer, read_steps
from whet.host.trial.loaded_modules import read_signs
from whet.host.trial.probe_reports import read_probes
from whet.notebook.adoption import ForeignNotebook
from whet.notebook.entry import read_entry
from whet.notebook.notebook import FILE_NAME, Notebook
from whet.workbench.inspect.post_mortem import dead_in, likeliest
from whet.workbench.inspect.syscalls import calls_in, report_of

_at = Placing("/project")


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


# ---- the notebook ----


def _entry_seeds() -> list[bytes]:
    row = {
        "number": 1, "started_at": "2026-08-21T09:30:00.123456Z", "trial": a_trial().to_json(), "verb": "run",
        "name": "n", "note": "", "expectation": "exit 0", "changes": "", "investigation": None, "host": "here",
        "pid": 7, "outcome": an_outcome().to_json(), "verdict": "bad", "expectation_met": 0,
    }  # fmt: skip
    return [_json(row), _json({**row, "outcome": None, "verdict": None})]


def _output_of(digest: str, size_bytes: int) -> Output:
    del digest, size_bytes
    return BytesOutput(b"")


def _read_entry(data: bytes) -> None:
    row = as_record(decoded(data), "row")
    stored = {
        name: json.dumps(value) if name in {"trial", "outcome"} and value is not None else value
        for name, value in row.items()
    }
    if "number" not in stored:  # the name of the column is the query's own
        return
    entry = read_entry(stored, _output_of, Path("/notebook.db"))
    str(entry.trial.key)
    if entry.outcome is not None:
        entry.outcome.to_json()
        [met.words for met in entry.outcome.limits_met]


@cache
def _notebook_file() -> bytes:
    folder = scratch() / "seed-notebook"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Notebook.open(folder) as notebook:
        for number in range(3):
            trial = notebook.begin(a_trial(), verb="run", name=f"n{number}")
            notebook.finish(trial, an_outcome())
            notebook.observe(trial, Evidence(kind=STACKS, detail={"a": 1}, data=b"{}"))
    data = (folder / FILE_NAME).read_bytes()
    shutil.rmtree(folder)
    return data


def _read_notebook(data: bytes, *, is_foreign: bool) -> None:
    folder = scratch() / "notebook"
    for name in (folder, scratch() / "copy"):
        shutil.rmtree(name, ignore_errors=True)
        name.mkdir(parents=True)
    (folder / FILE_NAME).write_bytes(data)
    if is_foreign:
        ForeignNotebook(folder, scratch() / "copy").close()
        return
    with Notebook.open(folder) as notebook:
        for entry in notebook.entries():
            notebook.evidence_of(entry.number, STACKS)
            notebook.resources_of(entry.number)
            notebook.outcomes_for(a_trial())


# ---- what agents leave in their folder, while the program may be killed or write there itself ----

_FAILING = """\
import threading, numpy_or_not as n
class A:
    def __init__(self): self.values = {"a": [1, 2.5, "x", None, (1, {2})], "b": b"bytes"}
    def price(self, name):
        total = 0
        for each in self.values["a"]:
            total += each if isinstance(each, (int, float)) else 0
        return self.values[name]
def main(depth=2):
    a = A()
    if depth: return main(depth - 1)
    try: a.price("none")
    except KeyError as error: raise ValueError("no price") from error
main()
""".replace(", numpy_or_not as n", "")


@cache
def _left() -> dict[str, list[bytes]]:
    """Return what agents leave of a program that fails, by the ends of the file names."""
    folder = scratch() / "seed-program"
    told = folder / "told"
    shutil.rmtree(folder, ignore_errors=True)
    told.mkdir(parents=True)
    (folder / "main.py").write_text(_FAILING)
    probes = [
        {"title": title, "kind": kind, "path": str(folder / "main.py"), "module": "", "line": line, "name": name,
         "number": number, "last": line, "condition": "", "after": 0, "every": 1, "actions": actions}
        for number, (title, kind, line, name, actions) in enumerate((
            ("main.py:7", "line", 7, "", [["print", "each", "total"], ["stack"], ["mem"]]),
            ("A.price", "trace", 0, "A.price", []), ("main", "call", 0, "main", [["count"]]),
        ))
    ]  # fmt: skip
    site = Path(whet.agent.__file__).parent / "site"
    steps = f"steps:ValueError|{folder / 'main.py'}|13"
    wish = json.dumps({"probes": probes, "ranks": [], "most_calls": 100})
    for extra in ({"WHET_CLOSER": steps}, {"WHET_PROBES": wish}):
        variables = {"PYTHONPATH": str(site), "WHET_AGENT": str(told), "WHET_LOCALS": "1", "WHET_TOGGLES": "",
                     "WHET_PYCACHE": str(folder / "cache"), **extra}  # fmt: skip
        subprocess.run(
            [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables}, check=False,
            capture_output=True, timeout=60,
        )  # fmt: skip
    found: dict[str, list[bytes]] = {"wish": [wish.encode()]}
    for path in sorted(told.iterdir()):
        found.setdefault(path.suffix, []).append(path.read_bytes())
    shutil.rmtree(folder)
    return found


def _left_as(*suffixes: str) -> list[bytes]:
    return [data for suffix in suffixes for data in _left().get(suffix, [])]


_CALLS = _json({"order": 1, "over": False, "function": "f", "place": ["/project/x.py", 3, "main"], "values": [1, None],
                "declares": [0, 0], "result": 3})  # fmt: skip
_CLOSER_LINES = b"\n".join(
    map(_json, [
        {"kind": "descriptors", "total": 9, "holders": [{"place": ["/p/x.py", 3, "f"], "count": 5, "such_as": "/d"}]},
        {"kind": "waits", "pid": 7, "thread": "A", "holder": "B", "idents": [1, 2], "place": ["/p/x.py", 3, "f"],
         "taken": ["/p/x.py", 9, "g"], "by": ["C", 6], "process": "Worker-1"},
        {"kind": "waits", "pid": 7, "thread": "B", "holder": "A", "idents": [2, 1], "place": ["/p/x.py", 4, "g"]},
        {"kind": "unguarded", "name": "self.n", "read": ["/p/x.py", 3, "f"], "write": ["/p/x.py", 4, "f"]},
        {"kind": "number", "what": "NaN", "name": "x", "value": "nan", "place": ["/p/x.py", 3, "f"], "is_met": False,
         "is_written": False, "of": "torch.Tensor", "made_of": [["a", "0.0"]]},
        {"kind": "raised", "message": "https://u:secret@h/x", "place": ["/p/x.py", 3, "f"]},
    ])
)  # fmt: skip


def _closer_evidence() -> list[bytes]:
    call = _CALLS.replace(b"{", b'{"kind": "call", ', 1)
    lines = b", ".join([*_CLOSER_LINES.splitlines(), call])
    return [b'{"told": [' + lines + b"]}"]


def _agent_folder(name: str, data: bytes) -> Path:
    shutil.rmtree(scratch() / "agent", ignore_errors=True)
    return placed(f"agent/{name}", data).parent


def _closer(name: str, data: bytes) -> None:
    folder = _agent_folder(name, data)
    read_steps(folder)
    told = read_closer(folder)
    with suppress(MalformedRecordError):  # what a line says is for whoever wants to know it
        _clues(told.data)


def _clues(data: bytes) -> None:
    told = told_in([Evidence(kind=CLOSER, data=data)])
    list(descriptor_clues(told, _at))
    list(lock_clues(told, _at))
    list(foreign_clues(told, _at))
    suspects_in(told)
    number_clues(told, _at)
    is_of_torch(told)


def _failures_left(name: str, data: bytes) -> None:
    for evidence in read_failures(_agent_folder(name, data)):
        with suppress(MalformedRecordError):
            _failures(evidence.data)


def _failures(data: bytes) -> None:
    dead = dead_in([Evidence(kind="failures", data=data)])
    likeliest(an_outcome(), dead)
    for each in dead:
        holds_it(each.error)
        traceback_of(each.error)
        user_depth(each.error)
        for frame in each.error.frames:
            for variable in frame.variables or ():
                value_line(variable.value, 80)
        for argument in each.error.arguments:
            value_line(argument, 80)


def _probes_left(name: str, data: bytes) -> None:
    told = read_probes(_agent_folder(name, data), _left()["wish"][0].decode())
    with suppress(MalformedRecordError):
        _probes(told.data)


def _probes(data: bytes) -> None:
    report = probe_report(data)
    for place in report.places:
        place_line(place)
    for hit in report.hits:
        hit_lines(hit)
    list(call_lines(report.calls))


def _pythons_left(data: bytes) -> None:
    folder = _agent_folder("7.python", data)
    kept = read_pythons(folder)
    name_of(7, folder)
    _pythons(_json(kept.detail))


def _pythons(data: bytes) -> None:
    evidence = [Evidence(kind=PYTHONS, detail=as_record(decoded(data), "detail"))]
    ended_in(evidence)
    pythons_in(evidence)


def _evidence_of(read: Callable[[Path], Evidence], *files: bytes) -> list[bytes]:
    shutil.rmtree(scratch() / "seed-agent", ignore_errors=True)
    for number, data in enumerate(files):
        placed(f"seed-agent/{number}.{'probes' if b'probe' in data else 'failures'}", data)
    return [read(scratch() / "seed-agent").data]


def _probe_evidence() -> list[bytes]:
    wish = _left()["wish"][0].decode()
    return _evidence_of(lambda folder: read_probes(folder, wish), *_left_as(".probes"))


def _failure_evidence() -> list[bytes]:
    return _evidence_of(lambda folder: read_failures(folder)[0], *_left_as(".failures"))


# ---- evidence that is kept, perhaps by somebody else ----


def _stacks(data: bytes) -> None:
    processes = stacks_in(Evidence(kind=STACKS, data=data))
    groups = groups_of(processes)
    [sentence(each) for each in groups]
    stack_clues(groups, _at)
    [task_sentence(each) for each in task_groups(processes)]
    [motion(each) for each in processes]


def _stack_seeds() -> list[bytes]:
    process = ProcessStack(
        pid=7, parent=1, command="python x.py", rank=0, state="S", cpu_share=0.9, engine="py-spy",
        threads=(ThreadStack(number=7, name="MainThread", frames=(FRAME,)), ThreadStack(number=8, frames=(FRAME,))),
        tasks=(TaskStack(name="Task-1", frames=(FRAME,), awaits="is ready", loop=1, died="", shares=(("a", "b"),)),),
        notes=("a note",),
    )  # fmt: skip
    return [_json({"processes": [process.to_json(), process.to_json()]})]


def _calls(data: bytes) -> None:
    calls = calls_in([Evidence(kind=SYSTEM_CALLS, data=data)])
    if calls is not None:
        report_of(calls, an_outcome())


def _call_seeds() -> list[bytes]:
    facts = PathFacts(existing="/data", owner="root", free_files=5, near=("x.csv",))
    failed = FailedCall(
        call="openat", error="ENOENT", path="/data/x", pid=7, frames=(FRAME,), facts=facts,
        open_files=OpenFiles(held=9, most=10, kinds=(("/data/*.csv", 8),)), before_end_seconds=0.1,
    )  # fmt: skip
    calls = SystemCalls(
        seen=9, failed=2, failures=(failed,), waits=(LongCall(call="connect", target="127.0.0.1:80"),),
        files=(FileUse(path="/data/x", is_read=True),), addresses=(AddressUse(call="connect", address="a:1"),),
        notes=("a note",),
    )  # fmt: skip
    return [_json(calls.to_json())]


def _use(data: bytes) -> None:
    use = ResourceUse.from_json(as_record(decoded(data), "record"))
    sparkline(use.processors, 20)
    sparkline(use.memory_bytes, 20)


# ---- what whets leave each other ----


def _memory_seeds() -> list[bytes]:
    tree = WorkingTree(
        top="/p", git_dir="/p/.git", common_dir="/p/.git", object_format="sha1", settings={"core.bare": "false"},
        ignore_files=("/p/.git/info/exclude",),
    )  # fmt: skip
    path = scratch() / "seed-memory"
    Memory(
        tree=tree, marks=((1, 2, 3),), shadow="git-1", watched=((4, 5, 6),), head=Commit(name="a", tree="b", seconds=1),
        aside={"big": SetAside(path="big", size_bytes=1, mtime_ns=2)}, nested=("sub",),
    ).save(str(path))  # fmt: skip
    return [path.read_bytes()]


def _belonging_seeds() -> list[bytes]:
    record = {"kind": "folder", "what": str(scratch() / "nothing"), "repository": "", "start_ticks": 0, "token": "",
              "place": "here pid:[1]\nboot", "seal": "0" * 128}  # fmt: skip
    return [_json(record)]


def _sweep(data: bytes) -> None:
    shutil.rmtree(scratch() / "made", ignore_errors=True)
    # Nobody has this pid; the seal is never right, so nothing is ever removed.
    CleanupJournal(placed("made/4194304-1-0.json", data).parent).sweep()


def _interpreters(data: bytes) -> None:
    python_at(sys.executable, state=placed("state/interpreters.json", data).parent)


# ---- protocols ----

_NO_ITEMS: list[object] = []
_NO_PAIRS: dict[str, object] = {}
_MESSAGES: tuple[tuple[str, object], ...] = (
    ("ended", ([(7, 0, False)], 1.0, 0.5, 9, -1, False, _NO_ITEMS, _NO_ITEMS, (1, 2))), ("failed", ("exec", 2, b"/x")),
    ("run", ([b"python"], {b"A": b"1"}, b"/", [(b"true", True)], -1, b"", -1, _NO_PAIRS, _NO_ITEMS, 0)), ("fault", "text"),
    ("looked", ("", ["a"], ["b"], _NO_ITEMS, 1, 0.5)), ("number", 7),
)  # fmt: skip


def _framed(message: object) -> bytes:
    packed = marshal.dumps(cast("str", message))
    return len(packed).to_bytes(4, "little") + packed


def _channel(data: bytes) -> None:
    """Send what is no message through the very socket, and receive until the end is gone."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours:
        channel = Channel.inherited(theirs.detach())
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        while channel.receive() is not None:
            pass
        channel.close()


def _channel_tree(data: bytes) -> None:
    _channel(len(data).to_bytes(4, "little") + data)


_REPORTS: tuple[tuple[object, ...], ...] = (
    ("hindered", "x.py:3", 0.5, "why"), ("present",), ("absent", "why"), ("wrote", b"pages"),
    ("leaves", 0, 0.5, 1000), ("line", "x.py:3", 0.5, (_NO_ITEMS, _NO_ITEMS, _NO_PAIRS, _NO_PAIRS, _NO_PAIRS, _NO_PAIRS), {"x.py": b"text"}, [("x.py", "f")]),
)  # fmt: skip


def _copies(data: bytes) -> None:
    """Report to a spawner as a frozen copy does, in whatever words."""
    place = scratch() / "copies"
    address = bytes(place)
    copies = FrozenCopies()
    copies.listen(str(place))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(address)
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            copies.take()
    finally:
        copies.end()
        place.unlink(missing_ok=True)


def _copies_tree(data: bytes) -> None:
    _copies(len(data).to_bytes(4, "little") + data)


def record_readers() -> Iterator[Reader]:
    """Yield the readers of records."""
    yield from _readers(Shape.JSON, [
        ("notebook: a row", _entry_seeds, _read_entry, (MalformedRecordError,)),
    ])  # fmt: skip
    for name, is_foreign in (("its own", False), ("somebody else's", True)):
        yield Reader(
            name=f"notebook: {name} file", seeds=lambda: [_notebook_file()],
            read=partial(_read_notebook, is_foreign=is_foreign),
        )  # fmt: skip
    lines = Shape.JSON_LINES
    yield from _readers(lines, [
        ("agent: failures", lambda: _left_as(".failures"), partial(_failures_left, "7.failures"), ()),
    ])  # fmt: skip
    yield from _readers(Shape.BYTES, [
        ("agent: a crash", lambda: [_CRASH], partial(_failures_left, "7.crash"), ()),
    ])  # fmt: skip
    yield from _readers(lines, [
        ("agent: a closer look", lambda: [_CLOSER_LINES], partial(_closer, "7.closer"), ()),
        ("agent: calls of C", lambda: [_CALLS.ljust(1024) + _CALLS.ljust(1024)], partial(_closer, "7.calls"), ()),
    ])  # fmt: skip
    yield from _readers(lines, [
        ("agent: probes", lambda: _left_as(".probes"), partial(_probes_left, "7.probes"), ()),
    ])  # fmt: skip
    yield from _readers(lines, [
        ("agent: counts", lambda: [b'{"pid": 7, "number": 0, "by": [["/p/x.py", 3, "f"]]}\n{"pid": 7, "loaded": "/p/x.py"}\n'],
         _counts, ()),
    ])  # fmt: skip
    yield from _readers(Shape.BYTES, [
        ("agent: pythons", lambda: _left_as(".python"), _pythons_left, ()),
        ("agent: signs", lambda: _left_as(".toggles"),
         lambda data: read_signs(_agent_folder("7.toggles", data)), ()),
    ])  # fmt: skip
    malformed = (MalformedRecordError,)
    yield from _readers(Shape.JSON, [
        ("evidence: failures", _failure_evidence, _failures, malformed),
        ("evidence: probes", _probe_evidence, _probes, malformed),
        ("evidence: a closer look", _closer_evidence, _clues, malformed),
        ("evidence: steps", lambda: _left_as(".steps"), read_recording, malformed),
        ("evidence: stacks", _stack_seeds, _stacks, malformed),
        ("evidence: system calls", _call_seeds, _calls, malformed),
        ("evidence: pythons", lambda: [_json({"pythons": [{"executable": "/p", "version": "CPython 3.11", "files": ["a.py"]}],
                                              "ended": [{"pid": 1, "name": "a", "code": -9}]})], _pythons, malformed),
        ("evidence: looks", lambda: [FileAccesses(paths=("a",), calls=1).to_bytes()], FileAccesses.from_bytes, malformed),
        ("evidence: resources", lambda: [_json(a_resource_use().to_json())], _use, malformed),
    ])  # fmt: skip
    yield from _readers(Shape.JSON, [
        ("left by a whet: a snapshot", _memory_seeds, lambda data: recall(str(placed("memory", data))), ()),
        ("left by a whet: what to remove", _belonging_seeds, _sweep, ()),
        ("left by a whet: interpreters", lambda: [_json({"/p 1 2": {"version": "CPython 3.11", "prefix": "/",
                                                  "folders": ["/l"], "user": ""}})], _interpreters, ()),
    ])  # fmt: skip
    yield from _readers(Shape.MARSHAL, [
        ("protocol: a message", lambda: [marshal.dumps(cast("str", (kind, marshal.dumps(cast("str", body)))))
                                         for kind, body in _MESSAGES], _channel_tree, ()),
        ("protocol: a copy's report", lambda: [marshal.dumps(cast("str", each)) for each in _REPORTS], _copies_tree, ()),
    ])  # fmt: skip
    yield from _readers(Shape.BYTES, [
        ("protocol: a stream", lambda: [_framed((kind, marshal.dumps(cast("str", body)))) for kind, body in _MESSAGES],
         _channel, ()),
        ("protocol: a copy's stream", lambda: [_framed(each) for each in _REPORTS], _copies, ()),
    ])  # fmt: skip


_CRASH = b"""Fatal Python error: Segmentation fault

Current thread 0x00007f1234567890 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/project/x.py", line 3 in <module>

Extension modules: numpy.core._multiarray_umath (total: 1)
"""


def _counts(data: bytes) -> None:
    evidence = counts_told(_agent_folder("7.where", data))
    placed("agent/7.where-counts", bytes(16))
    counts_told(scratch() / "agent")
    as_record(decoded(evidence.data), "counts")


_Row = tuple[
    str, Callable[[], Sequence[bytes]], Callable[[bytes], object], tuple[type[Exception], ...]
]


def _readers(shape: Shape, rows: Sequence[_Row]) -> Iterator[Reader]:
    for name, seeds, read, refuses in rows:
        yield Reader(name=name, seeds=seeds, read=read, shape=shape, refuses=refuses)
