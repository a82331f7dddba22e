"""Whether `whet investigate` names the cause of everyday failures: the programs of `specimens/everyday`.

    python -m benchmarks.evidence.everyday [--jobs N] [NAME...]

What whet says is the first clue of its answer or, without one, the line that it shows the failure at:

- *first*: that names a line of the cause;
- *later*: another clue does;
- *not found*: none does;
- *wrong*: the first clue names no line of the cause, and whet is sure of it (not "possible").

Beside it stands whether the last line of the program in a plain traceback is one of the cause; that of a hang
is what Ctrl-C shows.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.table import print_table

SPECIMENS = Path(__file__).parents[2] / "specimens" / "everyday"
WHET = Path(sys.executable).with_name("whet")
"""Not `python -m whet`, which would find the modules of the program's folder before its own."""

HANGS = "hangs"
HANG_SECONDS = 2
MOST_SECONDS = 280.0
GOODBYE_SECONDS = 1.0
"""What a program gets to show where it was interrupted."""

TIMES_FAILURE, MORE_SECONDS = 40, 10
"""An investigation takes at most so many times what the failure takes, and so much more."""

Clue = dict[str, str | int | list[dict[str, str]]]
Place = tuple[str, int]
"""A file, as seen from the folder of the program, and a line of it."""

_PLACES = (
    re.compile(r"(?P<file>[\w./-]+\.\w+):(?P<line>\d+)"),
    re.compile(r"lines? (?P<line>\d+) (?:of|in) `?(?P<file>[\w./-]+\.\w+)"),
    re.compile(r"(?P<file>[\w./-]+\.\w+)`?,? line (?P<line>\d+)"),
)
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
_PYTEST_FRAME = re.compile(r"^(?P<file>[\w./-]+\.py):(?P<line>\d+): ", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A program that fails, and why.

    Attributes:
        name: the name of its folder.
        kind: the kind of its cause.
        words: its command, after the name of the interpreter.
        shows: what it prints as it fails; `HANGS`.
        cause: the cause, in a sentence.
        lines: the lines of the cause; one of them named is the cause named.
        repair: a file, a text in it, and that text repaired; or a file, and the name it should have.
    """

    name: str
    kind: str
    words: tuple[str, ...]
    shows: str
    cause: str
    lines: frozenset[Place]
    repair: tuple[str, ...]

    @property
    def hangs(self) -> bool:
        """Whether it never ends."""
        return self.shows == HANGS

    @property
    def command(self) -> list[str]:
        """Its command."""
        return [sys.executable, *self.words]

    def copy(self, place: Path) -> Path:
        """Copy it to a place; return that."""
        ignored = shutil.ignore_patterns("__pycache__")
        return Path(shutil.copytree(SPECIMENS / self.name, place, ignore=ignored))

    def run(self, folder: Path, seconds: float) -> "Ended":
        """Run it in a folder for at most so many seconds."""
        return run(self.command, folder, seconds)


@dataclass(frozen=True)
class Ended:
    """A command that has ended.

    Attributes:
        status: its exit status; None: it had to be ended.
        said: what it printed.
        complained: what it printed as errors.
    """

    status: int | None
    said: str
    complained: str

    @property
    def printed(self) -> str:
        """All that it printed."""
        return self.said + self.complained


def run(
    command: Sequence[str], folder: Path, seconds: float, variables: Mapping[str, str] | None = None
) -> Ended:
    """Run a command; after so many seconds interrupt it, and soon after end all that it started."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, complained = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Ended(None, *_stopped(process))
        return Ended(process.returncode, said, complained)


def _stopped(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Stop a process that hangs, and all that it started; return what they printed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=GOODBYE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def programs() -> dict[str, Program]:
    """Return all programs, as `everyday.toml` tells of them."""
    told = tomllib.loads((SPECIMENS / "everyday.toml").read_text())
    return {
        name: Program(
            name=name,
            kind=each["kind"],
            words=tuple(each.get("words", ["main.py"])),
            shows=each["shows"],
            cause=each["cause"],
            lines=frozenset(_line(name, *line) for line in each["lines"]),
            repair=tuple(each["repair"]),
        )
        for name, each in told.items()
    }


def _line(name: str, file: str, part: str) -> Place:
    text = (SPECIMENS / name / file).read_text()
    assert text.count(part) == 1, f"{name}: {part!r} is not in {file}, or not alone"
    return file, text[: text.index(part)].count("\n") + 1


@dataclass(frozen=True)
class Answer:
    """What an investigation of a program came to.

    Attributes:
        found: how the cause was named: `first`, `later`, `not found`, `wrong`.
        by_traceback: whether a traceback alone names it.
        said: what whet says first.
        times: how often the failure, with its ten seconds more, fits into the time it took, over 40.
        seconds: what it took.
    """

    found: str
    by_traceback: bool
    said: str
    times: float
    seconds: float


def investigate(program: Program, place: Path) -> Answer:
    """Investigate a program as a user would."""
    beside = program.copy(place / "alone")
    began = time.perf_counter()
    alone = program.run(beside, HANG_SECONDS if program.hangs else MOST_SECONDS)
    failure_seconds = time.perf_counter() - began
    folder = program.copy(place / "program")
    temporary = place / "tmp"
    temporary.mkdir()
    limit = ["--timeout", f"{HANG_SECONDS}s"] if program.hangs else []
    words = [str(WHET), "investigate", "--json", *limit, "--", *program.command]
    began = time.perf_counter()
    done = run(words, folder, MOST_SECONDS, {"TMPDIR": str(temporary)})
    seconds = time.perf_counter() - began
    traced = _traced(alone.printed, beside) in program.lines
    found, said = _judged(program, folder, done)
    times = seconds / (TIMES_FAILURE * failure_seconds + MORE_SECONDS)
    return Answer(found, traced, said, times, seconds)


def _traced(printed: str, folder: Path) -> Place | None:
    """Return the innermost line of the program in the last traceback that was printed."""
    frames = [_shortened(each, folder) for each in _FRAME.finditer(printed)]
    frames = frames or [_shortened(each, folder) for each in _PYTEST_FRAME.finditer(printed)]
    own = [each for each in frames if not each[0].startswith(("/", "<", "vendor/"))]
    return own[-1] if own else None


def _judged(program: Program, folder: Path, done: Ended) -> tuple[str, str]:
    if not done.said.startswith("{"):
        why = (done.complained.strip().splitlines() or ["it does not end"])[-1]
        return "not found", f"(no answer: {why})"
    told = json.loads(done.said)
    clues = told["clues"]
    if not clues:
        return _judged_without_clues(program, told["failure"] or {}, folder)
    named = [bool(_places(each, folder) & program.lines) for each in clues]
    said = _whole(clues[0])
    if named[0]:
        return "first", said
    if clues[0]["sureness"] != "possible":
        return "wrong", said
    return "later" if any(named) else "not found", said


def _judged_without_clues(
    program: Program, failure: dict[str, list[dict[str, str | int | bool]]], folder: Path
) -> tuple[str, str]:
    own = [each for each in failure.get("frames", ()) if each["in_user_code"]]
    if not own:
        return "not found", "(no clue)"
    shown = _short(str(own[-1]["path"]), folder), int(own[-1]["line"])
    said = f"(no clue; it fails at {shown[0]}:{shown[1]})"
    return "first" if shown in program.lines else "not found", said


def _whole(clue: Clue) -> str:
    """Return what a clue says, with how it came about."""
    trail = clue["trail"]
    steps = trail if isinstance(trail, list) else []
    return "; ".join([str(clue["says"]), *(" ".join(step.values()) for step in steps)])


def _places(clue: Clue, folder: Path) -> set[Place]:
    """Return the lines that a clue points at and names."""
    said = f"{_whole(clue)} {clue['next_step']}"
    found = {_shortened(each, folder) for pattern in _PLACES for each in pattern.finditer(said)}
    return found | {(_short(str(clue["path"]), folder), int(str(clue["line"])))}


def _shortened(match: re.Match[str], folder: Path) -> Place:
    return _short(match["file"], folder), int(match["line"])


def _short(path: str, folder: Path) -> str:
    for own in (folder, folder.resolve()):
        path = path.removeprefix(f"{own}/")
    return path.removeprefix("./")


def main() -> None:
    """Investigate each, and print what was named."""
    options = argparse.ArgumentParser(description="Which everyday failures are explained")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    every = programs()
    names = chosen.names or list(every)
    answers: dict[str, Answer] = {}
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for name, answer in zip(names, pool.map(partial(_answer, every), names), strict=True):
            answers[name] = answer
            print(name, answer.found, answer.said, sep=" | ", file=sys.stderr, flush=True)
    _print_answers(every, answers)


def _answer(every: dict[str, Program], name: str) -> Answer:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        return investigate(every[name], Path(place).resolve())


def _print_answers(every: dict[str, Program], answers: dict[str, Answer]) -> None:
    rows = [
        [
            name,
            every[name].kind,
            "cause" if answer.by_traceback else "-",
            answer.found,
            f"{answer.seconds:.1f} s",
            f"{answer.times:.2f}",
        ]
        for name, answer in answers.items()
    ]
    header = ["program", "kind", "traceback", "whet", "took", "of its time"]
    print_table("Everyday failures", header, rows)
    found = [each.found for each in answers.values()]
    print()
    for way in ("first", "later", "not found", "wrong"):
        print(f"{way}: {found.count(way)} of {len(found)}")
    print(f"named by the traceback alone: {sum(each.by_traceback for each in answers.values())}")
    over = sum(each.times > 1 for each in answers.values())
    middle = statistics.median(each.times for each in answers.values())
    print(f"longer than 40 times the failure and 10 s: {over} (of that time, median: {middle:.2f})")


if __name__ == "__main__":
    main()
