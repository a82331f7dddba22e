"""What sections and annotations cost, idle and recorded, beside other tools that mark a part of a program.

    python -m benchmarks.measure.sections [--python PYTHON]

Each tool is tried in a process of its own: it marks an empty part of a program, 20 times without a
pause, as often as there is time for. The fastest of these says what the tool itself costs; on a busy
machine the others say what the neighbours do. PYTHON has torch and line_profiler; whet and nvtx are
measured with the Python that runs this. NVTX is recorded by a listener in C that writes a line for each call
(`specimens/annotations/nvtx_listener.c`).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.table import print_table

ROOT = Path(__file__).parents[2]
LISTENER = ROOT / "specimens" / "annotations" / "nvtx_listener.c"
IDLE_MICROSECONDS, RECORDED_MICROSECONDS, IMPORT_MILLISECONDS = 1.0, 25.0, 5.0
_TIMED = """
import json, time
def timed(mark, most_seconds=1.5, most=120):
    best, end, rounds = 1e9, time.monotonic() + most_seconds, 0
    while time.monotonic() < end and rounds < most:
        began = time.perf_counter()
        for _ in range(20):
            mark()
        best, rounds = min(best, (time.perf_counter() - began) / 20), rounds + 1
    return best
def statement(make):
    def mark():
        with make():
            pass
    return mark
"""
WHET = """
import whet
section, annotate, capture = whet.section, whet.annotate, whet.capture
print(json.dumps({
    "whet.section": timed(statement(lambda: section("x"))),
    "whet.annotate": timed(statement(lambda: annotate("x"))),
    "whet.annotate with color and payload":
        timed(statement(lambda: annotate("x", color="red", payload=1))),
    "whet.capture": timed(statement(capture)),
}))
"""
NVTX = """
import nvtx
print(json.dumps({"nvtx.annotate": timed(statement(lambda: nvtx.annotate("x")))}))
"""
TORCH = """
import torch
from torch.profiler import ProfilerActivity, profile, record_function
idle = timed(statement(lambda: record_function("x")))
with profile(activities=[ProfilerActivity.CPU]):
    recorded = timed(statement(lambda: record_function("x")))
print(json.dumps({"idle": idle, "recorded": recorded}))
"""
LINES = """
import line_profiler
def plain(): pass
idle = timed(plain)
profiler = line_profiler.LineProfiler()
def traced():
    a = 1
    b = 2
    return a
with_lines = profiler(traced)
print(json.dumps({"recorded": (timed(with_lines) - timed(plain)) / 3}))
"""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="a Python with the other tools")
    python = parser.parse_args().python
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        idle, recorded = _of_whet(folder)
        _add_others(python, idle, recorded)
    _print("Nobody listens", idle, "whet.section", IDLE_MICROSECONDS)
    _print("Recorded", recorded, "whet.section", RECORDED_MICROSECONDS)
    milliseconds = _import_milliseconds()
    rows = [["import whet", f"{milliseconds:.1f}", f"{IMPORT_MILLISECONDS:.0f}"]]
    print_table("Milliseconds", ["", "measured", "at most"], rows)


def _of_whet(folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    idle = _run(sys.executable, WHET)
    idle |= _run(sys.executable, NVTX)
    recorded = _run(sys.executable, WHET, WHET_AGENT=str(folder))
    if (compiler := shutil.which("cc")) is not None:
        listener = folder / "listener.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", listener, LISTENER], check=True)
        heard = {"NVTX_INJECTION64_PATH": str(listener), "HEARD": str(folder / "heard")}
        recorded |= _run(sys.executable, NVTX, **heard)
    return idle, recorded


def _add_others(python: str, idle: dict[str, float], recorded: dict[str, float]) -> None:
    torch = _run(python, TORCH)
    if torch:
        idle["torch.profiler.record_function"] = torch["idle"]
        recorded["torch.profiler.record_function"] = torch["recorded"]
    lines = _run(python, LINES)
    if lines:
        recorded["line_profiler, a line"] = lines["recorded"]


def _run(python: str, program: str, **environment: str) -> dict[str, float]:
    """Return what a program measures, in seconds; nothing if it lacks a library."""
    done = subprocess.run(
        [python, "-c", _TIMED + program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if "ModuleNotFoundError" in done.stderr:
        print(f"left out: {done.stderr.splitlines()[-1]}")
        return {}
    done.check_returncode()
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def _import_milliseconds() -> float:
    program = (
        "import time; began = time.perf_counter(); import whet; print(time.perf_counter() - began)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        for _ in range(10)
    ]
    return min(float(each.stdout) for each in runs) * 1e3


def _print(title: str, seconds: Mapping[str, float], base: str, most: float) -> None:
    rows = [
        [
            name,
            f"{each * 1e6:.2f}",
            f"{each / seconds[base]:.2f} ×",
            f"{most:.0f}" if name.startswith("whet.") else "",
        ]
        for name, each in seconds.items()
    ]
    print_table(
        title, ["microseconds for each part", "measured", f"beside {base}", "at most"], rows
    )


if __name__ == "__main__":
    main()
