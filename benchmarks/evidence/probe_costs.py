"""What a probe costs the code that is not probed, beside hunter, snoop and a bare trace function.

Each side runs the same program, which takes the processor time of its work itself: calls of tiny
functions and nothing else, which is the worst case for whoever is told of each call; and work that
loops, calls and raises. Probed is one function that is called once, in the same file. With snoop
it has to be edited for that: a decorator stands at it.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.table import print_table
from whet.host.python.pythons import pythons_between

SITE = Path(__file__).parents[2] / "src" / "whet" / "agent" / "site"
PEERS = ("hunter==3.9.0", "snoop==0.6.1")
MOST_MONITORED, MOST_WOVEN = 0.02, 0.20
_MONITORED = (3, 12)
_WORK = """\
import time
{head}
{mark}
def once(x):
    y = x + 1
    return y
def tiny(n):
    return n
def calls():
    for n in range(1000000):
        tiny(n)
class Row:
    def __init__(self, n): self.n = n
    def value(self): return self.n * 2
def mixed():
    total = {{}}
    for n in range(60000):
        row = Row(n)
        try:
            total[n % 100] += row.value()
        except KeyError:
            total[n % 100] = 0
        sorted([n, -n, n ^ 77])
once(1)
for work in (calls, mixed):
    began = time.process_time()
    work()
    print(time.process_time() - began)
"""
_HUNTER = "import hunter; hunter.trace(hunter.Q(module='__main__', function='once'), action=hunter.CallPrinter(stream=open('/dev/null', 'w')))"
_SNOOP = "import snoop; snoop.install(out=open('/dev/null', 'w'))"
_SETTRACE = "import sys; sys.settrace(lambda frame, event, _: None)"


def print_probes(place: Path, rounds: int) -> None:
    """Measure and print a table for this Python, and one for a Python that tells by itself."""
    own = (sys.version_info.major, sys.version_info.minor)
    pythons = {own: Path(sys.executable)}
    newer = pythons_between(_MONITORED, (3, 13), dict(os.environ))
    pythons.update({minor: Path(facts.path) for minor, facts in list(newer.items())[-1:]})
    for minor, python in pythons.items():
        _print_for(place, minor, python, rounds)
    if not newer:
        print("no Python 3.12 or later on this machine: `sys.monitoring` was not measured\n")


def _print_for(place: Path, minor: tuple[int, int], python: Path, rounds: int) -> None:
    home = place / f"peers-{minor[1]}"
    subprocess.run([python, "-m", "venv", home], check=True)
    install = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", *PEERS]
    subprocess.run(install, check=True)
    sides = {
        "plain": ("", "", False),
        "`whet probe`": ("", "", True),
        "hunter": (_HUNTER, "", False),
        "snoop, as a decorator in the code": (_SNOOP, "@snoop", False),
        "`sys.settrace` that wants nothing": (_SETTRACE, "", False),
    }
    for number, (head, mark, _) in enumerate(sides.values()):
        (place / f"side{number}.py").write_text(_WORK.format(head=head, mark=mark))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(rounds):
        for number, (name, (_, _, is_probed)) in enumerate(sides.items()):
            script = place / f"side{number}.py"
            times[name].append(_run(home / "bin/python", script, is_probed=is_probed))
    most = MOST_MONITORED if minor >= _MONITORED else MOST_WOVEN
    rows: list[list[str]] = []
    for name in sides:
        calls, mixed = (_ratio(times, name, which) for which in (0, 1))
        verdict = ("met" if calls - 1 <= most else "missed") if sides[name][2] else ""
        rows.append([name, f"{calls:.3f}", f"{mixed:.3f}", verdict])
    print_table(
        f"Code that is not probed, Python {minor[0]}.{minor[1]}: processor time over that of a run"
        f" without, median of {rounds} rounds",
        ["", "tiny calls", "mixed work", f"at most {1 + most:g}"],
        rows,
    )


def _ratio(times: dict[str, list[tuple[float, float]]], name: str, which: int) -> float:
    """Return the median of the ratios within a round: what both suffer from cancels out."""
    pairs = zip(times["plain"], times[name], strict=True)
    return statistics.median(own[which] / plain[which] for plain, own in pairs)


def _run(python: Path, script: Path, *, is_probed: bool) -> tuple[float, float]:
    environment = {name: value for name, value in os.environ.items() if name != "WHET_PROBES"}
    environment["PYTHONPATH"] = str(SITE)
    environment["WHET_AGENT"] = str(script.parent)
    environment["WHET_PYCACHE"] = str(script.parent / "pycache")
    if is_probed:
        wish = {
            "number": 0, "title": "side", "kind": "call", "path": str(script.resolve()),
            "module": "", "line": 0, "last": 0, "name": "once", "condition": "", "after": 0,
            "every": 1, "actions": [["print"]],
        }  # fmt: skip
        probes = {"probes": [wish], "ranks": [], "most_calls": 0}
        environment["WHET_PROBES"] = json.dumps(probes)
    done = subprocess.run(
        [python, script], env=environment, capture_output=True, text=True, check=True
    )
    assert ("once" in done.stderr) is is_probed, done.stderr
    calls, mixed = map(float, done.stdout.split())
    return calls, mixed
