"""A sample on which a command fails as on the whole data: grown until it does, then cut at both ends.

The samples of all sizes are nested: a larger one has the rows of a smaller one, and more. So the size at
which the failure begins can be searched, and the rows that come first in that order can be left out again.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.budget import Budget, StopReason
from whet.core.errors import BadUsage, CopyFailsOtherwise
from whet.core.failure import Failure
from whet.core.text.quantity import shown_count
from whet.core.trial import PayloadBinding, Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.folders import MOST_BYTES, pack_folder
from whet.sampling.joins import Joined
from whet.search.growth.smallest import smallest_failing
from whet.search.proposal import Search
from whet.workbench.files.pasted_line import stored_line
from whet.workbench.sample.sample import (
    Data,
    SampledFile,
    SampleOptions,
    Sampler,
    fill_beside,
    places_of_results,
    write_sample,
)
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.payload import PLACEHOLDER, bind_payloads, is_same_file
from whet.workbench.trials.reproduce import Baseline, held_to_site, reproduce, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

_FEW_ROWS = (100, 10_000)
_BAD = Verdict.BAD
_QUICK_SECONDS = 3.0
"""A command that is quicker is run a few times first, to see whether it always fails."""


@value_class(kw_only=True)
class FailingSample:
    """The smallest sample that was found.

    Attributes:
        files: each file and its sample; empty: there is none yet.
        remarks: what else there is to say.
        failure: what fails; None where a condition of the user's is BAD without a failure.
        line: the command on the samples, for a shell; None: there is none yet.
        stopped: why the search ended.
        trials: how many samples were run.
        wall_seconds: how long it took, from the first run on the whole data on.
        whole_seconds: how long the command took on the whole data.
        seconds: how long it took on the sample.
    """

    files: tuple[SampledFile, ...]
    remarks: tuple[str, ...]
    failure: Failure | None
    line: PastedLine | None
    stopped: StopReason
    trials: int
    wall_seconds: float
    whole_seconds: float
    seconds: float


def sample_that_fails(
    bench: Workbench, request: TrialRequest, options: SampleOptions, budget: Budget
) -> FailingSample:
    """Find a small sample on which a command fails as on the whole data.

    Raises:
        BaselineDoesNotFail: if the command passes on the whole data.
        CopyFailsOtherwise: if it fails on no sample as it does there, not even on one of all rows.
        WhetError: as `sample` does.
    """
    folder = Path(request.cwd or bench.project.folder)
    if request.stdin and any(
        is_same_file(folder / request.stdin, folder / each) for each in options.files
    ):
        raise BadUsage(
            f"`--stdin {request.stdin}` is the file to sample",
            hint="let a shell read it: `-- sh -c 'python p.py < {}'`",
        )
    sampler = Sampler(folder, options)
    results = places_of_results(bench, sampler, options.result)
    trial = bench.for_search(bench.build_trial(request), [*results, *results.values()])
    files = [(data.shown, "") for data in sampler.data]
    bindings = bind_payloads(trial.command, Path(trial.cwd), files)
    with open_session(bench, "sample", request, trial) as session:
        baseline = _reproduced(session, _on(trial, bindings, {path: path for path in results}))
        oracle = held_to_site(baseline, trial)
        searching = _Searching(
            session=session, sampler=sampler, options=CommandOptions(budget=budget),
            least=sampler.least(), most=sampler.most(),
            baseline=replace(baseline, oracle=oracle),
            trial=replace(with_patience(trial, baseline.outcome.wall_seconds), payloads=bindings),
        )  # fmt: skip
        reason = searching.run()
        if not searching.found and reason.is_complete:
            raise _no_sample(searching, options.where)
        result = searching.result(results, reason, _on(trial, bindings, results))
        session.conclude(reason, {"samples": [each.result for each in result.files]})
    return result


def small_sample(
    session: Session, trial: Trial, position: int, path: Path, baseline: Baseline
) -> tuple[Trial, bytes] | None:
    """Return the command on a small sample of one payload, if it fails there as on all of it.

    A sample has the first rows of a file and the extremes of each column. Each size takes one pass over it.

    Args:
        session: runs the trials.
        trial: the command.
        position: which of its payloads it is.
        path: the file of the user's that the payload is a copy of.
        baseline: how the command fails on all of it.

    Returns:
        the command on the sample and what that holds; None: it fails on none.

    Raises:
        WhetError: as `Sampler` does.
    """
    bench, oracle = session.bench, held_to_site(baseline, trial)
    sampler = Sampler(Path(trial.cwd), SampleOptions(files=(str(path),), extremes=True))
    (data,) = sampler.data
    for rows in _FEW_ROWS:
        content = _sample_of(bench, sampler, data, sampler.choose(rows))
        sampled = trial.with_payload(bench.payload_store.keep(content), position)
        label = shown_count(rows, sampler.unit)
        runs = session.repeat(
            sampled, oracle, label, times=baseline.repeats, until=lambda ran: ran.verdict is _BAD
        )
        if runs[-1].verdict is _BAD:
            return sampled, content
    return None


def _sample_of(bench: Workbench, sampler: Sampler, data: Data, joined: Joined) -> bytes:
    """Return what the sample of one file holds; of a folder, packed."""
    folder = bench.cleanup_journal.temporary_folder()
    try:
        path = folder / data.path.name
        fill_beside(sampler, data, joined, path)
        return pack_folder(path) if path.is_dir() else _content_of(path, data.shown)
    finally:
        bench.cleanup_journal.discard(folder)


def _reproduced(session: Session, trial: Trial) -> Baseline:
    """Run the command on the whole data, once if that takes long."""
    baseline = reproduce(session, trial, attempts=1)
    if baseline.outcome.wall_seconds > _QUICK_SECONDS:
        return baseline
    return reproduce(session, trial)


def _on(trial: Trial, bindings: tuple[PayloadBinding, ...], places: Mapping[Path, Path]) -> Trial:
    """Return the trial on files at these places, by the names that the user wrote where they are his."""
    words = list(trial.command)
    for binding, (original, place) in zip(bindings, places.items(), strict=True):
        if place != original or any(each.text == PLACEHOLDER for each in binding.places):
            binding.put(os.path.relpath(place, trial.cwd), words)
    return replace(trial, command=tuple(words), payloads=())


@value_class
class _Window:
    """The rows of a sample, in the order in which they are taken.

    Attributes:
        rows: how many are taken.
        skip: how many of these are left out again.
    """

    rows: int
    skip: int = 0


@dataclass(slots=True, kw_only=True)
class _Searching:
    """The trials on samples.

    Attributes:
        session: runs them.
        sampler: makes the samples.
        options: how to search.
        baseline: what the command does on the whole data.
        trial: the command; its payloads are the samples.
        found: the smallest sample that fails as the whole data does; None: there is none yet.
        least: the fewest rows that a sample may have.
        most: how many rows there are.
        trials: how many samples were run.
        wall_seconds: how long that took.
    """

    session: Session
    sampler: Sampler
    options: CommandOptions
    baseline: Baseline
    trial: Trial
    least: int
    most: int
    found: _Window | None = None
    trials: int = 0
    wall_seconds: float = 0.0
    _seconds: dict[_Window, float] = field(default_factory=dict["_Window", float])

    def run(self) -> StopReason:
        """Grow the sample until it fails, cut it at its end, and then at its beginning."""
        asked = self.sampler.rows
        least, most = self.least, self.most
        reason = self._search(_Window, least, most, guess=min(max(asked, least), most))
        if not reason.is_complete or self.found is None:
            return reason
        rows = self.found.rows
        left = rows - least + (0 if self.sampler.needs else 1)  # those that may go
        if left < 1 or (left == 1 and not self.sampler.needs):
            return reason
        fewest = 0 if self.sampler.needs else 1
        return self._search(lambda size: _Window(rows, left - size), fewest, left - 1, guess=fewest)

    def _search(
        self, window: Callable[[int], _Window], least: int, most: int, *, guess: int
    ) -> StopReason:
        fails: set[int] = set()

        def heard(ran: Tested[int]) -> None:
            if ran.verdict is Verdict.BAD:
                fails.add(ran.candidate)
            self._seconds[window(ran.candidate)] = ran.outcome.wall_seconds

        def begin(_: int) -> Search[int, object]:
            return smallest_failing(least=least, most=most, probes=0, guess=guess)

        search = CommandSearch(
            session=self.session, oracle=self.baseline.oracle, repeats=self.baseline.repeats,
            options=self.options, begin=begin, heard=heard, best=most,
            as_trial=lambda size: self._trial(window(size)),
            label=lambda size: shown_count(window(size).rows - window(size).skip, self.sampler.unit),
        )  # fmt: skip
        reason = search.run()
        if search.best in fails:
            self.found = window(search.best)
        self.trials += search.trials
        self.wall_seconds += search.wall_seconds
        return reason

    def _joined(self, window: _Window) -> Joined:
        return self.sampler.choose(window.rows, window.skip)

    def _trial(self, window: _Window) -> Trial:
        """Return the command on the samples of a size."""
        bench = self.session.bench
        trial, joined = self.trial, self._joined(window)
        for position, data in enumerate(self.sampler.data):
            content = _sample_of(bench, self.sampler, data, joined)
            trial = trial.with_payload(bench.payload_store.keep(content), position)
        return trial

    def result(
        self, results: Mapping[Path, Path], reason: StopReason, trial: Trial
    ) -> FailingSample:
        """Write the samples and the line that runs the command on them."""
        files: tuple[SampledFile, ...] = ()
        remarks: tuple[str, ...] = ()
        line = None
        if self.found is not None:
            joined = self._joined(self.found)
            files = tuple(
                write_sample(self.session.bench, self.sampler, data, joined, results[data.path])
                for data in self.sampler.data
            )
            remarks = self.sampler.remarks(joined)
            line = stored_line(self.session, trial, self.baseline, self.baseline.oracle)
        return FailingSample(
            files=files,
            remarks=remarks,
            failure=self.baseline.outcome.failure,
            line=line,
            stopped=reason,
            trials=self.trials,
            wall_seconds=self.wall_seconds,
            whole_seconds=self.baseline.outcome.wall_seconds,
            seconds=0.0 if self.found is None else self._seconds.get(self.found, 0.0),
        )


def _content_of(path: Path, shown: str) -> bytes:
    """Return a sample's content.

    Raises:
        BadUsage: if a trial can't have that much.
    """
    if path.stat().st_size > MOST_BYTES:
        raise BadUsage(
            f"a sample of `{shown}` that fails would be larger than {MOST_BYTES >> 20} MB",
            hint="choose its rows otherwise, such as with `--random`, `--extremes` or `--where`",
        )
    return path.read_bytes()


def _no_sample(searching: _Searching, where: str) -> CopyFailsOtherwise:
    sampler, baseline = searching.sampler, searching.baseline
    names = ", ".join(f"`{data.shown}`" for data in sampler.data)
    rows = shown_count(searching.most, sampler.unit)
    which = f" that match `{where}`" if where else ""
    what = (
        baseline.oracle.description
        if baseline.outcome.failure is None
        else baseline.outcome.failure.summary
    )
    return CopyFailsOtherwise(
        f"on {names} the command fails with {what}, and on a sample of all {rows}{which} it doesn't",
        hint="the failure needs more than these rows: leave `--where` out, or try `whet shrink`"
        if which
        else "the failure needs more than the rows, such as the file's name or folder",
    )
