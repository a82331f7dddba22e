"""Annotations and captures reach whoever listens: whet, NVTX, the CUDA profiler; and nobody else."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whet
from whet.core.observations.timeline import Mark, Span, Timeline
from whet.core.outcome import Outcome
from whet.desk.vendored import vendored_text
from whet.host.trial.sections import with_sections

SPECIMENS = Path(__file__).parents[2] / "specimens" / "annotations"


def run(folder: Path, program: str, *python: str, code: int = 0, **environment: str) -> Timeline:
    """Run a program as a trial does; return what it reports."""
    reports = folder / "agent"
    reports.mkdir()
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, *python, str(folder / "program.py")],
        env={**os.environ, "WHET_AGENT": str(reports), **environment},
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    evidence = with_sections(Outcome(), reports, 0).evidence
    return Timeline.from_bytes(evidence[0].data) if evidence else Timeline()


def library(folder: Path, source: str, name: str) -> str:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    path = folder / name
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(path), str(SPECIMENS / source)], check=True
    )
    return str(path)


def told(span: Span | Mark) -> tuple[str, str, dict[str, object]]:
    return span.name, span.source, dict(span.words)


# ---- whet's timeline ---------------------------------------------------------------------------


def test_ranges_and_marks_stand_in_the_timeline(tmp_path: Path) -> None:
    timeline = run(
        tmp_path,
        """
import whet
@whet.annotate("step", color=0xff0000, domain="train", category=3, payload=-7)
def step():
    whet.annotate("now", category="a\\tb", payload=0.5).mark()
with whet.section("load"):
    with whet.annotate("read"):
        step()
        with whet.section("parse"):
            pass
""",
    )

    assert [(*told(each), each.parent) for each in timeline.spans] == [
        ("load", "section", {}, None),
        ("read", "annotate", {}, 0),
        (
            "step",
            "annotate",
            {"color": 0xFF0000, "domain": "train", "category": 3, "payload": -7},
            1,
        ),
        ("parse", "section", {}, 1),
    ]
    assert all(each.seconds is not None for each in timeline.spans)
    assert [told(each) for each in timeline.marks] == [
        ("now", "annotate", {"category": "a\tb", "payload": 0.5})
    ]
    step, now = timeline.spans[2], timeline.marks[0]
    assert step.seconds is not None
    assert step.start <= now.at <= step.start + step.seconds
    assert [each.name for each in timeline.totals] == ["load", "parse"]


def test_a_section_in_a_range_in_itself_counts_once(tmp_path: Path) -> None:
    timeline = run(
        tmp_path,
        """
import time, whet
with whet.section("deep"), whet.annotate("between"), whet.section("deep"):
    time.sleep(0.01)
""",
    )

    (deep,) = timeline.totals
    assert (deep.count, deep.seconds) == (2, timeline.spans[0].seconds)


def test_very_many_annotations_are_counted_and_left_out(tmp_path: Path) -> None:
    timeline = run(
        tmp_path,
        """
import whet
for number in range(10_500):
    with whet.annotate("many"):
        pass
with whet.section("after"):
    pass
""",
    )

    assert len(timeline.spans) == 10_000
    assert timeline.totals[0].name == "after"
    assert any("500 more are left out" in each for each in timeline.notes)


@pytest.mark.parametrize("message", [None, 3, b"load"])
def test_a_message_that_is_no_text_is_refused(message: object) -> None:
    refused: object = whet.annotate
    assert callable(refused)
    with pytest.raises(TypeError, match=r"annotate\(.*\): the name is of type"):
        refused(message)


# ---- NVTX --------------------------------------------------------------------------------------


def test_a_tool_that_listens_to_nvtx_hears_everything(tmp_path: Path) -> None:
    pytest.importorskip("nvtx")
    listener = library(tmp_path, "nvtx_listener.c", "listener.so")
    run(
        tmp_path,
        """
import asyncio, nvtx, whet
with whet.annotate("range", color="green", domain="mine", payload=3):
    whet.annotate("moment", payload=1.5).mark()
async def task(name):
    with whet.annotate(name):
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(task("one"), task("two"))
asyncio.run(main())
try:
    with whet.annotate("fails", color=0x123456):
        raise ValueError
except ValueError:
    pass
""",
        NVTX_INJECTION64_PATH=listener,
        HEARD=str(tmp_path / "heard"),
    )

    lines = (tmp_path / "heard").read_text().replace("(null)", "-").splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["push", "mine", "range"],
        ["mark", "-", "moment"],
        ["pop", "mine"],
        ["start", "-", "one"],
        ["start", "-", "two"],
        ["end", "7"],
        ["end", "7"],
        ["push", "-", "fails"],
        ["pop", "-"],
    ]
    assert lines[0].endswith(" 3")
    assert lines[1].endswith(" 1.5")


def test_nvtx_without_a_tool_hears_nothing(tmp_path: Path) -> None:
    pytest.importorskip("nvtx")
    run(
        tmp_path,
        """
import nvtx, whet
def heard(*values, **named):
    raise SystemExit("somebody was told")
nvtx.push_range = nvtx.mark = heard
with whet.annotate("range"):
    whet.annotate("moment").mark()
""",
    )


# ---- captures ----------------------------------------------------------------------------------


def test_a_capture_is_heard_and_nested_ones_are_one(tmp_path: Path) -> None:
    timeline = run(
        tmp_path,
        """
import sys, whet
heard = []
sys.addaudithook(lambda name, values: heard.append(values[0]) if name == "whet.capture" else None)
@whet.capture()
def inner():
    raise ValueError
for _ in range(2):
    try:
        with whet.capture():
            inner()
    except ValueError:
        pass
assert heard == ["begin", "end"] * 2, heard
""",
    )

    assert [told(each) for each in timeline.spans] == [("capture", "capture", {})] * 2
    assert all(each.seconds is not None for each in timeline.spans)


CAPTURING = """
import ctypes, os, sys, whet
ctypes.CDLL(sys.argv[1]) if len(sys.argv) > 1 else ctypes.CDLL(os.environ["RUNTIME"])
try:
    with whet.capture():
        with whet.capture():
            raise ValueError
except ValueError:
    pass
pid = None
with whet.capture():
    pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_the_loaded_cuda_runtime_is_started_and_stopped(tmp_path: Path) -> None:
    runtime = library(tmp_path, "cudart.c", "libcudart.so.99")
    calls = tmp_path / "calls"
    run(tmp_path, CAPTURING, RUNTIME=runtime, CALLS=str(calls), CUDA_INJECTION64_PATH="/nowhere")

    assert calls.read_text().split() == ["start", "wait", "stop"] * 2


def test_without_whet_a_capture_made_before_cuda_is_loaded_starts_it_when_it_is_called(
    tmp_path: Path,
) -> None:
    runtime, calls = library(tmp_path, "cudart.c", "libcudart.so.99"), tmp_path / "calls"
    program = """
import os, whet
with whet.capture():
    pass  # finds no library, and remembers that there was none

@whet.capture()
def train():
    with whet.capture():
        return 7
assert train() == 7
import ctypes
ctypes.CDLL(os.environ["RUNTIME"])
assert train() == 7
"""
    variables = {"RUNTIME": runtime, "CALLS": str(calls), "CUDA_INJECTION64_PATH": "/nowhere"}
    environment = {**os.environ, **variables}
    environment.pop("WHET_AGENT", None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)

    assert calls.read_text().split() == ["start", "wait", "stop"]


def test_a_gpu_that_the_program_does_not_use_is_not_woken_up(tmp_path: Path) -> None:
    runtime = library(tmp_path, "cudart.c", "libcudart.so.99")
    calls = tmp_path / "calls"
    run(tmp_path, CAPTURING, RUNTIME=runtime, CALLS=str(calls))

    assert not calls.exists()


# ---- the file that stands alone ----------------------------------------------------------------


def test_the_vendored_file_does_the_same_without_whet(tmp_path: Path) -> None:
    (tmp_path / "whet_sections.py").write_text(vendored_text())
    timeline = run(
        tmp_path,
        """
import sys
sys.path.insert(0, ".")
from whet_sections import annotate, capture, section
with capture(), section("load"):
    with annotate("read", payload=1):
        data = bytearray(5 << 20)
assert "whet" not in sys.modules
""",
        "-I",
        "-S",
    )

    assert [told(each) for each in timeline.spans] == [
        ("capture", "capture", {}),
        ("load", "section", {}),
        ("read", "annotate", {"payload": 1}),
    ]
    assert timeline.totals[0].kept_memory_bytes == pytest.approx(5 << 20, abs=1 << 20)


def test_the_vendored_file_and_whet_keep_one_record(tmp_path: Path) -> None:
    (tmp_path / "whet_sections.py").write_text(vendored_text())
    timeline = run(
        tmp_path,
        """
import sys
sys.path.insert(0, ".")
import whet, whet_sections
with whet.section("outer"):
    big = bytearray(60 << 20)
    del big
    with whet_sections.section("inner"):
        with whet.annotate("innermost"):
            pass
""",
    )
    outer, inner = timeline.totals

    assert [each.parent for each in timeline.spans] == [None, 0, 1]
    assert outer.peak_memory_bytes is not None
    assert inner.peak_memory_bytes is not None
    assert outer.peak_memory_bytes - inner.peak_memory_bytes > 50 << 20


def test_the_vendored_file_is_for_python_3_8_and_names_nothing_twice() -> None:
    tree = ast.parse(vendored_text(), feature_version=(3, 8))
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names += [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
    names = [each for each in names if each != "TYPE_CHECKING"]

    assert len(names) > 50
    assert sorted({each for each in names if names.count(each) > 1}) == []
