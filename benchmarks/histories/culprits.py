"""How many tests each culprit costs: whet's search beside git's choice, over all culprits.

No script runs here. On a line and on random graphs with branches and merges every commit is the
culprit once; whet's search is told what a script would say, and git is asked what it would test
next (`git rev-list --bisect`) for each state that its own search can come to. With several
workers the rounds are counted.

    python -m benchmarks.histories.culprits [--commits N] [--graphs N]
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.histories.bisection import git
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection
from whet.search.round import Round

WORKERS = (1, 2, 4, 8)
MERGE_RATE, BRANCH_RATE, ENDS_RATE, MOST_TIPS = 0.3, 0.3, 0.7, 8

Graph = Sequence[tuple[int, ...]]


def random_graph(count: int, seed: int) -> Graph:
    """Return a graph with branches and merges that ends in one commit."""
    choose = random.Random(seed)
    parents: list[tuple[int, ...]] = [()]
    tips = [0]
    while len(parents) < count - 1:
        new = len(parents)
        if len(tips) > 1 and choose.random() < MERGE_RATE:
            kept, merged = choose.sample(range(len(tips)), 2)
            parents.append((tips[kept], tips[merged]))
            tips[kept] = new
            if choose.random() < ENDS_RATE:
                tips.pop(merged)
        elif len(tips) < MOST_TIPS and choose.random() < BRANCH_RATE:
            parents.append((choose.choice(range(new)),))
            tips.append(new)
        else:
            grown = choose.randrange(len(tips))
            parents.append((tips[grown],))
            tips[grown] = new
    parents.append(tuple(dict.fromkeys(tips)))
    return parents


def reach(graph: Graph) -> list[int]:
    """Return for each commit a set of bits: itself and those before it."""
    bits: list[int] = []
    for number, above in enumerate(graph):
        own = 1 << number
        for parent in above:
            own |= bits[parent]
        bits.append(own)
    return bits


def tests_of_whet(graph: Graph, workers: int) -> list[tuple[int, int]]:
    """Return rounds and runs for each culprit but the first commit, which is the good end."""
    bits = reach(graph)
    parents = {number: graph[number] for number in reversed(range(1, len(graph)))}
    counted: list[tuple[int, int]] = []
    for culprit in range(1, len(graph)):
        bisection = Bisection(parents, len(graph) - 1, (0,))
        search, rounds, runs = bisection.search(workers), 0, 0
        try:
            batch = next(search)
            while True:
                known: dict[int, Verdict] = {}
                for commit in batch:
                    if isinstance(batch, Round) and commit in batch.needless(known):
                        continue
                    known[commit] = Verdict.BAD if bits[commit] >> culprit & 1 else Verdict.GOOD
                rounds, runs = rounds + 1, runs + len(known)
                batch = search.send([known.get(commit, Verdict.SKIP) for commit in batch])
        except StopIteration:
            assert bisection.result().first_bad == culprit
        counted.append((rounds, runs))
    return counted


@dataclass
class GitsChoices:
    """The tests that git would make, asked of git once for each state of its search."""

    folder: Path
    graph: Graph
    commits: Sequence[str]
    known: dict[tuple[int, frozenset[int]], int] = field(default_factory=dict)

    def tests(self) -> list[int]:
        """Return the number of tests for each culprit but the first commit."""
        bits = reach(self.graph)
        return [self._tests_for(culprit, bits) for culprit in range(1, len(self.graph))]

    def _tests_for(self, culprit: int, bits: Sequence[int]) -> int:
        bad, good, count = len(self.graph) - 1, frozenset({0}), 0
        while (asked := self._choice(bad, good)) != bad:
            count += 1
            if bits[asked] >> culprit & 1:
                bad = asked
            else:
                good |= {asked}
        assert bad == culprit
        return count

    def _choice(self, bad: int, good: frozenset[int]) -> int:
        state = (bad, good)
        if state not in self.known:
            ends = [self.commits[bad], *(f"^{self.commits[each]}" for each in sorted(good))]
            answer = git(self.folder, "rev-list", "--bisect", *ends)
            self.known[state] = self.commits.index(answer)
        return self.known[state]


def build(folder: Path, graph: Graph) -> list[str]:
    """Make a repository of this shape and return the ids of its commits."""
    git(folder, "init", "-q", "-b", "main")
    stream: list[str] = []
    for number, above in enumerate(graph):
        stream += ["commit refs/heads/main", f"mark :{number + 1}"]
        stream += [f"committer A <a@example.org> {1_000_000_000 + 60 * number} +0000"]
        stream += [f"data {len(str(number))}", str(number)]
        if above:
            stream += [f"from :{above[0] + 1}", *(f"merge :{each + 1}" for each in above[1:])]
        stream.append("")
    git(folder, "fast-import", "--quiet", "--export-marks=.git/marks",
        stdin="\n".join(stream).encode())  # fmt: skip
    marks = dict(line.split() for line in (folder / ".git" / "marks").read_text().splitlines())
    return [marks[f":{number + 1}"] for number in range(len(graph))]


def tests_of_git(graph: Graph) -> list[int]:
    """Return how many tests git makes for each culprit but the first commit."""
    with tempfile.TemporaryDirectory(prefix="bench-culprits-") as folder:
        place = Path(folder)
        return GitsChoices(place, graph, build(place, graph)).tests()


def shapes(commits: int, graphs: int) -> Mapping[str, Graph]:
    """Return the histories by name."""
    line: Graph = [(), *((number,) for number in range(commits - 1))]
    return {"line": line, **{f"graph {n}": random_graph(commits, n) for n in range(1, graphs + 1)}}


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--commits", type=int, default=300)
    arguments.add_argument("--graphs", type=int, default=3)
    options = arguments.parse_args()
    is_fine = True
    print(f"{'history':10} {'by':16} {'mean rounds':>11} {'worst':>5} {'mean runs':>9}")
    for name, graph in shapes(options.commits, options.graphs).items():
        by_git = tests_of_git(graph)
        mean = sum(by_git) / len(by_git)
        print(f"{name:10} {'git bisect':16} {mean:11.2f} {max(by_git):5} {mean:9.2f}")
        for workers in WORKERS:
            counted = tests_of_whet(graph, workers)
            rounds = sum(each for each, _ in counted) / len(counted)
            runs = sum(each for _, each in counted) / len(counted)
            worst = max(each for each, _ in counted)
            who = f"whet, {workers} job{'s' if workers > 1 else ''}"
            print(f"{name:10} {who:16} {rounds:11.2f} {worst:5} {runs:9.2f}", flush=True)
            is_fine &= rounds <= mean and worst <= max(by_git)
    sys.exit(not is_fine)


if __name__ == "__main__":
    main()
