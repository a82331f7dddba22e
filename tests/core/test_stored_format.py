"""What notebooks of earlier whets hold is read, and written again to the byte."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet, Limits
from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.observations.file_accesses import FileAccesses
from whet.core.observations.panel import Number, Reading
from whet.core.observations.profile import Compilation, Obstacle, Profile, ProfiledProcess, Stack
from whet.core.observations.resources import ProcessPeak, ResourceUse
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
from whet.core.observations.timeline import Level, Mark, SectionTotal, Span, Timeline
from whet.core.outcome import Outcome, ProcessExit
from whet.core.output import BytesOutput
from whet.core.room import Disk, Fault, Room
from whet.core.site import Site
from whet.core.text.json_record import Record
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.core.trial import (
    CodeState,
    EnvironmentFacts,
    PayloadBinding,
    PayloadPlace,
    ResetStep,
    Trial,
)
from whet.host.process.cleanup_journal import Resource
from whet.host.process.working_tree import WorkingTree

STORED = json.loads(Path(__file__).with_name("stored_format.json").read_text(encoding="utf-8"))
ROOM = Room(
    disks=(Disk(path="/x", size_bytes=4096, is_rest=True), Disk(inodes=7)),
    read_only=("/etc",),
    is_clean=True,
    project="/p",
    keep_writes="/k",
    network="none",
    clock="2026-01-01",
    faults=(Fault(call="write", error="ENOSPC", nth=5, step=0, glob="*.pt"),),
    gpus=1,
    hidden=("/dev/nvidia0",),
    gpu_free=(("0", 1 << 30), ("", 5)),
    gpu_memory_bytes=1 << 20,
    cpu_load=2,
)
LIMITS = Limits(
    wall_seconds=2.5,
    output_bytes=10,
    memory_bytes=1 << 30,
    memory_high_bytes=1 << 29,
    swap_bytes=0,
    address_space_bytes=1 << 33,
    cpus=0.5,
    files=64,
    processes=9,
    file_size_bytes=100,
    stack_bytes=8192,
    cpu_seconds=3,
    slow_disk_bytes=5000,
    room=ROOM,
    spares_command=True,
)
FRAME = Frame(path="a.py", line=1, function="f", in_user_code=True)
SIGNATURE = FailureSignature(
    kind=FailureKind.EXCEPTION,
    exception="KeyError",
    message="'x'",
    user_function="a.py:f",
    library_function="lib.py:g",
    causes=("ValueError",),
    exit_code=1,
    signal="SIGSEGV",
)
SITE = Site(at="a.py:f:1", operation="d[k]", callers=("a.py:g:2",), is_recursive=True, sign=-1)
FAILURE = Failure(
    signature=SIGNATURE, summary="KeyError: 'é'", frames=(FRAME,), site=SITE, limit="memory"
)
MET = LimitMet(name="memory", limit=5.0, reached=6.0, process="python", pid=3, was_killed=True)
OUTCOME = Outcome(
    exit_code=None,
    signal=9,
    timed_out=True,
    interrupted=True,
    overran_output=True,
    hung_seconds=1.5,
    failed_reset="make",
    wall_seconds=0.25,
    cpu_seconds=0.125,
    peak_rss_bytes=1024,
    stdout=BytesOutput(b"out"),
    stderr=BytesOutput(b""),
    processes=(
        ProcessExit(pid=5, host="h", rank=1, exit_code=2, was_left_behind=True),
        ProcessExit(pid=6, host="h", signal=11),
    ),
    measurements={"loss": 0.5},
    stacks=((FRAME, FRAME), ()),
    notes=("a note",),
    resumed_from="a.py:3",
    looks="abc",
    limits_met=(MET,),
    limited_by=("memory 64 MiB by cgroup v1",),
    failure=FAILURE,
)
TRIAL = Trial(
    command=("python", "a.py", "\udcff"),
    cwd="/p",
    environment={"B": "2", "A": "1"},
    stdin="ab",
    reset=(ResetStep(command="true", must_succeed=False),),
    payloads=(
        PayloadBinding(
            argument=1,
            text="d",
            name="d.csv",
            digest="ff",
            more=(PayloadPlace(argument=2, text="e"),),
            beside="/b",
            folder="/f",
            is_home=True,
        ),
        PayloadBinding(argument=None, text="", name="stdin", digest="00"),
    ),
    code=CodeState(repository="/r", commit="c", tree="t", snapshot="s", large_files=("l 1 2",)),
    revision="HEAD",
    packages={"numpy": "2.0"},
    limits=LIMITS,
    measures={"loss": "loss=(.*)"},
    surroundings=EnvironmentFacts(
        environment_digest="e",
        interpreter="CPython 3.11.7",
        packages_digest="p",
        platform="linux",
        files_digest="f",
    ),
    unset=("HOME",),
    setup="make",
    hang_seconds=7.0,
    hangs_if_idle=True,
)
STACK = ProcessStack(
    pid=1,
    parent=2,
    command="python a.py",
    rank=0,
    name="Worker-1",
    state="S",
    cpu_share=0.5,
    engine="agent",
    threads=(
        ThreadStack(number=1),
        ThreadStack(
            number=2, name="t", frames=(FRAME,), is_running=True, holds_gil=True, has_moved=False
        ),
    ),
    tasks=(
        TaskStack(name="t"),
        TaskStack(name="u", frames=(FRAME,), awaits="runs", loop=3, died="E", shares=(("q", "t"),)),
    ),
    notes=("n",),
)
FACTS = PathFacts(
    existing="/a",
    owner="root",
    group="wheel",
    mode="drwx",
    file_system="ext4",
    mount_point="/",
    is_read_only=True,
    total_bytes=5,
    free_bytes=4,
    free_files=3,
    user="me",
    near=("b",),
)
CALLS = SystemCalls(
    seen=9,
    failed=8,
    usual=7,
    failures=(
        FailedCall(call="open", error="ENOENT"),
        FailedCall(
            call="openat",
            error="EMFILE",
            path="/a",
            given="a",
            detail="d",
            pid=1,
            process="python",
            count=2,
            order=3,
            seconds=0.12345678,
            before_end_seconds=0.5,
            frames=(FRAME,),
            started_by=(FRAME,),
            facts=FACTS,
            open_files=OpenFiles(held=64, most=64, kinds=(("pipe", 3),)),
            looked_in=4,
            names=5,
        ),
    ),
    waits=(
        LongCall(call="connect"),
        LongCall(
            call="read",
            target="pipe",
            pid=1,
            process="p",
            count=2,
            seconds=1.23456789,
            longest_seconds=1.0,
            is_under_way=True,
            frames=(FRAME,),
        ),
    ),
    files=(FileUse(path="/f"), FileUse(path="/g", is_read=True, is_written=True, count=2)),
    addresses=(
        AddressUse(call="connect", address="127.0.0.1:80"),
        AddressUse(call="bind", address="unix:/x", error="EACCES", count=3),
    ),
    processes=2,
    notes=("n",),
)
USE = ResourceUse(
    seconds=(0.5, 1.0),
    memory_bytes=(1, 2),
    cpu_seconds=(0.25, 0.5),
    files=(3, 4),
    read_bytes=(5, 6),
    written_bytes=(7, 8),
    processes=(1, 1),
    largest=(ProcessPeak(pid=1, name="python", peak_bytes=9),),
)
TIMELINE = Timeline(
    spans=(
        Span(name="load", start=0.5, seconds=1.5, pid=7, numbers={"cpu_seconds": 1.25}),
        Span(name="x", start=0.75, thread="t", task="k", parent=0, source="cuda", words={"a": "b"}),
    ),
    marks=(Mark(name="m", at=1.0, pid=7), Mark(name="n", at=2.0, thread="t", source="s")),
    levels=(Level(name="memory", unit="bytes", seconds=(0.5, 1.0), values=(1.0, 2.0)),),
    totals=(
        SectionTotal(
            name="load",
            count=1,
            seconds=1.5,
            cpu_seconds=1.25,
            peak_memory_bytes=4096,
            kept_memory_bytes=-8,
            open_count=1,
            others={"kept_objects": 3.0},
        ),
    ),
    notes=("n",),
)
CLUE = Clue(
    says="s",
    why="w",
    path="a.py",
    line=3,
    sureness=Sureness.SEEN,
    trials=(1, 2),
    next_step="n",
    trail=(TrailStep(says="x", place="a.py:1", source="x = 1", value="1"), TrailStep(says="y")),
    record="r",
)
PROFILE = Profile(
    question="cpu",
    engine="py-spy 0.4.3",
    unit="cpu_seconds",
    frames=(FRAME,),
    stacks=(
        Stack(frames=(0,), pid=7, thread="worker", numbers={"cpu_seconds": 0.5, "seconds": 1.0}),
        Stack(frames=(0, 0)),
    ),
    samples=50,
    rate=100.0,
    seconds=1.0,
    processes=(
        ProfiledProcess(
            pid=7, parent=1, name="python", rank=0, begun=0.1, ended=1.1, cpu_seconds=0.5
        ),
        ProfiledProcess(pid=8),
    ),
    facts={"runs": 2.0},
    timeline=TIMELINE,
    notes=("n",),
)
COMPILATION = Compilation(
    compiler="JAX",
    function="step",
    seconds=0.5,
    path="/p/train.py",
    line=3,
    caller="main",
    types=("float32[3]",),
    reason="r",
    pid=7,
)
READING = Reading(
    panel="memory",
    title="memory",
    headline="3.2 GB",
    column="c",
    detail="d",
    table=(("PID", "command"), ("1", "python")),
    lines=("l",),
    reason="r",
    numbers=(Number(name="rss", value=3.2e9, unit="bytes", full=4e9), Number(name="n", value=1.0)),
)
TREE = WorkingTree(
    top="/r",
    git_dir="/r/.git",
    common_dir="/r/.git",
    object_format="sha1",
    settings={"core.symlinks": "true"},
    ignore_files=("/r/.git/info/exclude",),
)


PARTS = (FRAME, STACK.tasks[1], OpenFiles(held=64, most=64, kinds=(("pipe", 3),)))
VALUES: dict[str, Record] = {
    "room": ROOM,
    "plain room": Room(),
    "limits": LIMITS,
    "no limits": Limits(),
    "limit met": MET,
    "limit met of nobody": LimitMet(name="fail", limit=1.0, reached=1.0),
    "signature": SIGNATURE,
    "bare signature": FailureSignature(kind=FailureKind.EXIT, exit_code=0),
    "failure": FAILURE,
    "bare failure": Failure(signature=FailureSignature(kind=FailureKind.TIMEOUT), summary=""),
    "site": SITE,
    "bare site": Site(at="x"),
    "outcome": OUTCOME,
    "bare outcome": Outcome(),
    "trial": TRIAL,
    "bare trial": Trial(command=("true",), cwd="/"),
    "process stack": STACK,
    "bare process stack": ProcessStack(pid=1),
    "system calls": CALLS,
    "no system calls": SystemCalls(),
    "resources": USE,
    "timeline": TIMELINE,
    "no timeline": Timeline(),
    "profile": PROFILE,
    "profile of compilations": replace(PROFILE, compilations=(COMPILATION,)),
    "profile of nothing": Profile(
        question="cpu", engine="perf", unit="", obstacle=Obstacle.FORBIDDEN
    ),
    "compilation": COMPILATION,
    "bare compilation": Compilation(compiler="JAX", function="f", seconds=0.5),
    "no profile": Profile(question="io", engine="", unit="seconds"),
    "reading": READING,
    "bare reading": Reading(panel="p", title="t"),
    "working tree": TREE,
    "belonging": Resource(
        kind="worktree", what="/w", repository="/r", start_ticks=5, token="t"
    ),
    "bare belonging": Resource(kind="folder", what="/f"),
}  # fmt: skip
UNREAD: dict[str, Record] = {"clue": CLUE, "bare clue": Clue(says="s", why="w")}
"""Written for reports; nothing reads it again."""


@pytest.mark.parametrize("name", [*VALUES, *UNREAD])
def test_a_record_is_written_as_it_always_was(name: str) -> None:
    assert json.dumps({**VALUES, **UNREAD}[name].to_json()) == STORED[name]


@pytest.mark.parametrize("name", VALUES)
def test_a_record_comes_back_as_it_was_written(name: str) -> None:
    value, data = VALUES[name], as_record(decoded(STORED[name]), name)
    if isinstance(value, Outcome):
        streams = {stream.digest: stream for stream in (value.stdout, value.stderr)}
        assert Outcome.of_record(data, lambda digest, _size: streams[digest]) == value
    else:
        assert json.dumps(type(value).from_json(data).to_json()) == STORED[name]


def test_what_a_trial_looked_at_is_written_as_it_always_was() -> None:
    looks = FileAccesses(
        gap="g", paths=("a",), folders=("",), moved=("m",), calls=3, held_seconds=0.5
    )  # fmt: skip
    assert looks.to_bytes() == STORED["looks"].encode("ascii")
    assert FileAccesses.from_bytes(looks.to_bytes()) == looks


def test_a_trial_has_the_key_that_it_always_had() -> None:
    assert TRIAL.key == STORED["key"]
    assert Trial(command=("true",), cwd="/").key == STORED["bare key"]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (Frame, "line", "1"),
        (Frame, "in_user_code", 1),
        (Site, "at", None),
        (Site, "sign", "x"),
        (Site, "callers", ["a", 1]),
        (Failure, "frames", [1]),
        (Failure, "signature", 1),
        (FailureSignature, "kind", "bad luck"),
        (Resource, "kind", "castle"),
        (Trial, "environment", {"environment": 1}),
        (OpenFiles, "kinds", [1]),
        (TaskStack, "shares", "x"),
        (ResourceUse, "cpu_seconds", [math.nan, 1.0]),
    ],
)
def test_a_malformed_field_is_named(kind: type[Record], field: str, value: object) -> None:
    whole = next(each for each in (*VALUES.values(), *PARTS) if isinstance(each, kind))
    with pytest.raises(MalformedRecordError, match=f"`{field}`"):
        kind.from_json({**whole.to_json(), field: value})


def test_a_field_that_is_needed_is_missed() -> None:
    with pytest.raises(MalformedRecordError, match="`command` is not a list"):
        Trial.from_json({"command": 3, "cwd": "/"})
    with pytest.raises(MalformedRecordError, match="`cwd` is not a string"):
        Trial.from_json({"command": []})


def test_a_record_of_an_older_whet_has_later_fields_as_by_default() -> None:
    assert Site.from_json({"at": "x"}) == Site(at="x")
    assert PayloadBinding.from_json({"text": "", "name": "n", "digest": "d"}).argument is None


def test_a_stream_is_not_read_without_what_finds_it() -> None:
    with pytest.raises(TypeError, match="of_record"):
        Outcome.from_json(OUTCOME.to_json())
