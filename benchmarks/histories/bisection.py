"""`whet bisect` against `git bisect run`: tests of commits and seconds, on the same history and script.

Each case is a repository made on the spot. Both tools get a clone of their own and the same
script, which counts its own runs: it appends a byte to a file. They take turns on one machine,
and the median of the rounds is shown. whet checks both ends and git does not, which is why its
runs are two more, and those by which it looks again at its answer. With several workers it makes more runs in fewer rounds; beside the first
of them the ends are checked. `CPU ms a run` is what a run costs beyond the script, of all
processes together: unlike the seconds it does not depend on what else the machine does.

    python -m benchmarks.histories.bisection [--rounds N] [--seconds S] [--case NAME]
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

WHET = Path(sys.executable).with_name("whet")
END_CHECKS = 2
LOOKED_AGAIN = 6  # at most: mostly one or two, to see whether a version always does the same
SIDE_RATE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A history to search.

    Attributes:
        name: what is special about it.
        parents: for each commit the positions of those before it; the last one is bad.
        culprit: position of the first bad one.
        files: how many files a checkout has beside the one that changes.
        script_seconds: how long the script takes.
    """

    name: str
    parents: Sequence[tuple[int, ...]]
    culprit: int
    files: int
    script_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one tool needed in one round."""

    first_bad: str
    runs: int
    wall_seconds: float
    cpu_seconds: float


def cases(script_seconds: float) -> Iterator[Case]:
    """Yield the cases."""
    line = [(), *((number,) for number in range(1000))]
    yield Case(name="line", parents=line, culprit=700, files=10, script_seconds=script_seconds)
    yield Case(
        name="merges", parents=_merges(1000), culprit=640, files=10, script_seconds=script_seconds
    )
    yield Case(
        name="big tree", parents=line, culprit=123, files=3000, script_seconds=script_seconds
    )
    yield Case(name="script of no time", parents=line, culprit=321, files=10, script_seconds=0.0)


def _merges(count: int) -> list[tuple[int, ...]]:
    """Return a history of short branches that are merged, as pull requests make it."""
    choose = random.Random(7)
    parents: list[tuple[int, ...]] = [()]
    main = 0
    while len(parents) < count:
        branch = main
        for _ in range(choose.randint(1, 6)):
            parents.append((branch,))
            branch = len(parents) - 1
        if choose.random() < SIDE_RATE:
            parents.append((main,))
            main = len(parents) - 1
        parents.append((main, branch))
        main = len(parents) - 1
    return parents


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git and return what it printed."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def build(folder: Path, case: Case) -> list[str]:
    """Make the repository of a case and return the ids of its commits."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    bad: set[int] = set()
    stream: list[str] = []
    for number, above in enumerate(case.parents):
        if number == case.culprit or bad.intersection(above):
            bad.add(number)
        stream += ["commit refs/heads/main", f"mark :{number + 1}"]
        stream += [f"committer A <a@example.org> {1_000_000_000 + 60 * number} +0000"]
        subject, state = f"Change {number}", f"{'bad' if number in bad else 'good'} {number}\n"
        stream += [f"data {len(subject)}", subject]
        if above:
            stream += [f"from :{above[0] + 1}", *(f"merge :{each + 1}" for each in above[1:])]
        stream += ["M 100644 inline state", f"data {len(state)}", state]
        if not above:
            for name in range(case.files):
                content = f"{name}\n" * 50
                stream += [f"M 100644 inline files/{name % 50}/{name}"]
                stream += [f"data {len(content)}", content]
        stream.append("")
    git(
        folder,
        "fast-import",
        "--quiet",
        "--export-marks=.git/marks",
        stdin="\n".join(stream).encode(),
    )
    git(folder, "reset", "-q", "--hard")
    marks = dict(line.split() for line in (folder / ".git" / "marks").read_text().splitlines())
    return [marks[f":{number + 1}"] for number in range(len(case.parents))]


def write_script(path: Path, calls: Path, seconds: float) -> None:
    """Write the script that both tools run: it works for a while and reads the state."""
    work = f"sleep {seconds}\n" if seconds else ""
    path.write_text(f"#!/bin/sh\nprintf x >>{calls}\n{work}grep -q good state\n")
    path.chmod(0o755)


def by_git(repository: Path, ends: tuple[str, str], script: Path) -> str:
    """Let git search; return the first bad commit."""
    good, bad = ends
    git(repository, "bisect", "start", bad, good)
    git(repository, "bisect", "run", str(script))
    first_bad = git(repository, "rev-parse", "refs/bisect/bad")
    git(repository, "bisect", "reset")
    return first_bad


def by_whet(repository: Path, ends: tuple[str, str], script: Path, *, jobs: int = 1) -> str:
    """Let whet search; return the first bad commit."""
    command = [str(WHET), "bisect", *ends, "--repo", str(repository), "--oracle", str(script)]
    done = subprocess.run(
        [*command, "--json", "--jobs", str(jobs)],
        cwd=repository, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return first_bad_of(done.stdout)


def first_bad_of(answer: str) -> str:
    """Return the first bad commit in what `whet bisect --json` printed."""
    import json

    facts = json.loads(answer)
    found = facts.get("first_bad") or facts.get("history", {}).get("first_bad")
    assert isinstance(found, str), answer
    return found


TOOLS: dict[str, Callable[[Path, tuple[str, str], Path], str]] = {
    "git bisect run": by_git,
    "whet, 1 job": by_whet,
    "whet, 2 jobs": partial(by_whet, jobs=2),
    "whet, 4 jobs": partial(by_whet, jobs=4),
}


def measure(case: Case, place: Path, rounds: int) -> dict[str, list[Score]]:
    """Let the tools take turns at a case."""
    commits = build(place / "origin", case)
    ends = (commits[0], commits[-1])
    scores: dict[str, list[Score]] = {tool: [] for tool in TOOLS}
    for turn in range(rounds):
        for tool, search in TOOLS.items():
            clone, calls, script = (
                place / f"{turn}-{tool.replace(' ', '')}-{x}" for x in ("clone", "calls", "script")
            )
            git(place, "clone", "-q", str(place / "origin"), str(clone))
            write_script(script, calls, case.script_seconds)
            # The files of the clone are no part of what is measured. Nor is a deletion: for some
            # seconds after one, ext4 takes ten times longer to make a file. So all stays for now.
            os.sync()
            started, cpu = time.perf_counter(), cpu_of_children()
            first_bad = search(clone, ends, script)
            seconds = time.perf_counter() - started
            assert commits[case.culprit].startswith(first_bad) or first_bad == commits[case.culprit]
            runs = calls.stat().st_size
            scores[tool].append(
                Score(
                    first_bad=first_bad,
                    runs=runs,
                    wall_seconds=seconds,
                    cpu_seconds=cpu_of_children() - cpu,
                )
            )
    return scores


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seconds", type=float, default=1.0, help="how long the script takes")
    arguments.add_argument("--case", default="", help="only the case of this name")
    options = arguments.parse_args()
    print(
        f"{'case':18} {'commits':>7} {'bound':>5}  {'tool':14} {'runs':>4} {'rounds':>6}"
        f" {'seconds':>8} {'to git':>6} {'CPU ms a run':>12}"
    )
    for case in cases(options.seconds):
        if options.case not in {"", case.name}:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-bisect-") as folder:
            os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
            scores = measure(case, Path(folder), options.rounds)
        show(case, scores)


def show(case: Case, scores: dict[str, list[Score]]) -> None:
    """Print the line of a case."""
    suspects = len(case.parents) - 1
    bound = (suspects - 1).bit_length() + END_CHECKS
    seconds = {
        tool: statistics.median(score.wall_seconds for score in each)
        for tool, each in scores.items()
    }
    runs = {tool: max(score.runs for score in each) for tool, each in scores.items()}
    git_name, alone, *_ = TOOLS
    for tool in TOOLS:
        ends = 0 if tool == git_name else END_CHECKS
        jobs = int(tool.split()[1]) if ends else 1
        rounds = -(-(runs[tool] - ends) // jobs)
        cpu = statistics.median(score.cpu_seconds for score in scores[tool])
        print(
            f"{case.name:18} {suspects:7} {bound:5}  {tool:14} {runs[tool]:4} {rounds:6}"
            f" {seconds[tool]:8.2f} {seconds[tool] / seconds[git_name]:6.2f}"
            f" {1000 * cpu / runs[tool]:12.0f}",
            flush=True,
        )
    assert runs[alone] <= max(bound, runs[git_name] + END_CHECKS) + LOOKED_AGAIN, (
        "more runs than promised"
    )


if __name__ == "__main__":
    main()
