"""What whet costs: `whet run -- true` over `true`, the recording in it, and `import whet`.

    python -m benchmarks.cycles.overhead [--pairs N]

The runs happen in a small git repository with one changed and one untracked file, because
that is where a debug cycle happens. Each whet is a process of its own, as a user starts it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.table import in_turns, print_table

WHET = Path(sys.executable).with_name("whet")
LIMITS_MS = {"run": 150.0, "recording": 20.0, "import": 5.0}
PARTS = {
    "the working tree's state": ("whet.workbench.trials.bench", ("take_snapshot",)),
    "interpreter, packages, environment": ("whet.workbench.trials.bench", ("look_around",)),
    "notebook": (
        "whet.notebook.notebook.Notebook",
        ("open", "previous_of", "save_environment", "begin", "finish", "judge", "trial"),
    ),
}
UNRECORDED_MODULES = ("whet.cli.options.trial", "whet.cli.console", "whet.execution.cold")
RECORDING_MODULES = (
    "whet.notebook.notebook",
    "whet.host.code.code_snapshots",
    "whet.host.trial.environment_facts",
)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30, help="how many pairs of runs")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(_recording_inside()), file=sys.stderr)
        return
    # An installed whet has its byte code on disk, so a checkout must be let to keep its own.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _make_repository(place)
        _print_run(place, options.pairs)
        _print_recording(place, options.pairs)
    _print_import(options.pairs)


def _print_run(place: Path, pairs: int) -> None:
    sides = in_turns(
        _calls(["true"], place), _calls([WHET, "run", "--", "true"], place), times=pairs
    )
    bare = in_turns(
        _calls(["true"], place), _calls([sys.executable, "-c", "pass"], place), times=pairs
    )
    rows = [
        ["`true`", f"{sides.left_median * 1e3:.1f}", "", ""],
        ["`python -c pass`", f"{bare.right_median * 1e3:.1f}", "", ""],
        ["`whet run -- true`", f"{sides.right_median * 1e3:.1f}", "", ""],
        ["whet's overhead", *_against(sides.median_difference * 1e3, LIMITS_MS["run"])],
    ]
    print_table(f"One recorded trial, median of {pairs} pairs", _HEADER, rows)


def _print_recording(place: Path, pairs: int) -> None:
    samples = [_recording_in_a_process(place) for _ in range(pairs)]
    medians = {part: statistics.median(each[part] for each in samples) for part in samples[0]}
    total = statistics.median(sum(each.values()) for each in samples)
    rows = [[part, f"{milliseconds:.1f}", "", ""] for part, milliseconds in medians.items()]
    rows.append(["recording in all", *_against(total, LIMITS_MS["recording"])])
    print_table(f"Recording within it, median of {pairs} runs", _HEADER, rows)


def _print_import(pairs: int) -> None:
    code = "import time; t = time.perf_counter(); import whet; print(time.perf_counter() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
        for _ in range(pairs)
    ]
    row = ["`import whet`", *_against(statistics.median(seconds) * 1e3, LIMITS_MS["import"])]
    print_table(f"In a user's program, median of {pairs} processes", _HEADER, [row])


_HEADER = ("what", "ms", "limit ms", "ratio to the limit")


def _against(milliseconds: float, limit: float) -> list[str]:
    return [f"{milliseconds:.1f}", f"{limit:.0f}", f"{milliseconds / limit:.2f}"]


def _calls(command: list[str | Path], place: Path) -> Callable[[], object]:
    return lambda: subprocess.run(command, cwd=place, check=True, capture_output=True)


def _make_repository(place: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=whet", "-c", "user.email=whet@example.com")
        subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True)

    git("init")
    for number in range(20):
        (place / f"module_{number}.py").write_text(f"value = {number}\n")
    git("add", ".")
    git("commit", "-m", "start")
    (place / "module_1.py").write_text("value = 'changed'\n")
    (place / "notes.txt").write_text("not tracked\n")


def _recording_in_a_process(place: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cycles.overhead", "--inside"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
        capture_output=True,
        text=True,
    )
    parts: dict[str, float] = json.loads(done.stderr.splitlines()[-1])
    return parts


def _recording_inside() -> dict[str, float]:
    """Run `whet run -- true` in this process with a clock around what records."""
    import gc
    import importlib

    gc.set_threshold(50_000)  # as `whet.__main__` does

    # What the recording alone needs is charged to it, less what the rest has loaded anyway.
    for name in UNRECORDED_MODULES:
        importlib.import_module(name)
    start = time.perf_counter()
    for name in RECORDING_MODULES:
        importlib.import_module(name)
    spent = {"loading its modules": time.perf_counter() - start, **dict.fromkeys(PARTS, 0.0)}
    importlib.import_module("whet.workbench.trials.bench")
    for part, (home, names) in PARTS.items():
        module, _, class_name = (
            home.rpartition(".") if home.endswith("Notebook") else (home, "", "")
        )
        owner: object = importlib.import_module(module)
        if class_name:
            owner = getattr(owner, class_name)
        for name in names:
            _put_a_clock_around(owner, name, part, spent)

    from whet.cli.main import run_cli

    code = run_cli(["run", "--", "true"])
    assert code == os.EX_OK, code
    return {part: seconds * 1e3 for part, seconds in spent.items()}


def _put_a_clock_around(owner: object, name: str, part: str, spent: dict[str, float]) -> None:
    original: Callable[..., object] = getattr(owner, name)
    running = [False]

    def clocked(*arguments: object, **keywords: object) -> object:
        if running[0]:
            return original(*arguments, **keywords)
        running[0] = True
        start = time.perf_counter()
        try:
            return original(*arguments, **keywords)
        finally:
            running[0] = False
            spent[part] += time.perf_counter() - start

    # `open` is a class method: found through the class it is bound already.
    setattr(owner, name, staticmethod(clocked) if hasattr(original, "__self__") else clocked)


if __name__ == "__main__":
    main()
