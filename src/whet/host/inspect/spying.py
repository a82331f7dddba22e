"""The stacks of all threads of many processes, from the first tool that may read them.

py-spy reads the memory of a Python process. If the system forbids that, the agent in the process
answers a signal, if whet started the process. gdb reads native code, programs that aren't Python, and
core files.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.failure import Frame
from whet.core.observations.evidence import STACKS, Evidence
from whet.core.observations.stack import ProcessStack, ThreadStack
from whet.core.text.quantity import bounded
from whet.core.text.record import (
    MalformedRecordError,
    as_record,
    boolean,
    decoded,
    items_of,
    optional_integer,
    optional_text,
)
from whet.host.inspect.asyncio_tasks import NO_ANSWER, NOT_TOLD, tasks_of
from whet.host.inspect.lock_waits import waits_of
from whet.host.inspect.pipe_waits import pipe_waits_of
from whet.host.inspect.presence import name_of
from whet.host.inspect.stacks import (
    agent_folder_of,
    all_threads,
    find_spy,
    is_hidden,
    is_python,
    spied_frames,
)
from whet.host.kernel.blocked_calls import WRITE
from whet.host.process.process_facts import ProcessFacts, facts_of
from whet.host.process.process_tree import descendants_of
from whet.host.process.tool import ToolMissingError, call_tool

SECOND_LOOK_SECONDS = 1.0
_TOOL_SECONDS = 20.0
_CORE_SECONDS = 120.0
_AT_ONCE = 16
"""py-spy spends most of its time waiting for the kernel, so more at once than there are cores."""

_LOOP = "/asyncio/"
_CANNOT_BE_STOPPED = {"D", "T", "t"}
_FORBIDDEN = re.compile(r"permission|not permitted|ptrace|EPERM", re.IGNORECASE)
_GDB_THREAD = re.compile(
    r'^Thread \d+ \((?:Thread 0x[0-9a-f]+ )?\(?LWP (\d+)\)?\)?(?: "([^"]*)")?', re.MULTILINE
)
_GDB_FRAME = re.compile(
    r"^#\d+\s+(?:0x[0-9a-f]+ in )?([^\s(]+)[^\n]*?(?: (?:at|from) (\S+?)(?::(\d+))?)?$",
    re.MULTILINE,
)

FORBIDDEN = (
    "the system forbids reading its stacks (ptrace): run it with `whet run`, whose agent doesn't need ptrace;"
    " or use root (`sudo whet stacks`); or allow it: `sysctl kernel.yama.ptrace_scope=0`,"
    " in a container `--cap-add SYS_PTRACE`"
)


def stacks_of_tree(root: int, agent_folder: Path, *, looks_again: bool = True) -> Evidence:
    """Return the stacks of a process and of all below it."""
    tree = [root, *descendants_of(root)]
    processes = take_all(tree, agent_folder=agent_folder, looks_again=looks_again)
    data = json.dumps({"processes": [each.to_json() for each in processes]})
    detail = {"processes": len(processes)}
    return Evidence(kind=STACKS, detail=detail, data=data.encode("ascii"))


def take_all(
    pids: Sequence[int],
    *,
    agent_folder: Path | None = None,
    native: bool = False,
    looks_again: bool = True,
) -> tuple[ProcessStack, ...]:
    """Return the stacks of processes, in the order given; those that have ended are left out.

    Args:
        pids: which ones.
        agent_folder: where agents of a trial write their stacks; None: found on its own.
        native: frames of C and C++ too.
        looks_again: look a second time a second later, at those threads that have run meanwhile.
    """
    pipe_waits = pipe_waits_of(pids)

    def with_pipes(process: ProcessStack) -> ProcessStack:
        return replace(process, pipe_waits=pipe_waits.get(process.pid, ()))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        before = [
            facts for pid in pids if (facts := facts_of(pid)) is not None and facts.state != "Z"
        ]
        began = time.monotonic()

        def take(facts: ProcessFacts) -> ProcessStack | None:
            is_stopped = not any(wait.deed == WRITE for wait in pipe_waits.get(facts.pid, ()))
            return _take(facts, agent_folder, native=native, is_stopped=is_stopped)

        taken = list(pool.map(take, before))
        if not looks_again:
            return tuple(with_pipes(each) for each in taken if each is not None)
        time.sleep(max(0.0, SECOND_LOOK_SECONDS - (time.monotonic() - began)))
        seconds = time.monotonic() - began

        def again(each: tuple[ProcessFacts, ProcessStack | None]) -> ProcessStack | None:
            facts, first = each
            if first is None:
                return None
            return _again(facts, first, agent_folder, seconds, native=native)

        second = pool.map(again, zip(before, taken, strict=True))
        return tuple(with_pipes(each) for each in second if each is not None)


def _take(
    facts: ProcessFacts, agent_folder: Path | None, *, native: bool, is_stopped: bool = True
) -> ProcessStack | None:
    """Return the stacks of one process; None if it is gone.

    One that waits at a full pipe isn't stopped to be read: its call would end, and so the hang.
    """
    process = ProcessStack(
        pid=facts.pid,
        parent=facts.parent,
        command=facts.command,
        rank=facts.rank,
        name="" if agent_folder is None else name_of(facts.pid, agent_folder),
        state=facts.state,
        notes=_of_state(facts),
    )
    if is_hidden(facts.pid):
        threads, complaint = all_threads(facts.pid, agent_folder), FORBIDDEN
        if threads:
            return replace(process, engine="agent", threads=threads)
    elif is_python(facts.pid):
        threads, complaint = _spy(facts, native=native, is_stopped=is_stopped)
        if threads:
            process = replace(process, engine="py-spy", threads=threads)
            return _with_waits(process, agent_folder)
        answers = all_threads(facts.pid, agent_folder)
        if answers:
            process = replace(process, engine="agent", threads=answers)
            return _with_waits(process, agent_folder)
    else:
        threads, complaint = _gdb(facts) if native else ((), "")
        if threads:
            return replace(process, engine="gdb", threads=threads)
    now = facts_of(facts.pid)
    if now is None or now.state == "Z":
        return None if not complaint else replace(process, notes=("it ended during the sampling",))
    notes = (*process.notes, *([complaint] if complaint else []))
    if facts.waits_in and facts.state != "D" and not is_python(facts.pid):
        notes = (*notes, f"waits in {facts.waits_in} (kernel)")
    return replace(process, notes=notes)


def _with_waits(process: ProcessStack, agent_folder: Path | None) -> ProcessStack:
    """Return the same with who waits for whom in it: threads, and tasks or why they aren't known."""
    process = replace(process, waits=waits_of(process.pid, agent_folder))
    frames = [frame for thread in process.threads for frame in thread.frames]
    if not any(_LOOP in frame.path for frame in frames):
        return process
    tasks = tasks_of(process.pid, agent_folder)
    if tasks is not None:
        return replace(process, tasks=tasks)
    is_ours = (agent_folder or agent_folder_of(process.pid)) is not None
    note = NO_ANSWER if is_ours else NOT_TOLD
    return replace(process, notes=(*process.notes, note))


def _of_state(facts: ProcessFacts) -> tuple[str, ...]:
    if facts.state == "D":
        place = f" in {facts.waits_in}" if facts.waits_in else ""
        why = "no signal reaches it until that call returns; often a disk or a driver hangs"
        return (f"waits in the kernel{place} (state D): {why}",)
    if facts.state in {"T", "t"}:
        return ("is stopped, by a signal or a debugger",)
    return ()


def _again(
    before: ProcessFacts,
    first: ProcessStack,
    agent_folder: Path | None,
    seconds: float,
    *,
    native: bool,
) -> ProcessStack | None:
    """Return the stacks, with the threads that have moved in a second sample marked."""
    now = facts_of(before.pid)
    if now is None or now.state == "Z":
        return replace(first, notes=(*first.notes, "it ended during the sampling"))
    share = max(0.0, (now.cpu_seconds - before.cpu_seconds) / seconds)
    # A thread that was not on a processor stands where it stood; another look costs time.
    if now.switches == before.switches and now.switches:
        threads = tuple(replace(thread, has_moved=False) for thread in first.threads)
        return replace(first, threads=threads, cpu_share=share)
    second = _take(now, agent_folder, native=native)
    then = {} if second is None else {each.number: each for each in second.threads}
    threads = tuple(
        replace(thread, has_moved=_has_moved(thread, then[thread.number]))
        if thread.number in then
        else thread
        for thread in first.threads
    )
    return replace(first, threads=threads, cpu_share=share)


def _has_moved(before: ThreadStack, now: ThreadStack) -> bool:
    """Whether a thread stands elsewhere; one that runs is on another line at any moment."""
    if before.is_running or now.is_running:
        return [each.function for each in before.frames] != [each.function for each in now.frames]
    return before.frames != now.frames


def _spy(
    facts: ProcessFacts, *, native: bool, is_stopped: bool = True
) -> tuple[tuple[ThreadStack, ...], str]:
    program = find_spy()
    if program is None:
        return (), "py-spy is not installed: `pip install py-spy`"
    command = [program, "dump", "--json", "--pid", str(facts.pid)]
    if native:
        command.append("--native")
    elif facts.state != "S" or not is_stopped:
        # What runs is read while it runs: to stop what can't be stopped takes forever.
        command.append("--nonblocking")
    threads, complaint = _spied_by(command)
    threads.sort(key=lambda thread: thread.number != facts.pid)
    return tuple(threads), complaint


def _spied_by(command: Sequence[str]) -> tuple[list[ThreadStack], str]:
    """Return the threads that py-spy reports, or why it reports none."""
    try:
        answer = call_tool(command, timeout_seconds=_TOOL_SECONDS)
    except (ToolMissingError, OSError, TimeoutExpired) as error:
        return [], f"py-spy: {error}"
    complaint = answer.stderr.decode("utf-8", "replace")
    if answer.exit_code:
        first_line = complaint.strip().partition("\n")[0]
        return [], FORBIDDEN if _FORBIDDEN.search(complaint) else f"py-spy: {first_line}"
    try:
        threads = threads_in(answer.stdout)
    except MalformedRecordError as error:
        return [], f"py-spy: {error}"
    return threads, "" if threads else "py-spy: it has no Python threads (yet, or any longer)"


def threads_in(dump: bytes) -> list[ThreadStack]:
    """Return the threads in a dump of py-spy.

    Raises:
        MalformedRecordError: if it is no such dump.
    """
    return [
        ThreadStack(
            number=optional_integer(thread, "os_thread_id") or 0,
            name=optional_text(thread, "thread_name") or "",
            frames=spied_frames(thread),
            is_running=boolean(thread, "active"),
            holds_gil=boolean(thread, "owns_gil"),
        )
        for thread in (as_record(each, "thread") for each in items_of(decoded(dump)))
    ]


def _gdb(facts: ProcessFacts) -> tuple[tuple[ThreadStack, ...], str]:
    if shutil.which("gdb") is None:
        return (), "its native stack needs gdb: `apt-get install gdb`"
    if facts.state in _CANNOT_BE_STOPPED:
        return (), ""
    command = [*_GDB, "-p", str(facts.pid)]
    try:
        answer = call_tool(command, timeout_seconds=_TOOL_SECONDS)
    except (ToolMissingError, OSError, TimeoutExpired) as error:
        return (), f"gdb: {error}"
    report = answer.stdout.decode("utf-8", "replace")
    threads = parse_gdb(report)
    threads = tuple(sorted(threads, key=lambda thread: thread.number != facts.pid))
    if threads:
        return threads, ""
    complaint = answer.stderr.decode("utf-8", "replace")
    return (), FORBIDDEN if _FORBIDDEN.search(complaint) else f"gdb: {answer.complaint}"


_GDB = ("gdb", "-nx", "-q", "-batch", "-ex", "set pagination off", "-ex", "thread apply all bt")


def of_core(core: Path, program: str) -> tuple[ProcessStack, ...]:
    """Return what a core file tells: its Python threads by py-spy, all of it by gdb.

    Args:
        core: the file.
        program: the program that crashed, such as a Python interpreter.
    """
    return (_python_of_core(core), _native_of_core(core, program))


def _python_of_core(core: Path) -> ProcessStack:
    program = find_spy()
    if program is None:
        return ProcessStack(pid=0, engine="py-spy", notes=("py-spy is not installed",))
    threads, complaint = _spied_by([program, "dump", "--json", "--core", str(core)])
    notes = (complaint,) if complaint else ()
    return ProcessStack(pid=0, engine="py-spy", threads=tuple(threads), notes=notes)


def _native_of_core(core: Path, program: str) -> ProcessStack:
    threads: tuple[ThreadStack, ...] = ()
    try:
        answer = call_tool([*_GDB, program, str(core)], timeout_seconds=_CORE_SECONDS)
        threads = parse_gdb(answer.stdout.decode("utf-8", "replace"))
        complaint = "" if threads else f"gdb: {answer.complaint}"
    except ToolMissingError:
        complaint = "its native stack needs gdb: `apt-get install gdb`"
    except (OSError, TimeoutExpired) as error:
        complaint = f"gdb: {error}"
    notes = (complaint,) if complaint else ()
    return ProcessStack(pid=0, engine="gdb", threads=threads, notes=notes)


def parse_gdb(told: str) -> tuple[ThreadStack, ...]:
    """Return the threads in what `thread apply all bt` of gdb has written."""
    starts = list(_GDB_THREAD.finditer(told))
    threads: list[ThreadStack] = []
    ends = [*(each.start() for each in starts[1:]), len(told)]
    for start, end in zip(starts, ends, strict=False):
        part = told[start.end() : end]
        frames = [
            Frame(
                path=match[2] or "",
                line=bounded(match[3] or "0"),
                function=match[1],
                in_user_code=bool(match[3])
                and not (match[2] or "").startswith(("/usr", "./", "../")),
            )
            for match in _GDB_FRAME.finditer(part)
        ]
        name = start[2] or ""
        threads.append(
            ThreadStack(number=bounded(start[1]), name=name, frames=tuple(reversed(frames)))
        )
    return tuple(threads)


def core_pattern() -> str:
    """Return where the kernel puts core files, in words."""
    with suppress(OSError):
        pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern.startswith("|"):
            return (
                f"the kernel hands cores to `{pattern[1:]}` (`coredumpctl` or `apport` keeps them)"
            )
        where = pattern if os.path.isabs(pattern) else f"its folder, as `{pattern}`"
        return f"the kernel writes cores to {where}, if `ulimit -c` is not 0"
    return ""
