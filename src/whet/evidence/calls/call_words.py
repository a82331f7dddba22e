"""System calls in words, for people."""

import errno
import os
from pathlib import PurePosixPath

from whet.core.failure import Frame
from whet.core.observations.system_call import AddressUse, FailedCall, FileUse, LongCall, PathFacts
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shell_words import quoted
from whet.core.text.shown_text import visible_line

_WIDEST_COMMAND = 60
_WIDEST_PATH = 400
_SPACE = frozenset({"ENOSPC", "EDQUOT", "EFBIG"})
_RIGHTS = frozenset({"EACCES", "EPERM", "EROFS", "ETXTBSY"})
_ABSENT = frozenset({"ENOENT", "ENOTDIR"})
_TOO_MANY = frozenset({"EMFILE", "ENFILE"})


def error_words(error: str) -> str:
    """Return an error in words: ``No space left on device (ENOSPC)``."""
    number = getattr(errno, error, 0)
    return f"{os.strerror(number)} ({error})" if number else error


def failed_lines(call: FailedCall) -> list[str]:
    """Return a failing call in lines: the failure, then the facts about it."""
    about = f" {_path(call.path)}" if call.path else ""
    detail = f" ({call.detail})" if call.detail else ""
    times = f", {call.count} times" if call.count > 1 else ""
    if call.looked_in:
        # Nothing is looked for where no file can be opened any more: a traceback is shown.
        times = "" if call.error in _TOO_MANY else f", looked for in {call.looked_in} folders"
    times = f"; so do {call.names} names in that folder" if call.names else times
    lines = [f"{call.call}{about}{detail}: {error_words(call.error)}{times}"]
    if call.frames:
        lines.append(f"at {place_words(call.frames)}")
    if call.given and not call.given.startswith("/") and call.error in _ABSENT:
        lines.append(f"the program calls it {_path(call.given)}")
    return [*lines, *facts_words(call), _process_words(call)]


def failed_words(call: FailedCall) -> str:
    """Return a failing call in one sentence."""
    first, *rest = failed_lines(call)
    return ", ".join([first, *rest[:-1]]) if rest else first


def _process_words(call: FailedCall) -> str:
    words = f"in process {call.pid}, {_command(call.process)}"
    if call.started_by:
        words += f", started at {place_words(call.started_by)}"
    if call.before_end_seconds is not None:
        words += f", {shown_seconds(call.before_end_seconds)} before its end"
    return words


def facts_words(call: FailedCall) -> list[str]:
    """Return what was true of the path, or of the process, as far as it has to do with the error."""
    lines: list[str] = []
    if call.open_files is not None:
        number = call.open_files
        kinds = ", ".join(f"{count} of {_path(what)}" for what, count in number.kinds)
        lines.append(f"it held {number.held} descriptors, {number.most} is its limit: {kinds}")
    facts = call.facts
    if facts is None:
        return lines
    if call.error in _SPACE or (facts.is_read_only and call.error in _RIGHTS):
        lines.append(file_system_words(facts))
    if call.error in _RIGHTS:
        lines.append(owner_words(facts))
    if call.error in _ABSENT:
        lines += absent_words(call, facts)
    return lines


def file_system_words(facts: PathFacts) -> str:
    """Return what file system a path lies on, how full it was, and who owns it."""
    files = "" if facts.free_files is None else f" and {shown_count(facts.free_files, 'file')}"
    state = ", mounted read-only" if facts.is_read_only else ""
    return (
        f"on {facts.file_system} mounted at {_path(facts.mount_point)}{state}, with"
        f" {shown_bytes(facts.free_bytes)}{files} free of {shown_bytes(facts.total_bytes)}"
        f" at that moment; {_path(facts.existing)} belongs to {facts.owner}"
    )


def owner_words(facts: PathFacts) -> str:
    """Return who owns a path and who asked."""
    return (
        f"{_path(facts.existing)} is {facts.mode} {facts.owner}:{facts.group},"
        f" asked by {facts.user or 'a process that is gone'}"
    )


def absent_words(call: FailedCall, facts: PathFacts) -> list[str]:
    """Return how much of a path existed, and similar names next to it."""
    lines: list[str] = []
    parent = str(PurePosixPath(call.path).parent)
    if facts.existing not in {call.path, parent}:
        lines.append(f"{_path(facts.existing)} is there, nothing below it on that path")
    if facts.near:
        names = " or ".join(_path(f"{facts.existing.rstrip('/')}/{name}") for name in facts.near)
        lines.append(f"there is {names}")
    return lines


def place_words(frames: tuple[Frame, ...]) -> str:
    """Return the user's own line of a stack, and the library's function that it called."""
    own = [each for each in frames if each.in_user_code]
    place = own[-1] if own else frames[-1]
    words = f"{visible_line(place.path)}:{place.line} in {place.function}"
    return words if place is frames[-1] else f"{words} (by {frames[-1].function})"


def wait_words(wait: LongCall) -> str:
    """Return a call that took long, in a line."""
    target = f" {_path(wait.target)}" if wait.target else ""
    times = f" in {wait.count} calls" if wait.count > 1 else ""
    state = ", still under way at the end" if wait.is_under_way else ""
    place = f", at {place_words(wait.frames)}" if wait.frames else ""
    if not wait.seconds:
        return f"still in {wait.call}{target} at the end (process {wait.pid}, {_command(wait.process)})"
    return (
        f"{shown_seconds(wait.seconds)}{times} in {wait.call}{target}{state}"
        f" (process {wait.pid}, {_command(wait.process)}){place}"
    )


def file_words(use: FileUse) -> str:
    """Return how a file was used, in a line."""
    way = " and ".join(
        word for word, is_so in (("read", use.is_read), ("written", use.is_written)) if is_so
    )
    times = f", {use.count} times" if use.count > 1 else ""
    return f"{way} {_path(use.path)}{times}"


def address_words(use: AddressUse) -> str:
    """Return how an address was used, in a line."""
    state = f": {error_words(use.error)}" if use.error else ""
    times = f", {use.count} times" if use.count > 1 else ""
    return f"{use.call} {_path(use.address)}{state}{times}"


def _path(path: str) -> str:
    """Return a path to display: quoted if it has spaces, and without bytes that aren't text."""
    short = _cut(path, _WIDEST_PATH)
    is_plain = " " not in short.removesuffix(" (deleted)") or " → " in path
    return short if is_plain or short != path else quoted(short)


def _cut(text: str, widest: int) -> str:
    """Return a text that can be shown and isn't longer than that: what is in the middle goes."""
    if len(text) > widest:
        text = f"{text[: widest // 2]}…{text[-widest // 2 :]}"
    return visible_line(text)


def _command(line: str) -> str:
    return f"`{_cut(line, _WIDEST_COMMAND)}`"
