"""`whet stacks`: where every process of a tree is, or was when its trial was given up."""

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from whet.core.errors import BadUsage, NoStacksKept, NoSuchProcess, StackForbidden, UnknownTrial
from whet.core.observations.evidence import STACKS
from whet.core.observations.stack import ProcessStack, ThreadStack
from whet.core.outcome import Outcome
from whet.core.text.shell_words import joined
from whet.core.value_class import value_class
from whet.evidence.stacks.stack_groups import StackGroup, groups_of, stacks_in
from whet.host.inspect.spying import FORBIDDEN, take_all
from whet.host.process.process_facts import facts_of, is_of_trial, matching
from whet.host.process.process_tree import descendants_of
from whet.host.trial.trial_secrets import masked_words
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench


@value_class(kw_only=True)
class ObservedStacks:
    """The stacks of a tree of processes at one moment.

    Attributes:
        target: what was looked at, in words.
        processes: those that were there.
        groups: their threads by equal stacks.
        exit_code: of the trial, as a shell has it; 0 of what still runs.
    """

    target: str
    processes: tuple[ProcessStack, ...]
    groups: tuple[StackGroup, ...]
    exit_code: int = 0


@value_class(kw_only=True)
class Look:
    """How to look.

    Attributes:
        target: a process's number, a pattern of its command line, or a trial's number; empty:
            the last trial.
        is_trial: the number is a trial's, whatever processes there are.
        native: frames of C and C++ too.
        looks_again: a second time, a second later.
    """

    target: str
    is_trial: bool = False
    native: bool = False
    looks_again: bool = True


def look_at_stacks(bench: Workbench, look: Look) -> ObservedStacks:
    """Return where the processes are that the user means.

    Raises:
        NoSuchProcess: if there is none.
        NoStacksKept: if a trial has ended of which no stacks are kept.
        StackForbidden: if nothing can be seen of any of them.
    """
    if look.target and not look.is_trial:
        if look.target.isdigit() and _is_program(int(look.target)):
            return _audit_listener(f"process {look.target}", _tree([int(look.target)]), look)
        if not look.target.isdigit():
            return _audit_listener(f"`{look.target}`", _tree(_matching(look.target)), look)
    number = _number(look)
    try:
        entry = bench.notebook.find(number)
    except UnknownTrial as unknown:
        if look.is_trial or number is None:
            raise
        raise NoSuchProcess(
            f"there is neither a process {number} nor a trial {number}",
            hint="`pgrep -af PATTERN` finds processes, `whet log` lists the trials",
        ) from unknown
    return _of_trial(bench, entry, look)


def _number(look: Look) -> int | None:
    if look.target and not look.target.isdigit():
        raise BadUsage(
            f"`{look.target}` is not the number of a trial", hint="`whet log` lists the trials"
        )
    return int(look.target) if look.target else None


def _of_trial(bench: Workbench, entry: Entry, look: Look) -> ObservedStacks:
    """Look at a trial that runs, or at what was seen of it when it was given up."""
    if entry.outcome is None and entry.host == os.uname().nodename:
        running = [pid for pid in descendants_of(entry.pid) if is_of_trial(pid)]
        if running:
            return _audit_listener(f"trial {entry.number}", running, look)
    for evidence in bench.notebook.evidence_of(entry.number, STACKS):
        return _grouped(f"trial {entry.number}, as it was", stacks_in(evidence), entry.outcome)
    if entry.outcome is not None and entry.outcome.stacks:
        return _last_stack(entry, entry.outcome)
    if entry.outcome is not None and entry.outcome.signal is not None:
        from whet.host.inspect.cores import why_no_core

        raise NoStacksKept(
            f"trial {entry.number} ended by signal {entry.outcome.signal}, and whet kept none of its stacks",
            hint="only a Python program's line is kept; the C side is in a core file, for"
            f" `whet stacks --core FILE`: {why_no_core()}",
        )
    raise NoStacksKept(
        f"trial {entry.number} isn't running any more, and whet kept none of its stacks",
        hint="`--hang 30` keeps them when a trial writes nothing for 30 seconds;"
        " for a running process: `whet stacks PID`",
    )


def _last_stack(entry: Entry, outcome: Outcome) -> ObservedStacks:
    """Return where the main thread was when a signal or a limit of time ended a trial."""
    pid = outcome.processes[0].pid if outcome.processes else 0
    thread = ThreadStack(number=pid, frames=outcome.stacks[-1], is_running=True)
    command = joined(masked_words(entry.trial.command))
    notes: tuple[str, ...] = ()
    if not outcome.timed_out:
        from whet.host.inspect.cores import why_no_core

        notes = (f"the C side is in a core file, for `whet stacks --core FILE`: {why_no_core()}",)
    process = ProcessStack(pid=pid, command=command, engine="agent", threads=(thread,), notes=notes)
    return _grouped(f"trial {entry.number}, as it ended", (process,), outcome)


def _matching(pattern: str) -> list[int]:
    try:
        compiled = re.compile(pattern)
    except re.error:
        compiled = re.compile(re.escape(pattern))
    pids = matching(compiled)
    if pids:
        return pids
    words = {Path(word).name for pid in matching(re.compile("")) for word in _words_of(pid)}
    near = difflib.get_close_matches(pattern, sorted(words), n=3, cutoff=0.6)
    hint = (
        f"did you mean {' or '.join(f'`{name}`' for name in near)}?"
        if near
        else "`ps aux` lists all processes"
    )
    raise NoSuchProcess(f"no process has `{pattern}` in its command line", hint=hint)


def _is_program(pid: int) -> bool:
    """Whether there is such a process, and it is none of the kernel's own threads."""
    facts = facts_of(pid)
    return facts is not None and not facts.command.startswith("[")


def _words_of(pid: int) -> list[str]:
    facts = facts_of(pid)
    return [] if facts is None else facts.command.split()


def _tree(roots: Sequence[int]) -> list[int]:
    """Return processes and all that is below them, each once, parents first."""
    pids: dict[int, None] = {}
    for root in roots:
        pids |= dict.fromkeys([root, *descendants_of(root)])
    return list(pids)


def _audit_listener(target: str, pids: Sequence[int], look: Look) -> ObservedStacks:
    processes = take_all(pids, native=look.native, looks_again=look.looks_again)
    if not processes:
        raise NoSuchProcess(
            f"{target} ended before whet could look at it",
            hint="if a trial ends too soon: `whet run --hang 5 -- COMMAND`",
        )
    sighting = _grouped(target, processes)
    if not sighting.groups and any(FORBIDDEN in each.notes for each in processes):
        raise StackForbidden(
            f"the system forbids reading the stacks of {target}",
            hint="run it with `whet run`, use root, or allow it: see the page",
        )
    return sighting


def _grouped(
    target: str, processes: tuple[ProcessStack, ...], outcome: Outcome | None = None
) -> ObservedStacks:
    code = 0 if outcome is None else outcome.shell_exit_code
    return ObservedStacks(
        target=target, processes=processes, groups=groups_of(processes), exit_code=code
    )
