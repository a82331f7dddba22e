"""Which record of a data file the failure needs: the command passes without it.

The files don't change: each run has its own copy, in a sandbox that discards everything it writes.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Mention, Placing, Sureness
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.odd_records import odd_records
from whet.evidence.clues.records_in import SETTINGS, DataRecord, records_in, without
from whet.workbench.investigate.experiments.other_data import RunAll, own_files, with_content
from whet.workbench.investigate.experiments.renamed_keys import renamed_clue
from whet.workbench.investigate.traces.origins import Origins
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.reproduce import Baseline

_MOST_RUNS, _MOST_TOLD = 120, 2
_LEAST_RECORDS = 3
_SHOWN = 60

_NAME = re.compile(r"[^\W\d]\w*")
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_Candidate = tuple[Path, str, DataRecord]


@value_class(kw_only=True)
class LeftOut:
    """What runs without a record have told.

    Attributes:
        clues: the records without which the command passes, or the name with whose change it does.
        is_cut: there was too little time for all records.
    """

    clues: tuple[Clue, ...] = ()
    is_cut: bool = False


def left_out_clues(
    bench: Workbench,
    trial: Trial,
    baseline: Baseline,
    origins: Origins,
    run_all: RunAll,
    until: float,
) -> LeftOut:
    """Return the records without which the command passes, one left out at a time.

    Args:
        bench: the workbench.
        trial: what fails, in a room in which nothing that it writes stays.
        baseline: how; a failure that comes only sometimes would go on its own.
        origins: the data files that the program has read, and what the bad value came by.
        run_all: runs trials.
        until: when no further record is left out, on the monotonic clock; what passed is tried again
            after that, too.
    """
    if not baseline.reproduction.is_deterministic:
        return LeftOut()
    renamed = renamed_clue(bench, trial, baseline, origins.files, run_all, until)
    if renamed is not None:
        return LeftOut(clues=(renamed,))
    candidates = list(_candidates(bench, trial, origins.files))
    if not candidates:
        return LeftOut()
    seconds = baseline.reproduction.wall_seconds
    try:
        folder = bench.cleanup_journal.temporary_folder()
    except (WhetError, OSError):  # as where the disk is full
        return LeftOut()
    passing: list[tuple[int, _Candidate]] = []
    twice: list[tuple[int, int, _Candidate]] = []
    count = 0
    try:
        ((control, outcome),) = run_all(
            [_with_file(trial, folder / "as-it-is", candidates[0], whole=True)]
        )
        if baseline.oracle.judge(outcome) is not Verdict.BAD:
            return LeftOut()
        left_out = _likeliest_first(candidates, origins.names)[:_MOST_RUNS]
        with suppress(OutOfTimeError):  # what was found till then is told
            variants = (
                _with_file(trial, folder / f"without-{position}", each)
                for position, each in enumerate(left_out)
                if time.monotonic() + seconds <= until and len(passing) <= _MOST_TOLD
            )
            for each, (number, outcome) in zip(left_out, run_all(variants), strict=False):
                count += 1
                if baseline.oracle.judge(outcome) is Verdict.GOOD:
                    passing.append((number, each))
            twice += _passing_twice(
                passing,
                lambda place, each: _with_file(trial, folder / place, each),
                run_all,
                baseline,
            )
    except (WhetError, OSError):  # this machine has no such room, or none left for a copy
        return LeftOut()
    finally:
        bench.cleanup_journal.discard(folder)
    is_cut = count < min(len(candidates), _MOST_RUNS) and len(passing) <= _MOST_TOLD
    if len(passing) > _MOST_TOLD or count < _LEAST_RECORDS:
        return LeftOut(is_cut=is_cut)  # it passes without any of them: that tells nothing of one
    twice.sort(key=lambda each: each[2][2].line)
    at = Placing(trial.cwd)
    clues = (_clue(each, (first, again), (control, count), at) for first, again, each in twice)
    return LeftOut(clues=tuple(clues), is_cut=is_cut)


def _passing_twice(
    passing: Sequence[tuple[int, _Candidate]],
    without_it: Callable[[str, _Candidate], Trial],
    run_all: RunAll,
    baseline: Baseline,
) -> Iterator[tuple[int, int, _Candidate]]:
    """Yield what passes once more: a failure that seems to come each time may just come often."""
    if len(passing) > _MOST_TOLD:
        return
    again = run_all(without_it(f"again-{first}", each) for first, each in passing)
    for (first, each), (number, outcome) in zip(passing, again, strict=False):
        if baseline.oracle.judge(outcome) is Verdict.GOOD:
            yield first, number, each


def brought_by(part: SmallestPart | None, clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Return clues; a record without which the command passes is shown to decide if it came with the failure.

    Args:
        part: the part of the change that brings the failure; None: it isn't known.
        clues: the clues.
    """
    if part is None or not part.is_verified:
        return tuple(clues)
    return tuple(_with_change(each, part.diff) for each in clues)


def _with_change(clue: Clue, diff: str) -> Clue:
    if Mention.LEFT_OUT not in clue.mentions or _line(clue) not in _added(
        diff, Path(clue.path).name
    ):
        return clue
    says = f"{clue.says}; the change that introduces the failure put the record there"
    return replace(clue, says=says, sureness=Sureness.SHOWN)


def _line(clue: Clue) -> str:
    """Return the line of a file that a clue is about."""
    with suppress(OSError, UnicodeDecodeError, IndexError):
        return Path(clue.path).read_text("utf-8").splitlines()[clue.line - 1].strip()
    return ""


def _added(diff: str, name: str) -> Iterator[str]:
    """Yield the lines that a change adds to the files of a name."""
    is_it = False
    for line in diff.splitlines():
        if line.startswith("+++ "):
            is_it = line.rpartition("/")[2] == name
        elif is_it and line.startswith("+") and line[1:].strip():
            yield line[1:].strip()


def _clue(
    candidate: _Candidate, numbers: tuple[int, int], others: tuple[int, int], at: Placing
) -> Clue:
    path, text, record = candidate
    control, trials = others
    excerpt = record.text if len(record.text) <= _SHOWN else record.text[: _SHOWN - 1] + "…"
    stands_out = f": {record.stands_out}" if record.stands_out else ""
    twins = [
        each
        for each in records_in(path.name, text)
        if each.text.rstrip(",") == record.text.rstrip(",") and each.begin != record.begin
    ]
    twice = ""
    if twins:
        there = (
            f"at {_place(path, twins[0], at)}" if twins[0].column else f"in line {twins[0].line}"
        )
        twice = f", which stands {there}, too,"
    place = _place(path, record, at)
    return Clue(
        says=f"without the record at {place} (`{excerpt}`){twice} the command passes{stands_out}",
        why=f"trials {numbers[0]} and {numbers[1]} ran without it and passed, {control} with it and failed;"
        f" whet left out {trials} records, one at a time",
        path=str(path),
        line=record.line,
        trials=(numbers[0], control),
        next_step=f"check that record: {place}",
        mentions=frozenset({Mention.LEFT_OUT, Mention.TWIN} if twins else {Mention.LEFT_OUT}),
    )


def _place(path: Path, record: DataRecord, at: Placing) -> str:
    column = f":{record.column}" if record.column else ""
    return f"{at(str(path), record.line)}{column}"


def _likeliest_first(candidates: Sequence[_Candidate], names: AbstractSet[str]) -> list[_Candidate]:
    """Return the records, those first that set what the value came by, stand twice or are written unlike others."""
    twice = Counter((path, record.text.rstrip(",")) for path, _, record in candidates)
    shapes = Counter((path, _shape(record.text)) for path, _, record in candidates)

    def oddness(candidate: _Candidate) -> tuple[bool, bool, bool, int]:
        path, _, record = candidate
        is_twin = twice[path, record.text.rstrip(",")] > 1
        is_named = not names.isdisjoint(_NAME.findall(record.text))
        shape = shapes[path, _shape(record.text)]
        return not record.stands_out, not is_named, not is_twin, shape

    return sorted(candidates, key=oddness)


def _shape(text: str) -> str:
    """Return how a record is written: runs of letters, of digits, and all other signs."""
    return _LETTERS.sub("a", _DIGITS.sub("9", text))


def _with_file(trial: Trial, copy: Path, candidate: _Candidate, *, whole: bool = False) -> Trial:
    """Return the trial with a file as it is without a record, or as it is."""
    path, text, record = candidate
    return with_content(trial, copy, path, text if whole else without(text, record))


def _candidates(bench: Workbench, trial: Trial, files: Sequence[str]) -> Iterator[_Candidate]:
    for path, text in own_files(bench, trial, files):
        records = records_in(path.name, text)
        if len(records) >= _LEAST_RECORDS or path.suffix.lower() in SETTINGS:
            yield from ((path, text, record) for record in records)
    for path, text in own_files(bench, trial, files, larger=True):
        odd = odd_records(records_in(path.name, text))
        yield from ((path, text, record) for record in odd)
