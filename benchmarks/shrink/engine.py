"""`reduction/` alone: decisions a second with an oracle that costs nothing, and memory.

    python -m benchmarks.shrink.engine [--megabytes N] [--seconds SECONDS]

Each line is a process of its own. A decision is a verdict that the reducer asked for and was
told: a candidate made, weighed, found to be new, and judged: BAD if two words are in it, or,
so that the payload stays as large as it is, never. The rate is that of a second of the processor,
which other work on the machine does not change.
"""

import argparse
import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from benchmarks.shrink.report import ENGINE_RESULTS
from benchmarks.table import print_table
from whet.core.verdict import Verdict
from whet.reduction.reducer import reduce_payload

Table: TypeAlias = tuple[str, tuple[str, ...], list[list[str]]]

DECISIONS_WANTED = 20_000
TIMES_WANTED = 20.0
_KILOBYTES = 10
_RATE_SECONDS = 5.0
_NEEDED = (b"kingfisher", b"otter")


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100, help="size of the large payload")
    parser.add_argument("--seconds", type=float, default=120.0, help="at most, for each line")
    parser.add_argument("--rounds", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        kind, needed, size = options.inside
        print(json.dumps(_reduce(kind, needed, int(size), options.seconds, options.rounds)))
        return
    tables = [
        _decision_table(min(options.seconds, _RATE_SECONDS)),
        _memory_table(options.megabytes << 20, options.seconds),
    ]
    ENGINE_RESULTS.parent.mkdir(parents=True, exist_ok=True)
    ENGINE_RESULTS.write_text(json.dumps(tables, indent=1) + "\n")
    for title, header, rows in tables:
        print_table(title, header, rows)


def _decision_table(seconds: float) -> Table:
    rows: list[list[str]] = []
    for kind in PAYLOADS:
        for needed in ("two words", "all of it"):
            done = _in_a_process(kind, needed, _KILOBYTES << 10, seconds)
            rate = done["decisions"] / done["cpu"]
            rows.append(
                [
                    f"{kind}, {needed} needed",
                    f"{done['rounds']:,.0f}",
                    f"{done['decisions']:,.0f}",
                    f"{done['cpu']:.2f}",
                    f"{rate:,.0f}",
                    f"{rate / DECISIONS_WANTED:.2f}",
                ]
            )
    header = ("payload", "reductions", "decisions", "CPU s", "a second", f"/ {DECISIONS_WANTED:,}")
    return f"Decisions on {_KILOBYTES} KB", header, rows


def _memory_table(size: int, seconds: float) -> Table:
    rows: list[list[str]] = []
    for kind in PAYLOADS:
        base = _in_a_process(kind, "two words", 1 << 10, 0.0)["peak"]
        done = _in_a_process(kind, "two words", size, seconds, once=True)
        times = (done["peak"] - base) / size
        rows.append(
            [
                kind,
                f"{done['peak'] / 2**20:,.0f}",
                f"{times:.1f}",
                f"{times / TIMES_WANTED:.2f}",
                f"{done['seconds']:.1f}",
                f"{done['decisions']:,.0f}",
                f"{done['left']:,.0f}",
            ]
        )
    header = (
        "payload", "peak MiB", "times the payload", f"/ {TIMES_WANTED:.0f}", "s", "decisions",
        "bytes left",
    )  # fmt: skip
    return f"Memory of a payload of {size >> 20} MiB, beyond that for 1 KB", header, rows


def _in_a_process(
    kind: str, needed: str, size: int, seconds: float, *, once: bool = False
) -> dict[str, float]:
    """Reduce again and again until the time is up, or only once."""
    rounds = "1" if once else "0"
    words = [
        sys.executable,
        "-m",
        "benchmarks.shrink.engine",
        "--seconds",
        str(seconds),
        "--rounds",
        rounds,
    ]
    words += ["--inside", kind, needed, str(size)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _reduce(kind: str, needed: str, size: int, seconds: float, most: int) -> dict[str, float]:
    payload, name = PAYLOADS[kind](size)
    words = _NEEDED if needed == "two words" else (payload,)
    started, used = time.perf_counter(), time.process_time()
    rounds, decisions, left = 0, 0, len(payload)
    while not rounds or (rounds != most and time.perf_counter() - started < seconds):
        done, left = _decisions(payload, name, words, started + seconds)
        decisions += done
        rounds += 1
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "rounds": rounds,
        "decisions": decisions,
        "left": left,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _decisions(payload: bytes, name: str, words: Sequence[bytes], ends: float) -> tuple[int, int]:
    """Reduce a payload that needs some words; return how many decisions that took, and its end."""
    left, decisions = len(payload), 0
    search = reduce_payload(payload, name=name)
    try:
        batch = next(search)
        while time.perf_counter() < ends:
            verdicts: list[Verdict] = []
            for candidate in batch:
                is_bad = all(word in candidate.data for word in words)
                verdicts.append(Verdict.BAD if is_bad else Verdict.GOOD)
                decisions += 1
                if is_bad:
                    left = len(candidate.data)
                    break
            batch = search.send(verdicts)
    except StopIteration:
        pass
    return decisions, left


def _lines(size: int) -> tuple[bytes, str]:
    row = b"%07d the quick brown fox, over the lazy dog\n"
    return _rows(size, row, b"kingfisher\n", b"otter\n"), "lines.txt"


def _table(size: int) -> tuple[bytes, str]:
    row = b"%07d,amber,basalt,cedar,17.25,fjord\n"
    rows = _rows(size, row, b"1,kingfisher,b,c,1,f\n", b"1,a,otter,c,1,f\n")
    return b"id,a,b,c,d,e\n" + rows, "table.csv"


def _document(size: int) -> tuple[bytes, str]:
    row = b'{"id": 1%07d, "name": "amber", "tags": ["basalt", "cedar"], "ok": true},\n'
    rows = _rows(size, row, b'{"name": "kingfisher"},\n', b'{"tags": ["otter"]},\n')
    return b'{"rows": [' + rows + b"{}]}", "document.json"


def _rows(size: int, row: bytes, first: bytes, second: bytes) -> bytes:
    """Return rows of about a size in all, one at a time: its peak counts as the reducer's."""
    file = io.BytesIO()
    count = size // len(row % 0)
    needed = {count // 3: first, count // 3 * 2: second}
    for number in range(count):
        file.write(needed.get(number, row % number))
    return file.getvalue()


def _bytes(size: int) -> tuple[bytes, str]:
    data = bytearray(bytes(range(128, 256)) * (size // 128))
    for word, place in zip(_NEEDED, (size // 3, size // 3 * 2), strict=True):
        data[place : place + len(word)] = word
    return bytes(data), "raw.bin"


PAYLOADS: dict[str, Callable[[int], tuple[bytes, str]]] = {
    "lines": _lines,
    "CSV": _table,
    "JSON": _document,
    "bytes": _bytes,
}


if __name__ == "__main__":
    main()
