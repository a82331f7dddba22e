"""`whet profile`: run a trial with a profiler beside it, and keep what the profiler saw with it."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from whet.core.errors import (
    NotProfiled,
    ProfilerFailed,
    ProfilerForbidden,
    ProfilerMissing,
    UnknownTarget,
)
from whet.core.event import Notice
from whet.core.observations.evidence import PROFILE, SYSTEM_CALLS, Evidence
from whet.core.observations.profile import CPU_SECONDS, Obstacle, Profile, Recording
from whet.core.observations.system_call import SystemCalls
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.text.record import as_record, decoded
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.evidence.calls.usual_calls import is_usual, telling
from whet.host.inspect.call_groups import Sieve
from whet.host.inspect.stacks import is_user_code
from whet.host.process.console import Console
from whet.host.profiling.request import Profiling, Read
from whet.host.trial.agent_tasks import AgentTasks
from whet.measurement.profiles.capture import captured, near_names
from whet.measurement.profiles.integrity import checked, read_checked
from whet.measurement.profiles.jax_trace import JAX, read_jax
from whet.measurement.profiles.kineto import read_kineto
from whet.measurement.profiles.line_table import UNSEEN, unseen
from whet.measurement.profiles.memory_blocks import read_allocations, read_blocks
from whet.measurement.profiles.merge import KERNEL_CPU, merged
from whet.measurement.profiles.perf_script import read_perf
from whet.measurement.profiles.sentences import FEW_SAMPLES, Measured
from whet.measurement.profiles.spied import read_spied
from whet.measurement.profiles.waits import waits_of
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, run_trial
from whet.workbench.trials.session import Session

_WANTED_SAMPLES = 200
_MOST_RUNS = 20
_HIGH_RATE = 1000
_MOST_SECONDS = 10.0

_WITHOUT_SAMPLES = (
    "a program that ends at once has nothing to sample; `--rate 1000` looks more often"
)
_WITHOUT_ANYTHING = {
    "gpu": "`whet profile -- COMMAND` shows the time on processors",
    "gpu_memory": "`whet profile --heap -- COMMAND` shows the memory outside GPUs",
}
"""What to do next where a profile has nothing, by its question."""

LEAST_RATE, _SURE_SAMPLES = 100, 400
"""The usual looks in a second; and how many looks tell the lines of a program apart."""


@value_class(kw_only=True)
class Wish:
    """What is to be profiled, and how.

    Attributes:
        question: ``cpu``, ``memory``, ``gpu``, ``gpu_memory`` or ``io``.
        rate: samples a second.
        native: frames of C, C++ and Rust too.
        once: a short program isn't run again for more samples.
        capture: the function to which the profile is restricted; empty: none.
        trace: the APIs that Nsight Systems traces, by commas; empty: it isn't used.
        is_captured: it records only what the program surrounds with `whet.capture`.
    """

    question: str = "cpu"
    rate: int = LEAST_RATE
    native: bool = False
    once: bool = False
    capture: str = ""
    trace: str = ""
    is_captured: bool = False


@value_class(kw_only=True)
class ProfileReport:
    """A profile and the trial that it belongs to.

    Attributes:
        profile: where the time or memory went.
        entry: the trial.
        result: the trial as it was just run; None: it was recorded before.
        trials: the numbers of all trials that the profile is of.
        capture: the function to which the profile is restricted; empty: none.
    """

    profile: Profile
    entry: Entry
    result: RunResult | None = None
    trials: tuple[int, ...] = ()
    capture: str = ""

    @property
    def measured(self) -> Measured | None:
        """What the kernel counted of the trial; None: it has no outcome, or this is a part of it."""
        outcome = self.entry.outcome
        if outcome is None or self.capture:
            return None
        return Measured(
            cpu_seconds=outcome.cpu_seconds,
            wall_seconds=outcome.wall_seconds,
            peak_bytes=outcome.peak_rss_bytes,
        )


def profile_command(
    bench: Workbench, request: TrialRequest, console: Console | None, wish: Wish
) -> ProfileReport:
    """Run a command once with a profiler beside it; a short one again until there are samples.

    Raises:
        ProfilerMissing: if the profiler isn't installed.
        ProfilerForbidden: if the system doesn't let it look.
        ProfilerFailed: if it saw nothing for another reason.
    """
    if wish.trace and shutil.which("nsys", path=bench.environment.get("PATH")) is None:
        raise ProfilerMissing(
            "`--trace` needs nsys, which isn't on the `PATH`",
            hint="it comes with the CUDA toolkit or as Nsight Systems; `--gpu` uses torch's profiler",
        )
    trial = bench.build_trial(request, live=console is not None)
    oracle = oracle_of(request.judging)
    session = Session(bench=bench, verb="profile", request=request, tasks=tasks_for(wish))
    result = run_trial(session, trial, oracle, console)
    if wish.question == "io":
        profile = _waits_in(result)
        _keep(bench, result.entry.number, profile)
        number = result.entry.number
        return ProfileReport(profile=profile, entry=result.entry, result=result, trials=(number,))
    profile = _profile_in(result)
    numbers = [result.entry.number]
    if _is_too_short(profile, result) and not wish.once:
        bench.emit(Notice(text=_too_short(profile)))
        fast = replace(session, tasks=tasks_for(replace(wish, rate=_HIGH_RATE)))
        profiles = [profile, *_more_runs(fast, trial, oracle, numbers)]
        # A run in which nothing was seen counts, too; one with samples tells who runs what.
        profiles.sort(key=lambda each: not each.samples)
        if len(profiles) > 1 and profiles[0].samples:
            profile = merged(profiles)
            _keep(bench, result.entry.number, profile)
    is_readable = _has_only_utf_8(trial)
    if not profile.stacks or (profile.obstacle is Obstacle.UNREAD and not is_readable):
        raise _nothing_seen(profile, result.entry)
    if not is_readable and profile.engine.startswith("py-spy"):
        profile = replace(profile, notes=(*profile.notes, _LEFT_OUT))
    report = ProfileReport(
        profile=profile, entry=result.entry, result=result, trials=tuple(numbers)
    )
    return restricted(report, wish.capture) if wish.capture else report


def _waits_in(result: RunResult) -> Profile:
    (calls,) = [each for each in result.evidence if each.kind == SYSTEM_CALLS]
    return waits_of(SystemCalls.from_json(as_record(decoded(calls.data), SYSTEM_CALLS)))


def restricted(report: ProfileReport, target: str) -> ProfileReport:
    """Return what one function did, with all that it called.

    Raises:
        UnknownTarget: if no sample is in that function.
    """
    profile = captured(report.profile, target)
    if not profile.stacks:
        near = near_names(report.profile, target)
        hint = (
            f"did you mean {' or '.join(f'`{name}`' for name in near)}?"
            if near
            else f"`whet profile --show {report.entry.number}` shows the whole profile"
        )
        raise UnknownTarget(f"no sample of trial {report.entry.number} is in `{target}`", hint=hint)
    return replace(report, profile=profile, capture=target)


def _more_runs(
    session: Session, trial: Trial, oracle: Oracle, numbers: list[int]
) -> Iterator[Profile]:
    """Yield profiles of further runs until there are enough samples; add the runs' numbers."""
    gives_up_at = time.monotonic() + _MOST_SECONDS
    samples = 0
    while samples < _WANTED_SAMPLES and len(numbers) < _MOST_RUNS:
        result = run_trial(session, trial, oracle)
        numbers.append(result.entry.number)
        outcome = result.entry.outcome
        if outcome is None or outcome.interrupted or time.monotonic() > gives_up_at:
            return
        profile = _profile_in(result)
        samples += profile.samples
        yield profile


def recorded_profiles(bench: Workbench, number: int | str | None) -> Sequence[ProfileReport]:
    """Return the profiles that are kept with a trial, the last one of each question.

    Raises:
        UnknownTrial: if there is no such trial.
        NotProfiled: if it has none.
    """
    entry = bench.notebook.find(number)
    profiles = profiles_in(bench.notebook.evidence_of(entry.number, PROFILE), entry.outcome)
    if not profiles:
        raise NotProfiled(
            f"trial {entry.number} wasn't profiled",
            hint="`whet profile -- COMMAND` runs a command with a profiler beside it",
        )
    return [ProfileReport(profile=each, entry=entry, trials=(entry.number,)) for each in profiles]


def profiles_in(evidence: Sequence[Evidence], outcome: Outcome | None) -> Sequence[Profile]:
    """Return the profiles among what was observed of a trial, the last one of each question.

    Args:
        evidence: what was observed.
        outcome: of the same trial: what the kernel counted; None: it has none.
    """
    by_question: Mapping[str, Profile] = {
        profile.question: _counted(profile, outcome)
        for each in evidence
        if each.kind == PROFILE
        for profile in [checked(Profile.from_json(as_record(decoded(each.data), PROFILE)))]
    }
    return list(by_question.values())


def _counted(profile: Profile, outcome: Outcome | None) -> Profile:
    """Return a profile with what the kernel counted of its run; of several, that is known."""
    if outcome is None or KERNEL_CPU in profile.facts:
        return profile
    facts = {KERNEL_CPU: outcome.cpu_seconds}
    if profile.unit == CPU_SECONDS:
        facts[UNSEEN] = unseen(profile, outcome.cpu_seconds, outcome.queued_seconds)
    return replace(profile, facts={**profile.facts, **facts})


def rate_for(seconds: float) -> int:
    """Return how many looks in a second tell the lines of a program apart that takes so long."""
    return round(min(_HIGH_RATE, max(LEAST_RATE, _SURE_SAMPLES / max(seconds, 1e-3))))


def tasks_for(wish: Wish) -> AgentTasks:
    """Return what is asked of a trial that is to be profiled."""
    if wish.question == "io":
        return AgentTasks(follows=Sieve(is_usual, telling))
    return AgentTasks(
        profiles=Profiling(
            question=wish.question,
            read=_READERS[wish.question],
            read_native=_read_native,
            rate=wish.rate,
            native=wish.native,
            trace=wish.trace,
            is_captured=wish.is_captured,
        )
    )


def _read_spied(recording: Recording) -> Profile:
    return read_checked(partial(read_spied, is_own=is_user_code), recording, "cpu")


def _read_blocks(recording: Recording) -> Profile:
    return read_checked(partial(read_blocks, is_own=is_user_code), recording, "memory")


def _read_allocations(recording: Recording) -> Profile:
    return read_checked(partial(read_allocations, is_own=is_user_code), recording, "gpu_memory")


def _read_gpu(recording: Recording) -> Profile:
    if recording.engine == JAX:
        return read_checked(partial(read_jax, is_own=is_user_code), recording, "gpu")
    return read_checked(partial(read_kineto, is_own=_is_own_module), recording, "gpu")


def _is_own_module(path: str) -> bool:
    """Whether a path, as from the nearest of Python's folders, is in none of a library."""
    return is_user_code(path) and Path(path).exists()


_READERS: Mapping[str, Read] = {
    "cpu": _read_spied,
    "memory": _read_blocks,
    "gpu": _read_gpu,
    "gpu_memory": _read_allocations,
}


def _read_native(recording: Recording) -> Profile:
    profile = read_checked(read_perf, recording, "cpu")
    complaint = recording.complaint.strip()
    return replace(profile, notes=(complaint,)) if complaint and not profile.samples else profile


def _profile_in(result: RunResult) -> Profile:
    (profile,) = profiles_in(result.evidence, result.entry.outcome)
    return profile


def _is_too_short(profile: Profile, result: RunResult) -> bool:
    """Whether there are too few samples because the program ended soon, not because it waited."""
    outcome = result.entry.outcome
    if outcome is None or outcome.interrupted or outcome.timed_out:
        return False
    is_kept_out = profile.obstacle in {Obstacle.MISSING, Obstacle.FORBIDDEN, Obstacle.UNREAD}
    if is_kept_out or profile.question != "cpu":
        return False
    return profile.samples < FEW_SAMPLES and outcome.wall_seconds < 2 * FEW_SAMPLES / profile.rate


def _too_short(profile: Profile) -> str:
    return (
        f"the program ended after {profile.samples} samples, too few to tell its lines apart:"
        f" whet runs it again, with {_HIGH_RATE} samples a second (`--once` doesn't)"
    )


def _keep(bench: Workbench, number: int, profile: Profile) -> None:
    detail = {"question": profile.question, "engine": profile.engine, "samples": profile.samples}
    data = json.dumps(profile.to_json()).encode()
    bench.notebook.observe(number, Evidence(kind=PROFILE, detail=detail, data=data))


def _nothing_seen(profile: Profile, entry: Entry) -> Exception:
    words = "\n".join(profile.notes)
    first = next((line for line in words.splitlines() if len(line) > len("Error:")), "")
    trial = f"trial {entry.number} ran, but it has no profile"
    if profile.obstacle is Obstacle.MISSING:
        return ProfilerMissing(f"{trial}: {first}", hint="install it, and run the command again")
    if profile.obstacle is Obstacle.FORBIDDEN:
        return ProfilerForbidden(
            f"{trial}: the system forbids the profiler to look ({first})",
            hint="use root, or allow it: `whet explain profiler-forbidden`",
        )
    if profile.obstacle is Obstacle.DAMAGED:
        return ProfilerFailed(
            f"{trial}: {first}",
            hint="run it again: a kill or a full disk can cut the file off",
        )
    if not _has_only_utf_8(entry.trial):
        return ProfilerFailed(
            f"{trial}: the profilers (py-spy, memray) take only names that are UTF-8",
            hint="rename the file or folder; `--io` takes any name",
        )
    failure = None if entry.outcome is None else entry.outcome.failure
    if failure is not None:
        return ProfilerFailed(
            f"{trial}: the program failed before there was anything to see ({failure.summary})",
            hint="mend that first; `whet investigate -- COMMAND` looks for the cause",
        )
    return ProfilerFailed(
        f"{trial}: the profiler saw nothing{f' ({first})' if first else ''}",
        hint=_WITHOUT_ANYTHING.get(profile.question, _WITHOUT_SAMPLES),
    )


_LEFT_OUT = (
    "py-spy leaves out each line of a file or folder whose name isn't UTF-8: its time stands at the line"
    " that called it"
)


def _has_only_utf_8(trial: Trial) -> bool:
    """Whether no surrogate stands in the folder or the command for a byte that isn't UTF-8."""
    return not any("\ud800" <= each <= "\udfff" for each in "".join((trial.cwd, *trial.command)))
