"""How many candidates the reduction alone decides on in a second, and how much memory it takes.

No process runs: the oracle is a function that looks for a word. So this is what whet itself
costs beside the trials.

    python -m benchmarks.shrink.decisions [--megabytes N]
"""

import argparse
import json
import random
import resource
import time
from collections.abc import Callable

from whet.core.verdict import Verdict
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reduce_payload
from whet.reduction.statistics import Reduction
from whet.search.proposal import run_search

SIZE = 10_000


def text() -> bytes:
    """Return 10 KB of numbered lines."""
    lines = (b"line %d: value = f(%d, %d)\n" % (each, each, each * 7) for each in range(500))
    return b"".join(lines)[:SIZE]


def document() -> bytes:
    """Return 10 KB of JSON."""
    rows = [{"id": each, "name": f"user {each}", "tags": ["x", "y"]} for each in range(170)]
    return json.dumps(rows).encode()


def noise() -> bytes:
    """Return 10 KB of bytes that are no text."""
    return random.Random(4).randbytes(SIZE)


def decided(payload: bytes, fails: Callable[[bytes], object]) -> tuple[Reduction, float]:
    """Reduce; return what came and how many verdicts were told in a second."""

    def test(candidate: Reduced) -> Verdict:
        return Verdict.BAD if fails(candidate.data) else Verdict.GOOD

    started = time.perf_counter()
    done = run_search(reduce_payload(payload), test)
    return done, done.candidates / (time.perf_counter() - started)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    megabytes = parser.parse_args().megabytes
    print("payload      oracle               left   decisions  per second")
    for name, payload in (("text", text()), ("JSON", document()), ("noise", noise())):
        _row(name, "nothing can go", payload, _never)
        _row(name, "half can go", payload, _half_of(payload))
    if megabytes:
        _memory(megabytes)


def _row(name: str, oracle: str, payload: bytes, fails: Callable[[bytes], bool]) -> None:
    done, rate = decided(payload, fails)
    print(f"{name:12} {oracle:16} {len(done.payload):8} {done.candidates:11}  {rate:10,.0f}")


def _never(_payload: bytes) -> bool:
    return False


def _half_of(payload: bytes) -> Callable[[bytes], bool]:
    """Return what fails as long as more than half of the payload is there."""
    return lambda it: len(it) > len(payload) // 2


def _memory(megabytes: int) -> None:
    line = b"%08d some text that is longer than a word\n"
    payload = b"".join(line % each for each in range(megabytes * 2**20 // len(line % 0)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    done, _ = decided(payload, lambda it: b"01000000 " in it)
    took = time.perf_counter() - started
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(
        f"{megabytes} MB of lines: {len(done.payload)} bytes left after {done.candidates} decisions"
        f" in {took:.0f} s; {more / len(payload):.1f} times the payload in memory"
    )


if __name__ == "__main__":
    main()
