"""`whet shrink` against shrinkray and picire: final bytes, oracle calls, seconds.

All tools get the same input, the same oracle and as many jobs as there are cores, one after
the other on one machine. An oracle call is counted by the oracle: it appends a byte to a file.
The peers are installed into an environment of their own, `benchmarks/.venv-peers`.

    python benchmarks/shrink.py [--case NAME] [--tool NAME] [--limit SECONDS]
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from shrink_cases import Case, cases

from whet.core.verdict import Verdict
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reduce_payload

PEERS = Path(__file__).parent / ".venv-peers"
PEER_PACKAGES = ("shrinkray==26.9.13.0", "picire==21.8", "setuptools<81")  # pkg_resources
JOBS = os.cpu_count() or 1
SHOWN_BYTES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run of one tool.

    Attributes:
        payload: the input file.
        oracle: the command that judges a file.
        calls: one byte for each call of the oracle.
        limit_seconds: when the tool is ended.
    """

    payload: Path
    oracle: Path
    calls: Path
    limit_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a tool made of a task; ``remark`` says why it is no full result."""

    payload: bytes
    calls: int
    wall_seconds: float
    remark: str = ""


def shrink_with_whet(task: Task) -> tuple[Path, str]:
    """Run the command line as a user does."""
    result = task.payload.with_name("result")
    oracle, payload = str(task.oracle), str(task.payload)
    words = [sys.executable, "-m", "whet", "shrink", payload, "-o", str(result)]
    words += ["--jobs", str(JOBS), "--interesting", oracle]
    return result, _limited(words, task)


def shrink_with_whet_library(task: Task) -> tuple[Path, str]:
    """Drive the reducer alone: what the notebook and the command line cost is left out."""
    result = task.payload.with_name("result")
    ends = time.monotonic() + task.limit_seconds
    search = reduce_payload(task.payload.read_bytes(), name=task.payload.name)
    with ThreadPoolExecutor(JOBS) as pool:
        try:
            batch = next(search)
            while time.monotonic() < ends:
                verdicts: list[Verdict] = []
                for candidate, verdict in _answers(pool, batch, task):
                    verdicts.append(verdict)
                    if verdict is Verdict.BAD:
                        result.write_bytes(candidate.data)
                        break
                batch = search.send(verdicts)
        except StopIteration:
            return result, ""
    return result, "ended by the limit"


def _answers(
    pool: ThreadPoolExecutor, batch: Iterable[Reduced], task: Task
) -> Iterator[tuple[Reduced, Verdict]]:
    """Yield the verdicts in order, with as many asked ahead as there are cores."""
    waiting: list[tuple[Reduced, Future[Verdict]]] = []
    for candidate in batch:
        waiting.append((candidate, pool.submit(_judge, candidate.data, task)))
        if len(waiting) == JOBS:
            first, future = waiting.pop(0)
            yield first, future.result()
    for first, future in waiting:
        yield first, future.result()


def _judge(data: bytes, task: Task) -> Verdict:
    with tempfile.NamedTemporaryFile(suffix=task.payload.suffix) as file:
        file.write(data)
        file.flush()
        answer = subprocess.run([task.oracle, file.name], check=False, capture_output=True)
    return Verdict.BAD if answer.returncode == 0 else Verdict.GOOD


def shrink_with_shrinkray(task: Task) -> tuple[Path, str]:
    """Run Shrink Ray; it changes the file in place."""
    words = [str(PEERS / "bin" / "shrinkray"), "--ui", "basic", "--volume", "quiet"]
    words += ["--parallelism", str(JOBS), "--input-type", "arg"]
    return task.payload, _limited([*words, str(task.oracle), str(task.payload)], task)


def shrink_with_picire(task: Task) -> tuple[Path, str]:
    """Run picire by lines, then by characters."""
    out = task.payload.with_name("picire")
    words = [str(PEERS / "bin" / "picire"), f"--input={task.payload}", f"--test={task.oracle}"]
    words += [f"--out={out}", "--atom=both", "--parallel", f"--jobs={JOBS}"]
    return out / task.payload.name, _limited(words, task)


TOOLS: dict[str, Callable[[Task], tuple[Path, str]]] = {
    "whet": shrink_with_whet,
    "whet (library)": shrink_with_whet_library,
    "shrinkray": shrink_with_shrinkray,
    "picire": shrink_with_picire,
}


def _limited(words: list[str], task: Task) -> str:
    """Run a tool; return what went wrong."""
    process = subprocess.Popen(
        words,
        cwd=task.payload.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=task.limit_seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 15)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
        return "ended by the limit"
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return "" if process.returncode == 0 else f"exit {process.returncode}: {(lines or [''])[-1]}"


def measure(tool: str, case: Case, limit_seconds: float) -> Score:
    """Run one tool on one case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as name:
        folder = Path(name)
        payload, calls, oracle = folder / case.name, folder / "calls", folder / "oracle.sh"
        payload.write_bytes(case.payload)
        calls.touch()
        oracle.write_text(
            f"#!/bin/sh\nprintf . >> {shlex.quote(str(calls))}\n"
            f'exec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(case.oracle))} "$1"\n'
        )
        oracle.chmod(0o755)
        task = Task(payload=payload, oracle=oracle, calls=calls, limit_seconds=limit_seconds)
        started = time.monotonic()
        result, remark = TOOLS[tool](task)
        wall_seconds = time.monotonic() - started
        tested = calls.stat().st_size
        if not result.exists():
            return Score(payload=b"", calls=tested, wall_seconds=wall_seconds, remark=remark)
        if subprocess.run([oracle, result], check=False, capture_output=True).returncode != 0:
            remark = remark or "the result is not interesting"
        return Score(
            payload=result.read_bytes(), calls=tested, wall_seconds=wall_seconds, remark=remark
        )


def peer_python() -> str:
    """Return a Python 3.12 or newer, as shrinkray needs one: a path, or a version for uv to fetch."""
    versions = Path.home() / ".pyenv" / "versions"  # uv sees pyenv's shims only, which may be off
    if sys.version_info >= (3, 12):
        return sys.executable
    found = sorted(versions.glob("3.1[2-9]*/bin/python3"))
    return str(found[0]) if found else "3.12"


def install_peers() -> str:
    """Install the peers if they are not there; return why that is not possible."""
    if all((PEERS / "bin" / name).exists() for name in ("shrinkray", "picire")):
        return ""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        return "uv is missing: `pip install uv`"
    for words in (
        ["venv", "--python", peer_python(), "--clear", str(PEERS)],
        ["pip", "install", "--python", str(PEERS / "bin" / "python"), *PEER_PACKAGES],
    ):
        done = subprocess.run([uv, *words], check=False, capture_output=True, text=True)
        if done.returncode:
            return f"`uv {' '.join(words)}`: {done.stderr.strip()}"
    return ""


def show(case: Case, scores: dict[str, Score]) -> None:
    """Print one case as a table; a ratio above 1 means that whet needs less."""
    print(f"\n{case.name}: {len(case.payload):,} bytes, {JOBS} jobs")
    print(
        f"  {'tool':<16}{'bytes':>7}{'ratio':>7}{'calls':>8}{'ratio':>7}{'seconds':>9}{'ratio':>7}"
    )
    ours = scores.get("whet") or scores.get("whet (library)")
    for tool, score in scores.items():
        row = f"  {tool:<16}"
        for value, base, form in (
            (len(score.payload), len(ours.payload) if ours else 0, ">7"),
            (score.calls, ours.calls if ours else 0, ">8"),
            (score.wall_seconds, ours.wall_seconds if ours else 0, ">9.1f"),
        ):
            row += f"{value:{form}}" + (f"{value / base:>7.2f}" if base else f"{'':>7}")
        print(f"{row}  {score.remark}".rstrip())
    for tool, score in scores.items():
        if score.payload and len(score.payload) <= SHOWN_BYTES:
            print(f"  {tool}: {score.payload.decode('utf-8', 'backslashreplace')!r}")
    sys.stdout.flush()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", help="name of an input file")
    parser.add_argument("--tool", action="append", choices=list(TOOLS))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one tool")
    arguments = parser.parse_args()
    tools = arguments.tool or list(TOOLS)
    if missing := {"shrinkray", "picire"} & set(tools) and install_peers():
        print(f"without the peers: {missing}")
        tools = [tool for tool in tools if tool.startswith("whet")]
    for case in cases():
        if arguments.case and case.name not in arguments.case:
            continue
        show(case, {tool: measure(tool, case, arguments.limit) for tool in tools})


if __name__ == "__main__":
    main()
