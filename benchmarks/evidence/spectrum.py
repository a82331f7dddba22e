"""Whether statistics over many runs find the line that one well-chosen neighbour shows.

    python -m benchmarks.evidence.spectrum [--specimens FOLDER] [NAME...]

Of each program of `specimens/everyday` that reads a file, the file is varied: without each of its records, without
each two, and with a value of another record in the place of its own. Each variant is run, and what it executed
after the file was opened is written down: lines, branches, kinds of what is returned. Then lines are ranked by how
suspicious they are (Ochiai, DStar), by lines alone and by all of it; a failure counts only if it is the same, at the
same line. Beside it stands the neighbour: the variant that passes and differs least; the lines that only
the failing run has, and whether one of the cause is among them.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence import everyday
from benchmarks.table import print_table
from whet.reduction.variants import units_of

RUN = Path(__file__).with_name("spectrum_run.py")
MOST_VARIANTS = 110
MOST_SECONDS = 10
SAME, PASSES, OTHER = "fails", "passes", "other"


@dataclass(frozen=True)
class Executed:
    """What a run executed, and how it ended."""

    way: str
    found: frozenset[str]


@dataclass(frozen=True)
class Counts:
    """In how many failing and passing runs something was executed."""

    failing: int
    passing: int


def counted(runs: Sequence[Executed]) -> tuple[dict[str, Counts], Counts]:
    """Return in how many runs each thing was executed, and how many runs there are."""
    failing = [each.found for each in runs if each.way == SAME]
    passing = [each.found for each in runs if each.way == PASSES]
    every = frozenset[str]().union(*failing)
    counts = {
        name: Counts(sum(name in each for each in failing), sum(name in each for each in passing))
        for name in every
    }
    return counts, Counts(len(failing), len(passing))


def ochiai(of: Counts, all_: Counts) -> float:
    """Return how suspicious something is (Ochiai)."""
    below = math.sqrt(all_.failing * (of.failing + of.passing))
    return of.failing / below if below else 0.0


def dstar(of: Counts, all_: Counts) -> float:
    """Return how suspicious something is (DStar, its power 2)."""
    below = of.passing + all_.failing - of.failing
    return of.failing**2 / below if below else math.inf


def rank_of(
    wanted: Callable[[str], bool], scores: Mapping[str, float], place_of: Callable[[str], str]
) -> tuple[float, int]:
    """Return the rank of the best place that is wanted, among so many; alike ones share their middle rank."""
    best: dict[str, float] = {}
    for name, score in scores.items():
        place = place_of(name)
        best[place] = max(score, best.get(place, -1.0))
    own = max((score for place, score in best.items() if wanted(place)), default=None)
    if own is None:
        return math.inf, len(best)
    before = sum(score > own for score in best.values())
    return before + (1 + sum(score == own for score in best.values())) / 2, len(best)


def line_of(name: str) -> str:
    """Return the line that something executed belongs to."""
    return ":".join(name.split(":")[:2])


def run_traced(
    python: str, folder: Path, payload: str, words: Sequence[str], *, below: Path | None = None
) -> tuple[str, frozenset[str]]:
    """Run a script of a folder; return its failure (empty: none) and what it executed below a folder."""
    result = folder / ".executed"
    words = [python, str(RUN), str(result), str(below or folder), payload, *words]
    try:
        subprocess.run(
            words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False,
            timeout=MOST_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout", frozenset()
    if not result.exists():
        return "killed", frozenset()
    told = json.loads(result.read_text())
    result.unlink()
    return told["failure"], frozenset(told["found"])


def variants(payload: bytes, name: str) -> Iterator[bytes]:
    """Yield payloads that differ in one or two records or in one value, the smallest difference first."""
    for units in units_of(payload, name):
        count = len(units.spans)
        for unit in range(count):
            for span, text in units.others(unit):
                yield units.with_value(span, text)
        for size in (1, 2):
            for first in range(count - size + 1):
                if size < count:
                    yield units.without((first, first + size))


def chosen(every: Iterable[bytes]) -> list[bytes]:
    """Return so many of them as are run, spread over all."""
    found = list(dict.fromkeys(every))
    step = max(1.0, len(found) / MOST_VARIANTS)
    return [found[int(at * step)] for at in range(min(len(found), MOST_VARIANTS))]


def payload_of(folder: Path) -> Path | None:
    """Return the file that a program reads, if it is one."""
    files = [
        each
        for each in folder.rglob("*")
        if each.is_file() and each.suffix not in {".py", ".pyc"} and "__pycache__" not in each.parts
    ]
    return files[0] if len(files) == 1 else None


def runs_of(program: everyday.Program, place: Path) -> list[Executed]:
    """Return the failing run, then those of the variants of its file."""
    folder = program.copy(place)
    payload = payload_of(folder)
    assert payload is not None
    content = payload.read_bytes()

    def run() -> tuple[str, frozenset[str]]:
        return run_traced(sys.executable, folder, payload.name, program.words)

    failure, found = run()
    runs = [Executed(SAME, found)]
    for each in chosen(variants(content, payload.name)):
        payload.write_bytes(each)
        ended, found = run()
        way = PASSES if not ended else SAME if ended == failure else OTHER
        runs.append(Executed(way, found))
    return runs


def row_of(program: everyday.Program, runs: Sequence[Executed]) -> list[str]:
    """Return a row of the table: the ranks of the cause, and what the neighbour shows."""
    cause = {f"{file}:{line}" for file, line in program.lines if file.endswith(".py")}
    counts, all_ = counted(runs)
    lines = {name: each for name, each in counts.items() if name.endswith(":line")}
    row = [program.name, str(all_.failing), str(all_.passing)]
    for chosen_counts in (lines, counts):
        for formula in (ochiai, dstar):
            scores = {name: formula(each, all_) for name, each in chosen_counts.items()}
            rank, among = rank_of(cause.__contains__, scores, line_of)
            row.append(f"{rank:g} of {among}" if math.isfinite(rank) else "-")
    own = {line_of(each) for each in runs[0].found if each.endswith(":line")}
    nearest = min(
        (
            own - {line_of(each) for each in run.found if each.endswith(":line")}
            for run in runs
            if run.way == PASSES
        ),
        key=len,
        default=None,
    )
    if nearest is None:
        return [*row, "none passes"]
    return [*row, f"{'yes' if nearest & cause else 'no'}, of {len(nearest)}"]


def main() -> None:
    """Rank the cause of each program, and print where it came."""
    options = argparse.ArgumentParser(description="Statistics over many runs, beside the neighbour")
    options.add_argument("--specimens", type=Path, default=everyday.SPECIMENS)
    options.add_argument("names", nargs="*")
    asked = options.parse_args()
    everyday.SPECIMENS = asked.specimens
    rows: list[list[str]] = []
    for name, program in everyday.programs().items():
        is_asked = not asked.names or name in asked.names
        if (
            not is_asked
            or program.hangs
            or program.words[0] == "-m"
            or payload_of(asked.specimens / name) is None
        ):
            continue
        with tempfile.TemporaryDirectory() as place:
            rows.append(row_of(program, runs_of(program, Path(place).resolve() / "program")))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    head = ["program", "fail", "pass", "Ochiai, lines", "DStar, lines", "Ochiai, all", "DStar, all"]
    print_table("Statistics over variants of the file", [*head, "neighbour"], rows)


if __name__ == "__main__":
    main()
