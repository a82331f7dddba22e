"""A passing file next to the failing one: no part of it can show the bug."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.core.oracle import SameFailure
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.process.git import Repository
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Place, Session

_MARKS = ("good", "ok")


@value_class(kw_only=True)
class GoodData:
    """A file that passes.

    Attributes:
        label: where it is from.
        lines: what it holds.
    """

    label: str
    lines: tuple[bytes, ...]

    def holds(self, candidate: bytes) -> bool:
        """Whether all lines of a candidate stand in it, in this order: what fails then is no news."""
        left = iter(self.lines)
        return all(line in left for line in candidate.splitlines())


def good_data(
    session: Session,
    trial: Trial,
    position: int,
    path: Path,
    baseline: Baseline,
    place: Place | None,
) -> GoodData | None:
    """Return a file that passes, of those that may be a good side; None: none is known, or passes.

    Files beside it are asked first, such as ``data.good.csv``, then what stood in its place when the
    command passed the last time, and in the commits of now and before.

    Args:
        session: runs it.
        trial: the command on a copy of the file.
        position: number of the file among the payloads.
        path: the file.
        baseline: what the command does.
        place: where it runs, if not where the command stands.
    """
    if not isinstance(baseline.oracle, SameFailure) or baseline.repeats > 1:
        return None
    bench = session.bench
    contents = {bench.payload_store.payload_of(trial.payloads[position].digest)}
    for label, data in _candidates(bench, trial, path):
        if data in contents or not data:
            continue
        contents.add(data)
        good = trial.with_payload(bench.payload_store.keep(data), position)
        if session.run(good, baseline.oracle, label, place=place).verdict is Verdict.GOOD:
            return GoodData(label=label, lines=tuple(data.splitlines()))
    return None


def _candidates(bench: Workbench, trial: Trial, path: Path) -> Iterator[tuple[str, bytes]]:
    stem = path.stem.removesuffix(".bad").removesuffix(".fail")
    for mark in _MARKS:
        beside = path.with_name(f"{stem}.{mark}{path.suffix}")
        with suppress(OSError):  # the longer name may be too long
            if beside.is_file():
                yield beside.name, beside.read_bytes()
    if trial.code is None:
        return
    repository = Repository.keeping(Path(trial.code.repository))
    name = os.path.relpath(path, repository.top)
    if name.startswith(os.pardir):
        return
    for label, commit in _commits(bench, trial):
        answer = repository.ask("cat-file", "blob", f"{commit}:{name}")
        if answer.exit_code == 0:
            yield f"`{path.name}` of {label}", answer.stdout


def _commits(bench: Workbench, trial: Trial) -> Iterator[tuple[str, str]]:
    for entry in bench.notebook.attempts_at(trial):
        code, outcome = entry.trial.code, entry.outcome
        if code is not None and outcome is not None and outcome.failure is None:
            yield f"trial {entry.number}", code.snapshot or code.commit
            break
    yield "the last commit", "HEAD"
    yield "the commit before", "HEAD~1"
