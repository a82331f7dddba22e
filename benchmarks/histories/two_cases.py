"""`whet delta` and `whet bisect --package`: runs for 1,000 settings, seconds for 60 releases.

Settings: two configurations of 1,000 differing keys, flat and nested, of which 3 matter
together; the runs of the two files themselves are counted too. Releases: whet beside what one
does by hand, a bisection by `python -m venv` and `pip install` for each step, over the same
releases with the same script. Both start with empty caches, in turns; no network, no measurement.

    python -m benchmarks.histories.two_cases [--draws N] [--rounds N] [--package NAME] [--releases N]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from whet.bisection.releases import releases_of
from whet.core.errors import WhetError
from whet.host.python.package_index import PackageIndex
from whet.host.python.python_interpreter import PythonFacts

WHET = Path(sys.executable).with_name("whet")
KEYS, CULPRITS = 1000, 3
MOST_RUNS = 60
LEAST_RATIO = 4

CHECK = """
import json, sys
seen = json.load(open(sys.argv[1]))
def at(path):
    value = seen
    for step in path.split("."):
        value = value[step]
    return value
sys.exit(1 if all(at(path) for path in {paths!r}) else 0)
"""


def nested(paths: Sequence[str], value: int) -> dict[str, object]:
    """Return a configuration with one value at each path."""
    plain: dict[str, object] = {}
    tables: dict[str, list[str]] = {}
    for path in paths:
        first, dot, rest = path.partition(".")
        if dot:
            tables.setdefault(first, []).append(rest)
        else:
            plain[first] = value
    return {**plain, **{name: nested(inner, value) for name, inner in tables.items()}}


def settings(draws: int) -> None:
    """Print how many runs the settings take."""
    shapes = {
        "flat": [f"k{number}" for number in range(KEYS)],
        "nested": [f"a{n // 100}.b{n // 10 % 10}.c{n % 10}" for n in range(KEYS)],
    }
    choose = random.Random(11)
    print(f"{'settings':10} {'keys':>5} {'runs':>6} {'most':>5} {'seconds':>8}")
    for name, paths in shapes.items():
        runs, seconds = zip(*(delta(paths, choose.sample(paths, CULPRITS)) for _ in range(draws)),
                            strict=True)  # fmt: skip
        print(f"{name:10} {KEYS:5} {statistics.mean(runs):6.1f} {max(runs):5}"
              f" {statistics.median(seconds):8.2f}", flush=True)  # fmt: skip
        assert max(runs) <= MOST_RUNS, "more runs than promised"


def delta(paths: Sequence[str], culprits: Sequence[str]) -> tuple[int, float]:
    """Let whet search; return its runs and seconds."""
    with tempfile.TemporaryDirectory(prefix="bench-delta-") as folder:
        place = Path(folder)
        for name, value in (("good.json", 0), ("bad.json", 1)):
            (place / name).write_text(json.dumps(nested(paths, value)))
        (place / "check.py").write_text(CHECK.format(paths=list(culprits)))
        command = [str(WHET), "delta", "--json", "good.json", "bad.json", "--",
                   sys.executable, "check.py", "{}"]  # fmt: skip
        started = time.perf_counter()
        done = subprocess.run(command, cwd=place, capture_output=True, check=True, text=True)
        seconds = time.perf_counter() - started
    found = json.loads(done.stdout)
    assert {each["name"] for each in found["fails"]["changes"]} == set(culprits)
    assert len(found["passes"]["changes"]) == 1
    return found["trials"], seconds


def by_pip(package: str, versions: Sequence[str], script: Path, place: Path) -> str:
    """Bisect by hand: a fresh environment and `pip install` for each step, both ends first."""
    fresh = {**os.environ, "PIP_CACHE_DIR": str(place / "pip-cache")}

    def fails(version: str) -> bool:
        home = place / f"venv-{version}"
        subprocess.run([sys.executable, "-m", "venv", home], check=True, env=fresh)
        install = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check",
                   f"{package}=={version}"]  # fmt: skip
        subprocess.run(install, check=True, env=fresh, capture_output=True)
        ran = subprocess.run([home / "bin" / "python", script], check=False, capture_output=True)
        return ran.returncode != 0

    low, high = 0, len(versions) - 1
    assert fails(versions[high])
    assert not fails(versions[low])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(versions[middle]) else (middle, high)
    return versions[high]


def by_whet(package: str, versions: Sequence[str], script: Path, place: Path) -> str:
    """Let whet search."""
    fresh = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"),
             "UV_CACHE_DIR": str(place / "uv-cache")}  # fmt: skip
    command = [str(WHET), "bisect", "--json", "--package", package, versions[0], versions[-1],
               "--", "python", str(script)]  # fmt: skip
    done = subprocess.run(command, cwd=place, env=fresh, capture_output=True, check=True, text=True)
    found: str = json.loads(done.stdout)["first_bad"]
    return found


def seconds_of(
    search: Callable[[str, Sequence[str], Path, Path], str],
    package: str,
    versions: Sequence[str],
    culprit: str,
) -> float:
    """Return how long a search takes that starts with nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-releases-") as folder:
        place = Path(folder)
        script = place / "check.py"
        script.write_text(
            "from importlib.metadata import version\n"
            f"assert {versions!r}.index(version({package!r})) < {versions.index(culprit)}\n"
        )
        started = time.perf_counter()
        found = search(package, versions, script, place)
        seconds = time.perf_counter() - started
    assert found == culprit, found
    return seconds


def packages(package: str, count: int, rounds: int) -> None:
    """Print how long a range of releases takes."""
    python = PythonFacts.ask(sys.executable)
    try:
        listing = PackageIndex.configured(os.environ).listing(package)
    except WhetError as error:
        print(f"releases: not measured: {error}")
        return
    usable = [each for each in releases_of(listing, python)
              if not each.problem and not each.order.is_prerelease]  # fmt: skip
    versions = [each.version for each in usable][-count:]
    culprit = versions[2 * len(versions) // 3]
    tools = {"pip": by_pip, "whet": by_whet}
    seconds: dict[str, list[float]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, search in tools.items():
            seconds[tool].append(seconds_of(search, package, versions, culprit))
    pip, whet = (statistics.median(seconds[tool]) for tool in tools)
    print(f"\n{'package':16} {'releases':>8} {'pip s':>7} {'whet s':>7} {'ratio':>6}")
    print(f"{package:16} {len(versions):8} {pip:7.1f} {whet:7.1f} {whet / pip:6.2f}", flush=True)
    assert whet * LEAST_RATIO <= pip, "more than a quarter of what pip takes"


def main() -> None:
    """Print both tables."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--draws", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--package", default="certifi")
    arguments.add_argument("--releases", type=int, default=60)
    options = arguments.parse_args()
    settings(options.draws)
    packages(options.package, options.releases, options.rounds)


if __name__ == "__main__":
    main()
