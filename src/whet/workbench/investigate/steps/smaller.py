"""Large data and models give way to small ones that fail the same way, for the cause that is known."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed, shown_bytes
from whet.core.text.record import MalformedRecordError, decoded
from whet.core.trial import Trial
from whet.evidence.clues.data_of_cause import records_of, values_of
from whet.workbench.investigate.closer.clues import Closer
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.shrink.same_cause import NO_CAUSE, IsShown, SameCause
from whet.workbench.shrink.shrinking import Payload
from whet.workbench.trials.payload import PLACEHOLDER
from whet.workbench.trials.reproduce import Baseline

_LARGE_BYTES = 50 << 20
_MOST_TEXT_BYTES = 4 << 20
_SMALL_MODEL_BYTES = _MOST_SETTINGS_BYTES = 1 << 20


def sampled(work: Work, which: tuple[int, Payload], baseline: Baseline) -> Payload:
    """Return a payload; of a large one a sample on which the command fails the same way, if there is one."""
    position, payload = which
    if len(payload.data) <= _LARGE_BYTES:
        return payload
    from whet.workbench.sample.failing_sample import small_sample

    reason = "the first rows and the extremes of each column may fail the same way"
    with work.steps.step(f"Sample {payload.shown}", reason):
        try:
            small = small_sample(work.session, work.trial, position, payload.path, baseline)
        except WhetError as error:  # not data with rows
            work.steps.conclude(f"whet takes no sample of it: {error}")
            return payload
        if small is None:
            work.steps.conclude("no small sample fails the same way")
            return payload
        work.trial, content = small
        sample = replace(payload, data=content)
        sizes = [shown_bytes(each.size_of(each.data)) for each in (payload, sample)]
        work.steps.conclude(f"{sizes[0]} → {sizes[1]}: it fails the same way with fewer rows")
    return sample


def tiny_model(work: Work, baseline: Baseline) -> list[str]:
    """Make the model that the command names tiny, if it fails the same way on a small one.

    Returns:
        which size the failure needs, and where the small model is; nothing: there is no model, or none was made.
    """
    folder = _model_of(work)
    if not folder or not baseline.reproduction.is_deterministic:
        return []
    from whet.workbench.tiny.dimension_search import smallest_model
    from whet.workbench.tiny.tiny import TinyOptions

    words = tuple(PLACEHOLDER if each == folder else each for each in work.request.command)
    request = replace(work.request, command=words)
    options = TinyOptions(model=folder, output=str(work.folder / f"{Path(folder).name}.tiny"))
    with work.steps.step(f"Make {folder} tiny", "find the dimensions that the failure needs"):
        try:
            found = smallest_model(work.bench, request, options, work.budget, baseline)
        except WhetError as error:
            work.steps.conclude(f"whet makes no small model: {error}")
            return []
        sizes = f"{found.params:,} of {found.reference_params:,} parameters"
        work.steps.conclude(f"it fails the same way with {sizes}; it needs {found.needs}")
    return [f"{folder}: {sizes} are enough, in `{found.folder}`; the failure needs {found.needs}."]


def _model_of(work: Work) -> str:
    """Return the only word of the command that is the folder of a model of some size; empty: there is none."""
    found: list[str] = []
    for word in work.request.command:
        folder = Path(work.trial.cwd, word)
        with suppress(OSError, ValueError, MalformedRecordError):
            file = folder / "config.json"
            if not file.is_file() or file.stat().st_size > _MOST_SETTINGS_BYTES:
                continue  # a pipe would be waited for
            settings = decoded(file.read_bytes())
            weights = sum(each.stat().st_size for each in folder.glob("*.safetensors"))
            is_small = 0 < weights <= _SMALL_MODEL_BYTES
            if isinstance(settings, dict) and "model_type" in settings and not is_small:
                found.append(word)
    return found[0] if len(found) == 1 else ""


def why_left_whole(clues: Sequence[Clue], baseline: Baseline) -> str:
    """Return why no payload is made smaller, in words; empty: they are.

    A smaller file says nothing more of a hang whose cause is known, and each run of it takes long.
    """
    is_known = any(each.sureness is not Sureness.POSSIBLE and not each.heading for each in clues)
    return (
        "the cause of the hang is known without a smaller file"
        if baseline.outcome.timed_out and is_known
        else ""
    )


def said_when_empty(work: Work, position: int, baseline: Baseline) -> str:
    """Return how the command fails with an empty payload, if it says other values then; else nothing.

    Where a message counts what a file holds, an empty one may fail for another reason.
    """
    failure = baseline.outcome.failure
    if failure is None or _varies(work, baseline):
        return ""
    trial = work.trial.with_payload(work.bench.payload_store.keep(b""), position)
    (ran,) = work.session.repeat(trial, baseline.oracle, "looked at", times=1, place=place_of(work))
    other = ran.outcome.failure
    return "" if other is None or other.summary == failure.summary else other.summary


def cause_to_keep(
    work: Work, payload: Payload, clues: Sequence[Clue], baseline: Baseline
) -> SameCause:
    """Return what a smaller payload must keep of what is known about the cause.

    Args:
        work: the investigation.
        payload: what is made smaller.
        clues: the likeliest first.
        baseline: what fails, and how.
    """
    is_text = not payload.is_folder and len(payload.data) <= _MOST_TEXT_BYTES
    if not baseline.reproduction.is_deterministic or not is_text:
        return NO_CAUSE
    text = payload.data.decode("utf-8", "replace")
    values = () if _varies(work, baseline) else values_of(baseline.outcome.failure, text)
    records = dict(records_of(clues[:1], payload.path, text, work.trial.cwd))
    kept = [f"{listed([f'`{value}`' for value in values])} in the message"] if values else []
    kept += [f"the record at {payload.shown}:{line}" for line in records]
    return SameCause(
        values=values,
        records=tuple(records.values()),
        says=listed(kept) if kept else "",
        is_shown=_is_shown(work, baseline) if work.origin or work.change else None,
    )


def _varies(work: Work, baseline: Baseline) -> bool:
    """Whether the message says other things in each run, so that none of it can be held to."""
    said = set[str]()
    for number in baseline.reproduction.trials:
        outcome = work.bench.notebook.trial(number).outcome
        failure = None if outcome is None else outcome.failure
        said.add("" if failure is None else failure.summary)
    return len(said) > 1


def _is_shown(work: Work, baseline: Baseline) -> IsShown:
    """Return what sees whether the change that lets the command pass does so, and where the bad value comes from."""
    known = work.origin

    def is_shown(trial: Trial) -> bool | None:
        closer = Closer(session=work.session, trial=trial, baseline=baseline, place=place_of(work))
        try:
            if work.change is not None and not closer.passes_with(work.change):
                return False
            origin = None if known is None else closer.origin()
        except (OutOfTimeError, WhetError):
            return None
        if known is None or origin is None:
            return None if work.change is None else True
        return (origin.path, origin.line) == (known.path, known.line)

    return is_shown
