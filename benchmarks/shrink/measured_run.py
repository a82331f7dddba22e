"""One run of one tool on one case: what it made, what it asked, what it cost, and when.

The oracle is a shell script, the same for all tools. It counts its calls, and writes down the
size of each interesting file and the moment; of each size it keeps one, so that a tool that is
ended by the limit is given the best that it had found, whatever it leaves behind.
"""

import ast
import ctypes
import json
import os
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from benchmarks.shrink.cases import Case

JOBS = int(os.environ.get("BENCH_JOBS", len(os.sched_getaffinity(0))))
"""Trials at once, of every tool; fewer where others need the cores too."""
_LOOK_SECONDS = 0.02
_GRACE_SECONDS = 5.0
_PR_SET_CHILD_SUBREAPER = 36

_ORACLE = """\
#!/bin/sh
file=${{1:-{name}}}
printf . >> {calls}
judge() {{
{judge}
}}
judge || exit 1
size=$({size})
echo "$(date +%s.%N) $size $(stat -c %s {calls})" >> {log}
if [ ! -e {kept}/$size ]; then cp -r "$file" {kept}/new.$$ && mv -T {kept}/new.$$ {kept}/$size; fi
exit 0
"""
_LOG_LINE = ("moment", "size", "calls")
_SIZE_OF_FILE = 'stat -c %s "$file"'
_SIZE_OF_FOLDER = (
    "find \"$file\" -type f -printf '%s\\n' | awk '{ all += $1 } END { print all + 0 }'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One interesting file: when, how large, and after how many calls of the oracle."""

    seconds: float
    size: int
    calls: int


@dataclass(slots=True, kw_only=True)
class Run:
    """What came of a tool; ``remark`` says why it is no full result.

    Attributes:
        size: bytes of the result; None: there is none.
        elements: of arrays: how many numbers are left.
        calls: of the oracle.
        cpu_seconds: of all its processes.
        wall_seconds: until it ended or was ended.
        has_ended: by itself.
        exit_code: that of its last command; None: the limit ended it.
        points: each time that it was better off than before.
        shown: the result, if it is short and a text.
    """

    size: int | None = None
    elements: int | None = None
    calls: int = 0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    has_ended: bool = False
    exit_code: int | None = None
    points: list[Point] = field(default_factory=list[Point])
    remark: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder in which one tool runs once."""

    folder: Path
    case: Case

    @property
    def payload(self) -> Path:
        """The file that is shrunk."""
        return self.folder / "work" / self.case.name

    @property
    def oracle(self) -> Path:
        """The script that judges."""
        return self.folder / "oracle.sh"

    @property
    def calls(self) -> Path:
        """One byte for each call of the oracle."""
        return self.folder / "calls"

    @property
    def log(self) -> Path:
        """One line for each interesting file."""
        return self.folder / "log"

    @property
    def kept(self) -> Path:
        """An interesting file of each size."""
        return self.folder / "kept"

    @property
    def output(self) -> Path:
        """What the tool says."""
        return self.folder / "output"

    def prepare(self, payload: Path) -> None:
        """Make it ready for a tool."""
        for name in ("work", "kept", "tmp"):
            (self.folder / name).mkdir()
        if self.case.is_folder:
            shutil.copytree(payload, self.payload)
        else:
            shutil.copy(payload, self.payload)
        self.calls.touch()
        self.log.touch()
        is_folder = self.case.is_folder
        script = _ORACLE.format(
            name=shlex.quote(self.case.name),
            judge=self.case.judge,
            size=_SIZE_OF_FOLDER if is_folder else _SIZE_OF_FILE,
            **{name: shlex.quote(str(getattr(self, name))) for name in ("calls", "log", "kept")},
        )
        self.oracle.write_text(script)
        self.oracle.chmod(0o755)

    def judge(self, path: Path) -> bool:
        """Say whether a file is interesting, without counting it."""
        code = f"file={shlex.quote(str(path))}\n{self.case.judge}"
        return subprocess.run(["sh", "-c", code], check=False, cwd=self.folder).returncode == 0


def perform(
    place: Workplace, steps: Sequence[Sequence[str]], limit_seconds: float, watched: Path | None
) -> Run:
    """Run the commands of a tool one after the other.

    Args:
        place: where.
        steps: the commands.
        limit_seconds: when they are ended, all together.
        watched: a file that the tool writes each better result to, if its oracle logs none.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what is left behind becomes ours
    run = Run(has_ended=True)
    before = _cpu_of_children()
    started, since = time.monotonic(), time.time()
    seen: list[Point] = []
    try:
        for step in steps:
            left = limit_seconds - (time.monotonic() - started)
            run.exit_code = _exit_code(place, step, left, watched, seen)
            if run.exit_code is None:
                run.has_ended = False
                run.remark = "ended by the limit"
                break
        run.wall_seconds = time.monotonic() - started
    finally:
        _end_descendants()
    run.cpu_seconds = _cpu_of_children() - before
    run.calls = place.calls.stat().st_size
    points = [Point(seconds=each.seconds - since, size=each.size, calls=0) for each in seen]
    run.points = [*points, *_logged(place, since)]
    return run


def _exit_code(
    place: Workplace, step: Sequence[str], left: float, watched: Path | None, seen: list[Point]
) -> int | None:
    """Run one command; return None if the limit ended it."""
    environment = {**os.environ, "TMPDIR": str(place.folder / "tmp"), "SHRINKRAY_LLM": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["WHET_DIR"] = str(place.folder / "state")  # nothing is known from earlier runs
    ends = time.monotonic() + left
    with place.output.open("ab") as output:
        process = subprocess.Popen(
            step,
            cwd=place.payload.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            while process.poll() is None and time.monotonic() < ends:
                time.sleep(_LOOK_SECONDS)
                size = None if watched is None else size_of(watched)
                if size is not None and (not seen or seen[-1].size != size):
                    seen.append(Point(seconds=time.time(), size=size, calls=0))
            return process.poll()
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def _end_descendants() -> None:
    """Kill whatever a tool has left behind, in whatever group, and wait for it."""
    while running := list(_descendants(os.getpid())):
        for process in running:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        while _reap():
            pass
        time.sleep(_LOOK_SECONDS)


def _reap() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def _descendants(parent: int) -> Iterator[int]:
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from _descendants(child)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _logged(place: Workplace, since: float) -> Iterator[Point]:
    for line in place.log.read_text().splitlines():
        words = line.split()
        if len(words) == len(_LOG_LINE):  # one may be cut short as its script is ended
            moment, size, calls = words
            yield Point(seconds=float(moment) - since, size=int(size), calls=int(calls))


def improvements(points: Iterable[Point]) -> list[Point]:
    """Return those that are smaller than all before them."""
    better: list[Point] = []
    for point in sorted(points, key=lambda each: each.seconds):
        if not better or point.size < better[-1].size:
            better.append(point)
    return better


def size_of(path: Path) -> int | None:
    """Return the bytes of a file, or of all files of a folder; None if there is none."""
    try:
        if path.is_dir():
            return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
        return path.stat().st_size
    except OSError:
        return None


def best_kept(place: Workplace) -> Path | None:
    """Return the smallest file that the oracle found interesting."""
    sizes = [int(each.name) for each in place.kept.iterdir() if each.name.isdigit()]
    return place.kept / str(min(sizes)) if sizes else None


def elements_of(path: Path) -> int | None:
    """Return how many numbers an array file holds; None if it is none."""
    try:
        data = path.read_bytes()
        if path.suffix == ".npy" or data.startswith(b"\x93NUMPY"):
            (length,) = struct.unpack_from("<H", data, 8)
            header: Mapping[str, Sequence[int]] = ast.literal_eval(data[10 : 10 + length].decode())
            return prod(header["shape"])
        (length,) = struct.unpack_from("<Q", data)
        tensors: Mapping[str, Mapping[str, Sequence[int]]] = json.loads(data[8 : 8 + length])
        shapes = [each["shape"] for name, each in tensors.items() if name != "__metadata__"]
        return sum(prod(shape) for shape in shapes)
    except (OSError, ValueError, KeyError, SyntaxError, struct.error):
        return None
