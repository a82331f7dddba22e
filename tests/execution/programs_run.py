"""Play random sessions of edits, warm and cold, until there are enough cases of each kind.

    python tests/execution/programs_run.py --cases 20000 --jobs 2

Prints a table: kind of edit, cases, share answered warm, wrong answers; and each wrong answer
as the smallest session that Hypothesis finds.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from program_edits import KINDS, Session, sessions
from program_twins import FIRST, Tally, shown, twins

from whet.execution.installed_packages_check import InstalledPackagesCheck

_SESSIONS_AT_ONCE = 150

_AS_IF_INSTALLED = "lib/python3-as-it-were"
"""In such a folder all files count as installed, and are looked at as soon as one is saved."""
_LONGEST_SECONDS = 60.0


def main() -> int:
    """Play, print the table, and return 1 if there was a wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many edits in all")
    parser.add_argument("--each", type=int, default=500, help="how many of each kind at least")
    parser.add_argument("--jobs", type=int, default=2, help="how many side by side")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--python", default=sys.executable, help="which runs the programs")
    options = parser.parse_args()
    began = time.monotonic()
    tally, wrong = _play(options)
    for text in wrong:
        print(text, "\n", flush=True)
    _print_table(tally, time.monotonic() - began)
    return 1 if wrong else 0


def _play(options: argparse.Namespace) -> tuple[Tally, list[str]]:
    tally, wrong = Tally(), list[str]()
    seeds = itertools.count(options.seed)
    with ProcessPoolExecutor(options.jobs) as pool:
        running: set[Future[tuple[Tally, str]]] = set()
        while not _is_enough(tally, options.cases, options.each):
            while len(running) < options.jobs:
                running.add(pool.submit(play_some, next(seeds), options.python))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                played, failure = future.result()
                tally.merge(played)
                if failure:
                    wrong.append(failure)
                share = f"{tally.warm_share:.0%} warm"
                edits = tally.cases.total() - tally.cases[FIRST]
                print(f"{edits} cases, {share}, {len(wrong)} wrong", file=sys.stderr)
        for future in running:
            played, failure = future.result()
            tally.merge(played)
            wrong += [failure] if failure else []
    return tally, wrong


def _is_enough(tally: Tally, cases: int, each: int) -> bool:
    edits = tally.cases.total() - tally.cases[FIRST]
    return edits >= cases and all(tally.cases[kind] >= each for kind in KINDS)


def play_some(number: int, python: str = sys.executable) -> tuple[Tally, str]:
    """Play the sessions of one seed; return the counts, and the smallest wrong one or nothing."""
    tally, failures = Tally(), list[str]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()), _AS_IF_INSTALLED)
        folder.mkdir(parents=True)
        early = stack.enter_context(InstalledPackagesCheck(longest_seconds=_LONGEST_SECONDS))
        pair = stack.enter_context(twins(folder, early=early, python=python))

        @seed(number)
        @settings(
            max_examples=_SESSIONS_AT_ONCE,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(sessions())
        def holds(session: Session) -> None:
            for case in pair.play(session):
                if not failures:  # what follows is Hypothesis making it smaller
                    tally.add(case)
                if case.difference and not case.is_unsteady:
                    if not failures:
                        print(f"wrong, seed {number}; {case.difference}", file=sys.stderr)
                    failures.append(shown(session, case))
                    raise AssertionError

        try:
            holds()
        except Exception as error:
            if not failures:
                raise RuntimeError(f"seed {number} could not be played") from error
            # The last one is the smallest; one that does not always fail is worth as much.
            return tally, f"#### seed {number}, {type(error).__name__}\n{failures[-1]}"
        print(f"{early.times_used} early looks were used", file=sys.stderr)
    return tally, ""


def _print_table(tally: Tally, seconds: float) -> None:
    rows = [_row(kind, tally, (kind,)) for kind in (FIRST, *KINDS)]
    rows.append(_row("all edits", tally, KINDS))
    print(f"| {'kind of edit':32} | {'cases':>6} | {'warm':>5} | {'wrong':>5} | {'unsteady':>8} |")
    print(f"| :{'-' * 31} | {'-' * 5}: | {'-' * 4}: | {'-' * 4}: | {'-' * 7}: |")
    print("\n".join(rows))
    print(f"\n{seconds / 60:.0f} minutes")


def _row(name: str, tally: Tally, kinds: Sequence[str]) -> str:
    cases, warm, wrong, unsteady = (
        sum(counts[kind] for kind in kinds)
        for counts in (tally.cases, tally.warm, tally.wrong, tally.unsteady)
    )
    share = f"{warm / cases:.0%}" if cases else "-"
    return f"| {name:32} | {cases:6} | {share:>5} | {wrong:5} | {unsteady:8} |"


if __name__ == "__main__":
    sys.exit(main())
