"""Which of a trial's limits explains its failure, by the limits it reached and by its output."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet, Limits, shown_size
from whet.core.outcome import Outcome

_SAYS: Mapping[str, re.Pattern[str]] = {
    "files": re.compile(r"\[Errno 2[34]\]|Too many open files|\bE[MN]FILE\b|os error 2[34]\b"),
    "processes": re.compile(
        r"\[Errno 11\] Resource temporarily unavailable|can't start new thread|[Cc]annot fork"
        r"|fork: (?:retry: )?Resource temporarily unavailable|pthread_create.{0,40}(?:EAGAIN|failed)"
        r"|Thread creation failed|\bEAGAIN\b|os error 11\b"
    ),
    "file-size": re.compile(r"\[Errno 27\]|File too large|File size limit|\bEFBIG\b|os error 27\b"),
    "address-space": re.compile(
        r"MemoryError|Cannot allocate memory|\[Errno 12\]|bad_alloc|failed to map segment"
        r"|virtual memory exhausted|[Oo]ut of memory|Unable to allocate"
    ),
}
"""What programs and libraries say when the kernel refuses them more."""

_KILLED = "killed by the memory limit"
_TOLD = re.compile(rf"^whet: BAD SIGKILL .*· ({_KILLED}: [^·]*[^· ])")
_WHET = re.compile(r"^whet: (?:GOOD|BAD|SKIP|note:) ")
_WANT = re.compile(r"\[Errno 1[24]\]|Bad address|Cannot allocate memory|MemoryError")
_SIGNALS = {"file-size": "SIGXFSZ", "cpu-seconds": "SIGXCPU", "stack": "SIGSEGV"}
_AMOUNTS: Mapping[str, Callable[[Limits], float | None]] = {
    "files": lambda limits: limits.files,
    "processes": lambda limits: limits.processes,
    "file-size": lambda limits: limits.file_size_bytes,
    "stack": lambda limits: limits.stack_bytes,
    "cpu-seconds": lambda limits: limits.cpu_seconds,
    "memory": lambda limits: limits.memory_bytes,
    "address-space": lambda limits: limits.address_space_bytes,
}
_SIZES = frozenset({"file-size", "stack", "memory", "address-space"})


def killed_by_memory(outcome: Outcome) -> LimitMet | None:
    """Return the memory limit that the trial was killed for."""
    killed = (limit for limit in outcome.limits_met if limit.name == "memory" and limit.was_killed)
    return next(killed, None)


def failure_of_memory(met: LimitMet, frames: tuple[Frame, ...]) -> Failure:
    """Return the failure of a program that was killed because it needed too much memory.

    Where it stood when the last byte was asked for is no part of the signature: it is the same
    bug a line earlier.
    """
    own = [frame for frame in frames if frame.in_user_code] or list(frames)
    place = f"{own[-1].path.rpartition('/')[2]}:{own[-1].line}" if own else ""
    line = f", last Python line {place}" if own else ""
    return Failure(
        signature=FailureSignature(kind=FailureKind.OUT_OF_MEMORY, message=_KILLED),
        summary=f"{_KILLED}: {met.words}{line}",
        frames=frames,
        limit="memory",
        plain=f"{_KILLED}, at {place}" if own else _KILLED,
        names_its_lines=True,
    )


def told_by_whet(lines: Sequence[str]) -> Failure | None:
    """Return the failure that a whet inside the trial reports in its last line, if it is this one.

    A command to paste into a shell has the limits in it, as `whet starve --memory 100M -- ...`.
    That whet may be of another version or on another machine: all that comes from it is its line.
    """
    last = next((line for line in reversed(lines) if line.strip()), "")
    match = _TOLD.search(last)
    if match is None:
        return None
    failure = failure_of_memory(LimitMet(name="memory", limit=0, reached=0), ())
    return replace(failure, summary=match[1])


def before_whet(lines: Sequence[str]) -> list[str]:
    """Return the output before the summary line of a whet inside the trial, if there was one."""
    rest = list(lines)
    while rest and (not rest[-1].strip() or _WHET.search(rest[-1])):
        rest.pop()
    return rest if any(map(_WHET.search, lines[len(rest) :])) else list(lines)


def naming_limit(failure: Failure, limits: Limits, met: Collection[str], text: str) -> Failure:
    """Return the failure with the limit that explains it, if one does.

    Args:
        failure: what the outcome shows on its own.
        limits: what the trial was allowed.
        met: limits of which all was used.
        text: the end of what the program wrote.
    """
    for name, amount_of in _AMOUNTS.items():
        amount = amount_of(limits)
        if amount is None or failure.limit or not _explains(name, failure, met, text):
            continue
        amount_words = shown_size(amount) if name in _SIZES else f"{amount:g}"
        return with_limit(failure, name, f"met the limit `--{name} {amount_words}`")
    return failure


def with_limit(failure: Failure, name: str, words: str) -> Failure:
    """Return the failure with the limit that explains it, and what to say of that."""
    summary = f"{failure.summary}; {words}"
    return replace(failure, summary=summary, limit=name, plain=failure.summary)


def unnamed_limits(outcome: Outcome) -> tuple[str, ...]:
    """Return what is to be said of limits that refused something, and that no failure names.

    A program may get by with fewer processes or threads, or fail without a word of it, and a shell
    continues when a program in it was killed. Memory that was all used is none: the kernel gives what
    files hold of it back.
    """
    name = "" if outcome.failure is None else outcome.failure.limit
    well = "" if outcome.failure else ", but the command still succeeded"
    refused = tuple(
        f"met the limit `--processes {limit.limit:g}`: a process or thread was refused{well}"
        for limit in outcome.limits_met
        if limit.name == "processes" != name
    )
    return refused + tuple(
        f"met the limit `--memory {shown_size(limit.limit)}`: {limit.process} (pid {limit.pid}) was "
        "killed"
        for limit in outcome.limits_met
        if limit.name == "memory" and limit.process and not limit.was_killed
    )


def _explains(name: str, failure: Failure, met: Collection[str], text: str) -> bool:
    signature = failure.signature
    if name == "memory":
        # A call that fails for lack of memory may leave none for a message, so silence counts too.
        is_mute = not signature.exception and not signature.message and not text.strip()
        is_telling = is_mute or _WANT.search(text) is not None
        return failure.kind is FailureKind.OUT_OF_MEMORY or (name in met and is_telling)
    if signature.signal and _SIGNALS.get(name) == signature.signal:
        return True
    says = _SAYS.get(name)
    return says is not None and says.search(f"{failure.summary}\n{text}") is not None
