"""How many hidden causes `whet investigate` names: the programs of `specimens/hidden_causes`.

    python -m benchmarks.evidence.hidden_causes [--others] [--torch PYTHON] [NAME...]

A cause is named if one of the first three clues, or the failure itself, has its file and line. `--others`
takes a second set, written when the first was named; `--torch` is a Python that has torch, for the program that
needs it. `tests/endtoend/test_hidden_causes.py` looks at each with what is here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import print_table
from whet.core.failure import Failure

SPECIMENS = Path(__file__).parents[2] / "specimens" / "hidden_causes"
WHET = Path(sys.executable).with_name("whet")
"""Not `python -m whet`, which would find the modules of the program's folder before its own."""

_TORCH = "stuck_rank"
SMALL_DISK = "no_space"
MOST_CLUES = 3
"""A cause that stands further below among the clues is none that was named."""


@dataclass(frozen=True)
class Cause:
    """The line that is the cause.

    Attributes:
        specimen: the folder of the program, below `SPECIMENS`.
        file: its file, in that folder.
        line: its number.
    """

    specimen: str
    file: str
    line: int


def causes(folder: str = "") -> dict[str, Cause]:
    """Return the causes of all specimens in a folder, as `causes.toml` tells them."""
    top = SPECIMENS / folder
    told = tomllib.loads((top / "causes.toml").read_text())
    return {name: _cause(top / name, name, each) for name, each in told.items()}


def _cause(place: Path, name: str, told: dict[str, str]) -> Cause:
    text = (place / told["file"]).read_text()
    assert text.count(told["line"]) == 1, f"{name}: the line is not there, or not alone"
    before = text[: text.index(told["line"])]
    specimen = str(place.relative_to(SPECIMENS))
    return Cause(specimen=specimen, file=told["file"], line=before.count("\n") + 1)


@contextmanager
def small_disk(folder: Path) -> Generator[Path]:
    """Lend a disk of a megabyte.

    Raises:
        PermissionError: if this user may not mount one.
    """
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        raise PermissionError("a small disk cannot be mounted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def investigate(
    cause: Cause,
    place: Path,
    temporary: Path,
    python: str = sys.executable,
    *,
    has_all_time: bool = False,
) -> str:
    """Investigate a specimen as a user would; return the answer of ``--json``.

    On a busy machine the usual time is too short for all steps; a test of what is said has all time.
    """
    budget = ["--budget", "15m"] if has_all_time else []
    folder = place / "program"
    shutil.copytree(SPECIMENS / cause.specimen, folder)
    done = subprocess.run(
        [WHET, "investigate", "--json", *budget, "--", python, "main.py"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.stdout, done.stderr
    return done.stdout


def is_named(cause: Cause, answer: str) -> bool:
    """Whether one of the first clues, or the failure itself, names the line in its words."""
    told = json.loads(answer)
    said: list[str] = [
        "; ".join([clue["says"], *(" ".join(each.values()) for each in clue["trail"])])
        for clue in told["clues"][:MOST_CLUES]
    ]
    failure = Failure.from_json(told["failure"])
    if failure.place is not None:
        said.append(f"{Path(failure.place.path).name}:{failure.place.line}")
    place = f"{cause.file}:{cause.line}"
    return any(f" {place}" in f" {each}" and not _goes_on(each, place) for each in said)


def _goes_on(said: str, place: str) -> bool:
    """Whether the number is only the beginning of a longer one."""
    after = said[said.index(place) + len(place) :]
    return after[:1].isdigit()


def main() -> None:
    """Investigate each, and print what was named."""
    options = argparse.ArgumentParser(description="How many hidden causes are named")
    options.add_argument("--others", action="store_true")
    options.add_argument("--torch", default="")
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    for name, cause in causes("others" if chosen.others else "").items():
        if not chosen.names or name in chosen.names:
            began = time.perf_counter()
            answer = _said_of(name, cause, chosen.torch)
            rows.append([name, answer, f"{time.perf_counter() - began:.1f} s"])
            print(*rows[-1], file=sys.stderr, flush=True)
    print_table("Hidden causes", ["program", "cause named", "took"], rows)
    print(f"{sum(':' in row[1] for row in rows)} of {len(rows)} are named")


def _said_of(name: str, cause: Cause, torch: str) -> str:
    """Return the line that was named, or why there is none."""
    if name == _TORCH and not torch:
        return "not run, without torch"
    python = torch if name == _TORCH else sys.executable
    with tempfile.TemporaryDirectory() as place:
        temporary = Path(place) / "tmp"
        try:
            if name.startswith(SMALL_DISK):
                with small_disk(temporary):
                    answer = investigate(cause, Path(place), temporary, python)
            else:
                temporary.mkdir()
                answer = investigate(cause, Path(place), temporary, python)
        except PermissionError as error:
            return f"not run, {error}"
        except AssertionError as error:
            return "no answer, " + str(error).strip().replace(":", " ")[:60]
    return f"{cause.file}:{cause.line}" if is_named(cause, answer) else "not named"


if __name__ == "__main__":
    main()
