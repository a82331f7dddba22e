"""What frozen copies cost: time in the first run, memory while they wait; and what a search gains."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.cycles.programs import BYTES, CALLS, HOLDER, IMPORTS, MODELS, OBJECTS
from benchmarks.table import in_turns, print_table
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify
from whet.execution.cold import ColdExecutor
from whet.execution.warm import WarmRuns
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.capture import keep_in_place

CALLS_COUNT = 20_000_000
SNAPSHOTS = 10
CALL_HEAVY = "call-heavy"
OVERHEAD_LIMIT = 1.25
MONITORING_LIMIT = 1.10  # of calls, where the interpreter has `sys.monitoring`
MEMORY_LIMIT = 1.10
_PATIENCE_SECONDS = 300.0


@contextmanager
def _executor(
    folder: Path, runs: WarmRuns | None, cleanup_journal: CleanupJournal
) -> Generator[ColdExecutor]:
    with ColdExecutor(
        classify=classify,
        payload_of=lambda _digest: b"",
        keep=keep_in_place,
        cleanup_journal=cleanup_journal,
        scratch=folder / "scratch",
        environment={**os.environ, "PYTHONHASHSEED": "0"},
        pycache=folder / "pycache",
        perform=runs,
    ) as executor:
        yield executor


def has(python: Path, module: str) -> bool:
    """Whether an interpreter has a module."""
    return says(python, f"importlib.util.find_spec({module!r})")


def says(python: Path, condition: str) -> bool:
    """Whether a condition holds in an interpreter."""
    asked = f"import importlib.util, sys; sys.exit(not {condition})"
    return subprocess.run([python, "-c", asked], check=False).returncode == 0


def print_overhead(python: Path, times: int) -> None:
    """Print what the first run costs more under `whet loop` than under bare Python."""
    programs = {CALL_HEAVY: CALLS.format(count=CALLS_COUNT), "import-heavy": IMPORTS}
    if has(python, "transformers"):
        programs["imports of torch and transformers"] = MODELS
    limits = {CALL_HEAVY: MONITORING_LIMIT} if says(python, "hasattr(sys, 'monitoring')") else {}
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, text in programs.items():
            (folder / "program.py").write_text(text)
            inside: list[float] = []
            bare, under = _sides(python, folder, inside)
            pair = in_turns(bare, under, times=times, warm_up=1)
            program = sorted(inside[1:])[len(inside[1:]) // 2]
            limit = limits.get(kind, OVERHEAD_LIMIT)
            rows.append([
                kind, f"{pair.left_median * 1e3:.0f}", f"{program * 1e3:.0f}",
                f"{program / pair.left_median:.2f}", f"{limit:.2f}",
                f"{pair.right_median * 1e3:.0f}",
            ])  # fmt: skip
    header = [
        "program",
        "python ms",
        "under whet ms",
        "ratio",
        "at most",
        "whet's start and end too",
    ]
    print_table(f"The first run, medians of {times} pairs", header, rows)


def _sides(
    python: Path, folder: Path, inside: list[float]
) -> tuple[Callable[[], object], Callable[[], object]]:
    command = [str(python), "program.py"]
    environment = {
        name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONHASHSEED"] = "0"  # as whet has it: where a name is found depends on it

    def bare() -> None:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)

    def under() -> None:
        words = [sys.executable, "-m", "whet", "loop", "--json", "--runs", "1", "--", *command]
        done = subprocess.run(words, cwd=folder, check=True, capture_output=True, env=environment)
        facts: Mapping[str, float] = json.loads(done.stdout)["outcome"]
        inside.append(facts["wall_seconds"])

    return bare, under


def print_memory(python: Path, size: int) -> None:
    """Print what ten frozen copies of a big process cost."""
    rows: list[list[str]] = []
    # To read a Python object is to write its count of references: each copy soon has its own.
    for kind, part, parts in (("bytes", 1, BYTES), ("Python floats", 8, OBJECTS)):
        text = HOLDER.format(size=size // part, reads="read()\n" * SNAPSHOTS, **parts)
        alone = _held(python, text, is_frozen=False)
        frozen = _held(python, text, is_frozen=True)
        for moment in ("read", "written"):
            own, total = alone[moment][1], frozen[moment][1]
            limit = f"{MEMORY_LIMIT:.2f}" if (kind, moment) == ("bytes", "read") else ""
            copies = str(frozen[moment][0] - alone[moment][0])
            doing = "after reading all of it" if moment == "read" else "after rewriting all of it"
            mebibytes = [f"{each / (1 << 20):.0f}" for each in (own, total)]
            rows.append([f"{kind}, {doing}", copies, *mebibytes, f"{total / own:.2f}", limit])
    header = ["a big process", "copies", "alone MiB", "with copies MiB", "ratio", "at most"]
    print_table("Memory, as proportional set sizes", header, rows)


def _held(python: Path, text: str, *, is_frozen: bool) -> dict[str, tuple[int, int]]:
    """Return processes and memory of a program at each moment at which it waits."""
    found: dict[str, tuple[int, int]] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        cleanup_journal = CleanupJournal(folder / "made")
        stack.callback(cleanup_journal.discard_all)
        runs = WarmRuns(cleanup_journal) if is_frozen else None
        (folder / "hold.py").write_text(text)
        with _executor(folder, runs, cleanup_journal) as executor:
            future = executor.submit(Trial(command=(str(python), "hold.py"), cwd=name))
            for moment in ("read", "written"):
                found[moment] = _measured(name, lambda: not future.done(), moment)
                (folder / f"{moment}.go").touch()
            outcome = future.result(_PATIENCE_SECONDS)
            assert outcome.exit_code == 0, outcome.stderr.head(1 << 16)
    return found


def _measured(folder: str, runs: Callable[[], bool], moment: str) -> tuple[int, int]:
    """Wait until the program has done what comes before a moment; return what it then holds."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    mark = Path(folder) / f"{moment}.reached"
    while not mark.exists() and time.monotonic() < deadline and runs():
        time.sleep(0.02)
    sizes = [_proportional_bytes(pid) for pid in _processes_in(folder)]
    return len(sizes), sum(sizes)


def _processes_in(folder: str) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == Path(folder) and b"hold.py" in (
                    entry / "cmdline"
                ).read_bytes():
                    yield int(entry.name)
            except OSError:
                continue  # it has ended, or is another user's


def _proportional_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) << 10
    return 0
