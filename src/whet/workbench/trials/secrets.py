"""The masked secrets of recorded trials: their places and the reasons, never their values."""

import os
from collections.abc import Iterator
from pathlib import Path

from whet.agent.site.whet_state.secret_rule import MASK, why_secret
from whet.core.observations.evidence import FAILURES, SECRETS
from whet.core.text.record import items_of, record_of, records, text
from whet.core.value_class import value_class
from whet.evidence.variables.kept_failure import KeptError, kept_failures
from whet.host.trial.trial_secrets import secrets_of
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench

_FORM = "its form"


@value_class(kw_only=True)
class Masked:
    """A secret of a trial that isn't shown.

    Attributes:
        trial: the trial's number.
        place: where it stands, such as ``argument 3`` or ``stdout``.
        why: why it is taken for one.
    """

    trial: int
    place: str
    why: str


def masked_of(bench: Workbench, entry: Entry) -> tuple[Masked, ...]:
    """Return what is masked of a trial, each place once."""
    places: dict[Masked, None] = {}
    for place, why in _places(bench, entry):
        places[Masked(trial=entry.number, place=place, why=why)] = None
    return tuple(places)


def _places(bench: Workbench, entry: Entry) -> Iterator[tuple[str, str]]:
    for each in secrets_of(entry.trial):
        yield each.place, each.why
    digest = entry.trial.surroundings.environment_digest
    inherited = bench.notebook.environment(digest) if digest else {}
    for name, value in inherited.items():
        if "<secret " in value:
            yield f"environment {name}", why_secret(name, value, is_variable=True) or _FORM
    for evidence in bench.notebook.evidence_of(entry.number, SECRETS):
        for printed in records(evidence.detail, "found"):
            yield f"{text(printed, 'stream')}: {text(printed, 'from')}", text(printed, "why")
    for evidence in bench.notebook.evidence_of(entry.number, FAILURES):
        for failure in kept_failures(evidence.data):
            yield from _variables(failure.error)


def _variables(error: KeptError) -> Iterator[tuple[str, str]]:
    for frame in error.frames:
        place = f"{os.path.relpath(frame.frame.path)}:{frame.frame.line}"
        if not frame.frame.in_user_code:
            place = f"{Path(frame.frame.path).name}:{frame.frame.line}"
        for variable in frame.variables or ():
            for name, is_whole in _masks(variable.value, variable.name):
                why = why_secret(name.rpartition(".")[2], "?") or _FORM if is_whole else _FORM
                yield f"variable `{name}` kept at {place}", why
    for each in (error.earlier, *error.members):
        if each is not None:
            yield from _variables(each)


def _masks(value: object, name: str) -> Iterator[tuple[str, bool]]:
    """Yield the names under which something is masked in a kept value, and whether all of it is."""
    if isinstance(value, str):
        if MASK in value:
            yield name, False
        return
    data = record_of(value)
    if data is None:
        return
    if data.get("k") == "secret":
        yield name, True
    elif MASK in str(data.get("text", "")):
        yield name, False
    for each in items_of(data.get("of")):
        pair = items_of(each)
        inner = f"{name}.{pair[0]}" if data.get("k") == "dict" and pair else name
        yield from _masks(pair[-1] if pair else each, inner)
    for each in items_of(data.get("at")):
        inner_name, content = (*items_of(each), None, None)[:2]
        yield from _masks(content, f"{name}.{inner_name}")
