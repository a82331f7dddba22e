"""Runs that `whet bisect` saves against `git bisect run`, and what it costs to know which.

The histories are made on the spot: a commit for each file that a release of a package on PyPI
changed, release after release, with what the wheels hold; and a simulated one of 1,000 commits of
which 30 touch what the script looks at. Both tools get a clone of their own and the same script, which counts its own runs.
whet runs both ends, and in the end the two commits that its answer rests on; git does neither.

`matter` is how many commits differ from the one before in something that the script opens, by a
count of the benchmark's own; `bound` is log2 of that, rounded up, and one more.
The last lines are a script beside itself: its time with and without its looks being noted.

    python -m benchmarks.histories.fewer_runs [--case NAME] [--rounds N]
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.observations.file_accesses import FileAccesses
from whet.core.trial import Trial
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

WHET = Path(sys.executable).with_name("whet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A history to search.

    Attributes:
        name: where it is from.
        commits: full ids, the good end first.
        program: what each commit is judged by: it fails or not.
    """

    name: str
    commits: Sequence[str]
    program: str


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git and return what it printed."""
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *name, *arguments], input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def releases(package: str, versions: Sequence[str], cache: Path) -> Iterator[Path]:
    """Yield the wheels of these releases, oldest first, downloaded once."""
    for version in versions:
        place = cache / f"{package}-{version}"
        if not list(place.glob("*.whl")):
            what = ("--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(place))
            words = (sys.executable, "-m", "pip", "download", *what, f"{package}=={version}")
            subprocess.run(words, check=True, capture_output=True)
        yield next(place.glob("*.whl"))


def of_releases(place: Path, wheels: Iterator[Path]) -> list[str]:
    """Make a repository that has a commit for each file that a wheel changed."""
    git(place, "init", "-q", "-b", "main")
    commits: list[str] = []
    for wheel in wheels:
        for entry in place.iterdir():
            if entry.is_dir() and entry.name != ".git":
                shutil.rmtree(entry)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if ".dist-info/" not in name]
            archive.extractall(place, names)
            (place / "CHANGES").write_text(wheel.name)
        changed = git(place, "status", "--porcelain", "-uall", "--no-renames").splitlines()
        whole = [changed] if not commits else [[line] for line in changed]
        for lines in whole:
            git(place, "add", "--all", "--", *(line[2:].strip() for line in lines))
            git(place, "commit", "-q", "-m", f"{wheel.name}: {lines[0]}")
            commits.append(git(place, "rev-parse", "HEAD"))
    return commits


def simulated(place: Path, count: int, every: int) -> list[str]:
    """Make a line of commits of which one in ``every`` touches what the program imports."""
    stream: list[str] = []
    for number in range(count):
        name = "app/value.py" if number % every == 0 else f"docs/{number % 50}"
        content = f"NUMBER = {number}\n"
        stream += ["commit refs/heads/main", f"mark :{number + 1}"]
        stream += [f"committer A <a@example.org> {1_000_000_000 + 60 * number} +0000"]
        stream += [f"data {len(str(number))}", str(number)]
        stream += [f"M 100644 inline {name}", f"data {len(content)}", content, ""]
    git(place, "init", "-q", "-b", "main")
    git(place, "fast-import", "--quiet", "--export-marks=.git/marks",
        stdin="\n".join(stream).encode())  # fmt: skip
    git(place, "reset", "-q", "--hard")
    marks = dict(line.split() for line in (place / ".git/marks").read_text().splitlines())
    return [marks[f":{number + 1}"] for number in range(count)]


PACKAGING = [
    "16.0",
    "16.1",
    "16.2",
    "16.3",
    "16.4",
    "16.5",
    "16.6",
    "16.7",
    "16.8",
    "17.0",
    "17.1",
    "18.0",
    "19.0",
    "19.1",
    "19.2",
    "20.0",
    "20.1",
    "20.3",
    "20.4",
    "20.5",
    "20.7",
    "20.8",
    "20.9",
    "21.0",
    "21.2",
    "21.3",
    "22.0",
    "23.0",
    "23.1",
    "23.2",
    "24.0",
    "24.1",
    "24.2",
    "25.0",
]


def cases(place: Path, cache: Path) -> Iterator[Case]:
    """Yield the cases, each with its repository made."""
    folder = place / "packaging"
    folder.mkdir()
    try:
        commits = of_releases(folder, releases("packaging", PACKAGING, cache))
    except subprocess.CalledProcessError:
        print("packaging            not measured: pip cannot download its releases")
    else:
        # 22.0 no longer takes what is no version.
        program = "from packaging.version import parse\nparse('not a version')\n"
        yield Case(name="packaging", commits=commits, program=program)
    (place / "simulated").mkdir()
    commits = simulated(place / "simulated", 1000, 33)
    yield Case(name="simulated", commits=commits,
               program="from app.value import NUMBER\nassert NUMBER < 600, NUMBER\n")  # fmt: skip


def search(tool: str, clone: Path, case: Case, calls: Path) -> tuple[str, int, int]:
    """Let a tool search; return the first bad commit, the runs, and the commits not run."""
    program = clone.with_suffix(".py")
    counting = f"with open({str(calls)!r}, 'a') as file: file.write('x')\n"
    # In the folder of the checkout: what is imported is the commit's.
    program.write_text(f"import sys\nsys.path.insert(0, '.')\n{counting}{case.program}")
    words = [sys.executable, "-B", str(program)]
    good, bad = case.commits[0], case.commits[-1]
    if tool == "git":
        git(clone, "bisect", "start", bad, good)
        git(clone, "bisect", "run", *words)
        return git(clone, "rev-parse", "refs/bisect/bad"), calls.stat().st_size, 0
    command = [str(WHET), "bisect", good, bad, "--json", "--jobs", "1", "--", *words]
    done = subprocess.run(command, cwd=clone, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    return found["first_bad"], calls.stat().st_size, found["judged_without_a_run"]


def that_matter(folder: Path, case: Case) -> int:
    """Count the commits that change a file which the program opens on any commit."""
    opened: set[str] = set()
    for commit in [*case.commits[:: max(1, len(case.commits) // 12)], case.commits[-1]]:
        git(folder, "checkout", "-q", commit)
        traced = folder.with_suffix(".trace")
        program = f"import sys\nsys.path.insert(0, '.')\n{case.program}"
        subprocess.run(
            ["strace", "-f", "-e", "trace=openat", "-o", str(traced), sys.executable, "-B", "-c", program],
            cwd=folder, check=False, capture_output=True,
        )  # fmt: skip
        names = {line.split('"')[1] for line in traced.read_text().splitlines() if '"' in line}
        tracked = set(git(folder, "ls-files").splitlines())
        opened |= {
            os.path.relpath(name, folder) if name[:1] == "/" else name for name in names
        } & tracked
    pairs = zip(case.commits, case.commits[1:], strict=False)
    return sum(
        bool(opened & set(git(folder, "diff", "--name-only", *pair).splitlines())) for pair in pairs
    )


def show_cost(rounds: int) -> None:
    """Print how long programs take with and without their looks being noted."""
    print(f"\n{'program':34} {'calls':>6} {'seconds':>8} {'noted':>8} {'ratio':>6}")
    for name, words in (
        ("python -c pass", ("-c", "pass")),
        ("python -c 'import json, unittest'", ("-c", "import json, unittest")),
        ("pytest, one file of tests", ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="bench-looks-") as folder:
            Path(folder, "test_it.py").write_text("def test_it(tmp_path):\n    assert tmp_path\n")
            before = Path.cwd()
            os.chdir(folder)
            plain, noted, calls = cost_of((sys.executable, *words), Path(folder).resolve(), rounds)
            os.chdir(before)
        left, right = statistics.median(plain), statistics.median(noted)
        print(f"{name:34} {calls:6} {left:8.3f} {right:8.3f} {right / left:6.2f}", flush=True)


def cost_of(
    command: tuple[str, ...], folder: Path, rounds: int
) -> tuple[list[float], list[float], int]:
    """Run a program in turns without and with its looks noted; return the seconds and calls."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    calls = 0

    def there(_trial: Trial) -> tuple[str, str]:
        return str(folder), ""

    with open_workbench() as bench:
        request = TrialRequest(command=command)
        session = Session(bench=bench, verb="run", request=request)
        trial = bench.build_trial(request)
        for _ in range(rounds):
            for is_noted in (False, True):
                noting = replace(session, observe=there if is_noted else None)
                with noting.executor() as executor:
                    executor.submit(trial).result()  # the observer is made by the first one
                    outcome = executor.submit(trial).result()
                seconds[is_noted].append(outcome.wall_seconds)
                if outcome.looks:
                    calls = FileAccesses.from_bytes(bench.notebook.blobs.read(outcome.looks)).calls
    return seconds[False], seconds[True], calls


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--case", default="", help="only the case of this name")
    arguments.add_argument("--rounds", type=int, default=7, help="of the second table")
    arguments.add_argument("--cache", default="", help="folder that keeps the wheels")
    options = arguments.parse_args()
    print(f"{'case':20} {'commits':>7} {'matter':>6} {'bound':>5}  {'runs git':>8} {'whet':>5}"
          f" {'less ends, edge':>15} {'judged without a run':>20}")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="bench-fewer-") as folder:
        place = Path(folder)
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        cache = Path(options.cache or place / "wheels")
        for case in cases(place, cache):
            if options.case in {"", case.name}:
                show(case, place)
    show_cost(options.rounds)


def show(case: Case, place: Path) -> None:
    """Print the line of a case."""
    origin = place / case.name.partition(".")[0]
    found: dict[str, tuple[str, int, int]] = {}
    for tool in ("git", "whet"):
        clone = place / f"{case.name}-{tool}"
        git(place, "clone", "-q", str(origin), str(clone))
        found[tool] = search(tool, clone, case, place / f"{case.name}-{tool}.calls")
    matter = that_matter(place / f"{case.name}-git", case)
    bound = math.ceil(math.log2(max(matter, 1))) + 1
    (by_git, git_runs, _), (by_whet, runs, concluded) = found["git"], found["whet"]
    assert by_git.startswith(by_whet), (by_git, by_whet)
    print(f"{case.name:20} {len(case.commits) - 1:7} {matter:6} {bound:5}  {git_runs:8} {runs:5}"
          f" {runs - 4:15} {concluded:20}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
