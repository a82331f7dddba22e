"""A trial that was looked into, once more: its probes are looked out for again."""

from contextlib import suppress

from whet.core.errors import UnknownTarget
from whet.core.observations.evidence import PROBES
from whet.core.probe import Wish, parse_wishes, trace_wish
from whet.core.text.record import (
    JsonObject,
    as_record,
    decoded,
    integer,
    items_of,
    optional_record,
    texts,
)
from whet.evidence.clues.probes import probe_report
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.notebook.entry import Entry
from whet.workbench.inspect.probe import Looking, Probed, notes_on, settle, wish_of
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult


def probes_again(
    bench: Workbench, number: int | None, *, code_then: bool
) -> tuple[AgentTasks, tuple[str, ...]]:
    """Return what an agent has to do to probe for what a trial was probed for.

    Args:
        bench: the workbench.
        number: the trial; None: the last one.
        code_then: it runs on the code of its time, where lines stand elsewhere.

    Returns:
        it, and what is to be said of it.
    """
    entry = bench.notebook.find(number)
    asked = _asked(bench, entry)
    if asked is None:
        return NO_TASKS, ()
    if code_then:
        text = f"whet doesn't repeat the probes of trial {entry.number} on older code"
        return NO_TASKS, (text,)
    trial = entry.trial
    request = TrialRequest(
        command=trial.command, cwd=trial.cwd, environment=trial.environment, limits=trial.limits
    )
    words = texts(asked, "words")
    most_calls = integer(asked, "most_calls")
    wishes: tuple[Wish, ...] = (trace_wish(words),) if most_calls else parse_wishes(words)
    try:
        places = settle(bench, request, wishes)
    except UnknownTarget as error:
        text = f"the probes of trial {entry.number} no longer match the code: {error}"
        return NO_TASKS, (text,)
    ranks = tuple(each for each in items_of(asked.get("ranks")) if isinstance(each, int))
    looking = Looking(places=places, ranks=ranks, most_calls=most_calls, words=words)
    return AgentTasks(probes=wish_of(looking)), tuple(notes_on(places))


def probed_in(result: RunResult) -> Probed | None:
    """Return what the probes of a trial have seen; None: it had none."""
    evidence = next((each for each in result.evidence if each.kind == PROBES), None)
    return None if evidence is None else Probed(result=result, report=probe_report(evidence.data))


def _asked(bench: Workbench, entry: Entry) -> JsonObject | None:
    """Return the words of the command line; None: it was not probed, or by an older whet."""
    for each in bench.notebook.evidence_of(entry.number, PROBES):
        with suppress(ValueError):
            return optional_record(as_record(decoded(each.data), PROBES), "asked")
    return None
