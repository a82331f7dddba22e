"""The tools of the shrink benchmark, each with the settings that suit a case best."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shrink.cases import PATIENCE_SECONDS, Case
from benchmarks.shrink.measured_run import (
    JOBS,
    Point,
    Run,
    Workplace,
    best_kept,
    elements_of,
    improvements,
    perform,
    size_of,
)
from benchmarks.shrink.peers import PEERS

SHOWN_BYTES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    Attributes:
        name: in tables.
        steps: its commands, one after the other.
        result: where it leaves what it found.
        refuses: why it has nothing to do with a case; empty: it has.
    """

    name: str
    steps: Callable[[Workplace], Sequence[Sequence[str]]]
    result: Callable[[Workplace], Path]
    refuses: Callable[[Case], str]

    @property
    def is_ours(self) -> bool:
        """Whether it is whet."""
        return self.name.startswith("whet")


def _whet(place: Workplace, judged: Sequence[str]) -> list[list[str]]:
    words = [sys.executable, "-m", "whet", "shrink", place.payload.name]
    words += ["-o", str(_whet_result(place)), "--jobs", str(JOBS), "--json"]
    return [[*words, *judged]]


def _whet_result(place: Workplace) -> Path:
    return place.folder / f"result{place.payload.suffix}"


def _whet_by_script(place: Workplace) -> list[list[str]]:
    return _whet(place, ["--interesting", str(place.oracle)])


def _whet_warm(place: Workplace) -> list[list[str]]:
    return _whet(place, ["--", *place.case.program, place.payload.name])


def _shrinkray(place: Workplace) -> list[list[str]]:
    # Its models stay off, its grammars are there.
    words = [str(PEERS / "bin" / "shrinkray"), "--ui", "basic", "--volume", "quiet"]
    words += ["--parallelism", str(JOBS), "--input-type", "arg", "--no-llm", "--no-history"]
    words += ["--trivial-is-not-error", "--timeout", str(PATIENCE_SECONDS)]
    return [[*words, str(place.oracle), str(place.payload)]]


def _picire(place: Workplace) -> list[list[str]]:
    words = [str(PEERS / "bin" / "picire"), f"--input={place.payload}", f"--test={place.oracle}"]
    words += [f"--out={place.folder / 'picire'}", "--parallel", f"--jobs={JOBS}"]
    words += ["--cache=content", "--subset-iterator=skip", "--complement-iterator=backward"]
    words += ["--log-level=WARNING"]
    if place.case.is_binary:
        return [[*words, "--atom=char", "--encoding=latin-1"]]
    return [[*words, "--atom=both", "--encoding=utf-8"]]


def _lithium(place: Workplace) -> list[list[str]]:
    condition = place.folder / "interesting_file.py"
    condition.write_text(
        "import subprocess\n\n\ndef interesting(args, prefix):\n"
        f"    return subprocess.run([{str(place.oracle)!r}, args[-1]]).returncode == 0\n"
    )
    steps: list[list[str]] = []
    for number, unit in enumerate(place.case.lithium):
        folder = place.folder / f"lithium-{number}"
        folder.mkdir()
        # The unit must come first: after an option with a value it is not looked at.
        words = [str(PEERS / "bin" / "lithium"), unit, "--tempdir", str(folder)]
        steps.append([*words, str(condition), str(place.payload)])
    return steps


def _cvise(place: Workplace) -> list[list[str]]:
    words = ["cvise", "--n", str(JOBS), "--tidy", "--shaddap", "--timeout", str(PATIENCE_SECONDS)]
    if place.case.is_binary:
        words += ["--pass-group", "binary"]
    elif not place.case.is_c:
        words += ["--not-c"]
    return [[*words, str(place.oracle), place.payload.name]]


def _needs_python(case: Case) -> str:
    return "" if case.program else "the failing command is not a Python program"


def _no_folder(case: Case) -> str:
    return "takes no folder" if case.is_folder else ""


def _nothing(_case: Case) -> str:
    return ""


def _in_place(place: Workplace) -> Path:
    return place.payload


TOOLS = (
    Tool(name="whet", steps=_whet_by_script, result=_whet_result, refuses=_nothing),
    Tool(name="whet (warm)", steps=_whet_warm, result=_whet_result, refuses=_needs_python),
    Tool(name="shrinkray", steps=_shrinkray, result=_in_place, refuses=_nothing),
    Tool(
        name="picire",
        steps=_picire,
        result=lambda place: place.folder / "picire" / place.payload.name,
        refuses=_no_folder,
    ),
    Tool(name="lithium", steps=_lithium, result=_in_place, refuses=_no_folder),
    Tool(name="cvise", steps=_cvise, result=_in_place, refuses=_no_folder),
)


def measure(tool: Tool, place: Workplace, limit_seconds: float) -> Run:
    """Run a tool and look at what it made."""
    steps = tool.steps(place)
    before = size_of(place.payload) or 0
    watched = tool.result(place) if tool.is_ours else None
    run = perform(place, steps, limit_seconds, watched)
    run.points = improvements([Point(seconds=0.0, size=before, calls=0), *run.points])
    result = tool.result(place)
    left = size_of(result)
    is_whole = left is not None and place.judge(result)
    best = best_kept(place)
    if (run.exit_code and left == before) or (not is_whole and best is None):
        run.remark = "; ".join(each for each in (run.remark, _last_words(place)) if each)
    if not is_whole and best is None:
        return run
    if best is not None and (left is None or not is_whole or _is_behind(run, left)):
        run.remark += "" if is_whole else f"; left {_said(left)}, the best it had tried counts"
        result = best
    run.remark = run.remark.removeprefix("; ")
    run.size = size_of(result)
    run.elements = elements_of(result) if place.case.is_binary else None
    run.shown = "" if result.is_dir() else _shown(result.read_bytes())
    if tool.is_ours:
        _add_trials(place, run)
    return run


def _is_behind(run: Run, left: int) -> bool:
    """Whether a tool was ended before it had written down the best that it had found."""
    return not run.has_ended and run.points[-1].size < left


def _said(left: int | None) -> str:
    return "no file" if left is None else "a file that is not interesting"


def _shown(data: bytes) -> str:
    if len(data) > SHOWN_BYTES:
        return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _last_words(place: Workplace) -> str:
    lines = place.output.read_text(errors="replace").strip().splitlines()
    errors = [line for line in lines if "rror" in line]
    return [*lines, *errors][-1].strip()[:200] if lines else "no result"


def _add_trials(place: Workplace, run: Run) -> None:
    """Count the trials of whet: a warm one may start after its oracle has counted itself."""
    lines = place.output.read_text(errors="replace").splitlines()
    try:
        answer = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
        answer = answer["payloads"][0]
    except (StopIteration, ValueError, KeyError, IndexError):
        return
    run.calls = max(run.calls, answer["trials"])
    if answer["warm"]:
        run.remark = "; ".join(each for each in (run.remark, f"{answer['warm']} warm") if each)
