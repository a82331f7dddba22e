"""The second look at an answer: what it costs, and how many wrong answers pass it.

A bisection on a line of N versions takes each run at its word. Which version it names follows from
what it was told, and what it was told from the version that it names, so that nothing is drawn:
the chance of each answer, if a bad version fails with a rate, is summed over all culprits. The last
version has failed, else nobody would search. `again` is how many runs the second look makes where
the failure always comes, on average over all answers. Beside it: no second look, and two more runs
of the version that failed.

    python -m benchmarks.histories.second_look [--versions 100 1000]
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.table import print_table
from whet.core.verdict import Verdict
from whet.search.flaky.answer_check import second_look
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.search.proposal import run_search

RATES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def main() -> None:
    """Work it out and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--versions", type=int, nargs="+", default=[100, 1000])
    options = parser.parse_args()
    rows: list[Sequence[str]] = []
    for size in options.versions:
        rows += _rows(size)
    print_table(
        "Searches that name a wrong version and do not see it, by how often a bad version fails",
        ("versions", "", "again", "most", *(f"{rate:.0%}" for rate in RATES)),
        rows,
    )


def _rows(size: int) -> Iterator[Sequence[str]]:
    told = [_told(size, version) for version in range(1, size + 1)]
    again = [_again(size, each) for each in told]
    end = [size, size]
    for name, more in (
        ("no recheck", [list[int]() for _ in told]),
        ("the bad end twice more", [end for _ in told]),
        ("recheck", again),
    ):
        pairs = list(zip(told, more, strict=True))
        shares = (sum(_wrong(*each, rate) for each in pairs) / len(pairs) for rate in RATES)
        counts = [len(each) for each in more]
        yield (
            f"{size:,}", name, f"{sum(counts) / len(counts):.2f}", str(max(counts)),
            *(f"{share:.1%}" for share in shares),
        )  # fmt: skip


def _told(size: int, named: int) -> dict[int, Verdict]:
    """Return what a search that names ``named`` was told, and both ends."""
    told = {0: Verdict.GOOD, size: Verdict.BAD}

    def test(version: int) -> Verdict:
        told[version] = Verdict.BAD if version >= named else Verdict.GOOD
        return told[version]

    run_search(Bisection(line_of(range(size + 1)), size, (0,)).search(), test)
    return told


def _again(size: int, told: Mapping[int, Verdict]) -> list[int]:
    """Return what the second look runs where everything does the same again."""
    again: list[int] = []

    def test(version: int) -> Verdict:
        again.append(version)
        return told[version]

    run_search(second_look(line_of(range(1, size + 1)), told), test)
    return again


def _wrong(told: Mapping[int, Verdict], again: Sequence[int], rate: float) -> float:
    """Return the chance of just such runs, over all older culprits, each as likely; times N."""
    runs = [*told, *again]
    passed = sorted(each for each in runs if each and told[each] is Verdict.GOOD)
    failed = len(runs) - len(passed) - 2  # neither the good end nor the first run of the other
    chance, before = 0.0, 0
    for place, version in enumerate(passed):
        chance += (version - before) * (1 - rate) ** (len(passed) - place)
        before = version
    return chance * rate**failed


if __name__ == "__main__":
    main()
