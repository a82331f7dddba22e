"""How many shrinks end in the bug that they began with: the programs of `specimens/slips`.

    python -m benchmarks.evidence.slips [NAME...]

Each payload is one step away from a neighbouring bug. `specimens/slips/witness.py` says, without whet, which
bug a payload shows; `tests/endtoend/test_slips.py` looks at each.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import print_table

SPECIMENS = Path(__file__).parents[2] / "specimens" / "slips"


@dataclass(frozen=True)
class Slip:
    """A program beside whose bug another one lies.

    Attributes:
        name: its folder.
        payload: the file that is made smaller.
        slip: the other bug, in words.
        worth: an expression that is true where the first bug shows; empty: any.
    """

    name: str
    payload: str
    slip: str
    worth: str = ""


@dataclass(frozen=True)
class Ended:
    """What a shrink ended in.

    Attributes:
        held: it is the bug that it began with.
        before_bytes: size of the payload.
        after_bytes: size of the result.
        said: what was printed.
        result: the smaller payload.
    """

    held: bool
    before_bytes: int
    after_bytes: int
    said: str
    result: bytes


def slips() -> dict[str, Slip]:
    """Return the programs, as `slips.toml` tells them."""
    told = tomllib.loads((SPECIMENS / "slips.toml").read_text())
    return {name: Slip(name=name, **each) for name, each in told.items()}


def shrunk(slip: Slip, place: Path) -> Ended:
    """Shrink the payload of a specimen as a user would, and ask the witness about the result."""
    folder = place / slip.name
    shutil.copytree(SPECIMENS / slip.name, folder)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable, "-m", "whet", "shrink", "--jobs", "1", slip.payload, "--",
        sys.executable, "main.py", slip.payload,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=280,
    )  # fmt: skip
    before = folder / slip.payload
    after = before.with_suffix(f".shrunk{before.suffix}")
    said = done.stdout + done.stderr
    assert after.is_file(), said
    return Ended(
        held=_seen(slip, folder, before) == _seen(slip, folder, after),
        before_bytes=before.stat().st_size,
        after_bytes=after.stat().st_size,
        said=said,
        result=after.read_bytes(),
    )


def _seen(slip: Slip, folder: Path, payload: Path) -> object:
    words: list[str | Path] = [
        sys.executable,
        SPECIMENS / "witness.py",
        "main.py",
        payload.name,
        slip.worth,
    ]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    seen: object = json.loads(done.stdout)
    return seen


def main() -> None:
    """Shrink each, and print what it ended in."""
    options = argparse.ArgumentParser(description="How many shrinks end in the bug they began with")
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    for name, slip in slips().items():
        if not chosen.names or name in chosen.names:
            with tempfile.TemporaryDirectory() as place:
                ended = shrunk(slip, Path(place))
            size = f"{ended.before_bytes} → {ended.after_bytes} bytes"
            rows.append([name, "held" if ended.held else f"slipped: {slip.slip}", size])
            print(*rows[-1], file=sys.stderr, flush=True)
    print_table("Slips", ["program", "ended in its own bug", "size"], rows)
    print(f"{sum(row[1] == 'held' for row in rows)} of {len(rows)} are held")


if __name__ == "__main__":
    main()
