"""Histories in which the failure is worded otherwise in a part of the range: whet beside git.

A bug comes with a known commit. Elsewhere the same failure has another message, another class,
another function or another text, or another failure stands in its way for a while. Both tools run
the same command, `python3 check.py`, in a clone of their own; git takes each exit code but 0 as bad.
The check counts its own runs, by a byte in a file. Each commit changes a file that the check reads,
so that no version can be judged by another one's run.

    python -m benchmarks.histories.reworded [--case NAME] [--share 1.0]
"""

# ruff: noqa: PLR2004 - the places where a history changes

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.histories.bisection import git

WHET = (sys.executable, "-m", "whet")
MORE_RUNS = 4  # than git: the two ends, and the second look

CHECK = """\
import os

with open(os.environ["CHECK_CALLS"], "ab") as calls:
    calls.write(b"x")
import shop.checks

shop.checks.check(3)
"""
RIGHT, WRONG = "return 2 * count", "return 2 * count + 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A line of commits, of which one brings a bug.

    Attributes:
        name: what is special about it.
        count: how many commits it has; the first is good, the last is bad.
        culprit: place of the first bad one.
        files: what a commit holds, by its place and the culprit's.
    """

    name: str
    count: int
    culprit: int
    files: Callable[[int, int], Mapping[str, str]]

    def commit(self, place: int) -> dict[str, str]:
        """Return the files of a commit."""
        return {
            "check.py": CHECK,
            "shop/__init__.py": "",
            "shop/build.py": f"NUMBER = {place}\n",
            **self.files(place, self.culprit),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one tool said, and after how many runs."""

    is_right: bool
    runs: int
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """A commit: its place, where that were in the whole history, and whether the bug is in it."""

    place: int
    at: float
    is_bad: bool


def histories(share: float = 1.0) -> list[History]:
    """Return the ten; of a smaller share each is as much shorter."""
    every = (
        ("message reworded twice", 360, 41, _reworded),
        ("assertion became a subclass", 400, 77, _subclass),
        ("exception class renamed", 128, 19, _renamed_class),
        ("function renamed, file moved", 256, 33, _moved),
        ("same exit, other text", 300, 101, _other_exit),
        ("wrapped in another error", 320, 64, _wrapped),
        ("values in each message", 200, 137, _with_values),
        ("broken for a while on both sides", 360, 165, _broken_both_sides),
        ("broken for a while after", 300, 47, _broken_after),
        ("flaky wording", 160, 29, _flaky_words),
    )  # fmt: skip
    return [
        History(
            name=name,
            count=round(count * share),
            culprit=round(culprit * share),
            files=partial(_files, files, share),
        )
        for name, count, culprit, files in every
    ]


def _files(
    files: Callable[[Here], Mapping[str, str]], share: float, place: int, culprit: int
) -> Mapping[str, str]:
    return files(Here(place=place, at=place / share, is_bad=place >= culprit))


def _reworded(here: Here) -> Mapping[str, str]:
    said = ["total is off", "the sum of this order does not add up", "expected twice the count"]
    words = said[(here.at >= 110) + (here.at >= 250)]
    return _module(here, f'raise ValueError("{words}")')


def _subclass(here: Here) -> Mapping[str, str]:
    if here.at < 210:
        return _module(here, 'raise AssertionError("wrong total")')
    return _module(
        here,
        'raise CheckError("a check does not hold")',
        "class CheckError(AssertionError):\n    pass\n",
    )


def _renamed_class(here: Here) -> Mapping[str, str]:
    name = "PriceError" if here.at < 60 else "InvalidPrice"
    return _module(
        here,
        f'raise {name}(f"{{found}} for {{count}}")',
        f"class {name}(Exception):\n    pass\n",
    )


def _moved(here: Here) -> Mapping[str, str]:
    if here.at < 90:
        return _module(here, 'raise ValueError("the total does not fit the count")')
    module, function = ("rules", "total_fits") if here.at >= 170 else ("sums", "compare")
    body = _module(here, 'raise ValueError("the total does not fit the count")', function=function)[
        "shop/checks.py"
    ]
    front = f"from shop.{module} import {function} as check\n"
    return {f"shop/{module}.py": body, "shop/checks.py": front}


def _other_exit(here: Here) -> Mapping[str, str]:
    if here.at < 140:
        return _module(here, 'sys.exit("total mismatch, giving up")', "import sys\n")
    said = 'print("FAILED 1 of 1 (see the log)", file=sys.stderr)\n        sys.exit(1)'
    return _module(here, said, "import sys\n")


def _wrapped(here: Here) -> Mapping[str, str]:
    classes = "class TotalError(Exception):\n    pass\n\nclass OrderError(Exception):\n    pass\n"
    inner = _module(here, 'raise TotalError("odd total")', classes, function="compare")
    text = inner["shop/checks.py"]
    if here.at < 150:
        return {"shop/checks.py": f"{text}\ndef check(count):\n    compare(count)\n"}
    caught = "    try:\n        compare(count)\n    except TotalError as error:\n"
    raised = '        raise OrderError("this order cannot be shipped") from error\n'
    return {"shop/checks.py": f"{text}\ndef check(count):\n{caught}{raised}"}


def _with_values(here: Here) -> Mapping[str, str]:
    choose = random.Random(here.place)
    word = "".join(choose.choice("abcdefghij") for _ in range(8))
    other = "".join(choose.choice("klmnopqrst") for _ in range(5))
    return _module(here, f'raise RuntimeError("{word} {other}: " + str(found))')


def _broken_both_sides(here: Here) -> Mapping[str, str]:
    files = _reworded(here)
    if 80 <= here.at < 120 or 220 <= here.at < 260:
        return {"shop/checks.py": "import shop.gone\n" + files["shop/checks.py"]}
    return files


def _broken_after(here: Here) -> Mapping[str, str]:
    files = _renamed_class(here)
    if 130 <= here.at < 190:
        setup = 'settings = {}\nsettings["region"]\n'
        return {
            "shop/settings.py": setup,
            "shop/checks.py": "import shop.settings\n" + files["shop/checks.py"],
        }
    return files


def _flaky_words(here: Here) -> Mapping[str, str]:
    said = '["lost a unit", "one too many", "books differ"]'
    change = "" if here.at < 100 else " again"
    return _module(here, f'raise ValueError(random.choice({said}) + "{change}")', "import random\n")


def _module(here: Here, raising: str, top: str = "", function: str = "check") -> dict[str, str]:
    total = WRONG if here.is_bad else RIGHT
    text = (
        f"{top}\n\ndef total(count):\n    {total}\n\n\ndef {function}(count):\n"
        f"    import shop.build\n    found = total(count)\n"
        f"    if found != 6:\n        {raising}\n"
    )
    return {"shop/checks.py": text}


def build(folder: Path, history: History) -> list[str]:
    """Make the repository of a history and return the ids of its commits."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    stream: list[str] = []
    for place in range(history.count):
        subject = f"Change {place}"
        stream += ["commit refs/heads/main", f"mark :{place + 1}"]
        stream += [f"committer A <a@example.org> {1_000_000_000 + 60 * place} +0000"]
        stream += [f"data {len(subject)}", subject]
        stream += [f"from :{place}"] if place else []
        stream.append("deleteall")
        for name, content in history.commit(place).items():
            stream += [f"M 100644 inline {name}", f"data {len(content)}", content]
        stream.append("")
    marks = folder / ".git" / "marks"
    git(
        folder, "fast-import", "--quiet", f"--export-marks={marks}", stdin="\n".join(stream).encode()
    )  # fmt: skip
    git(folder, "reset", "-q", "--hard")
    ids = dict(line.split() for line in marks.read_text().splitlines())
    return [ids[f":{place + 1}"] for place in range(history.count)]


def by_git(folder: Path, ends: tuple[str, str]) -> tuple[str, str]:
    """Let git search; return the first bad commit and what it said."""
    git(folder, "bisect", "start", ends[1], ends[0])
    said = git(folder, "bisect", "run", "python3", "check.py")
    return git(folder, "rev-parse", "refs/bisect/bad"), said


def by_whet(folder: Path, ends: tuple[str, str]) -> tuple[str, str]:
    """Let whet search, as a user types it; return the first bad commit and what it said."""
    done = subprocess.run(
        [*WHET, "bisect", *ends, "--jobs", "1", "--json", "--", "python3", "check.py"],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    import json

    try:
        facts = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "", done.stdout + done.stderr
    found = facts.get("first_bad") or facts.get("history", {}).get("first_bad") or ""
    return str(found), done.stdout + done.stderr


TOOLS = {"git": by_git, "whet": by_whet}


def measure(history: History, place: Path) -> dict[str, Score]:
    """Let both search a history in a clone of their own."""
    commits = build(place / "origin", history)
    scores: dict[str, Score] = {}
    for tool, search in TOOLS.items():
        clone, calls = place / tool, place / f"{tool}-calls"
        git(place, "clone", "-q", str(place / "origin"), str(clone))
        calls.touch()
        os.environ["CHECK_CALLS"] = str(calls)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        found, said = search(clone, (commits[0], commits[-1]))
        is_right = bool(found) and commits[history.culprit].startswith(found)
        scores[tool] = Score(is_right=is_right, runs=calls.stat().st_size, said=said)
    return scores


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--case", default="", help="only histories with this in their name")
    arguments.add_argument("--share", type=float, default=1.0, help="how long the histories are")
    arguments.add_argument("--verbose", action="store_true", help="show what whet said")
    options = arguments.parse_args()
    print(f"{'history':34} {'commits':>7}  {'git':>5} {'runs':>4}  {'whet':>5} {'runs':>4}  more")
    right, within, count = 0, 0, 0
    for history in histories(options.share):
        if options.case not in history.name:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-reworded-") as folder:
            scores = measure(history, Path(folder))
        own, peer = scores["whet"], scores["git"]
        words = {tool: "right" if each.is_right else "wrong" for tool, each in scores.items()}
        print(
            f"{history.name:34} {history.count:7}  {words['git']:>5} {peer.runs:4}"
            f"  {words['whet']:>5} {own.runs:4}  {own.runs - peer.runs:+}",
            flush=True,
        )
        if options.verbose:
            print(own.said)
        count += 1
        right += own.is_right
        within += own.runs <= peer.runs + MORE_RUNS
    print(f"right {right} of {count}; at most git's runs and {MORE_RUNS}: {within} of {count}")


if __name__ == "__main__":
    main()
