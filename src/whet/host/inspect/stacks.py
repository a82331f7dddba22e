"""The Python stack of a process that whet is about to kill, sampled from outside."""

import itertools
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from whet.agent.site.whet_installed import is_library
from whet.core.failure import Frame
from whet.core.observations.stack import ThreadStack
from whet.core.text.quantity import bounded
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    items_of,
    optional_integer,
    records,
    text,
)
from whet.core.value_class import value_class
from whet.host.files.agent_files import report_at
from whet.host.inspect.samples import Stacks
from whet.host.process.process_tree import descendants_of

SAMPLES = 5
SAMPLE_SECONDS = 0.03
AGENT_SIGNAL = 62
"""The signal that the agent listens to: a real-time signal, which nothing else sends on its own."""

ALL_THREADS_SIGNAL = 63
"""On this signal the agent reports all threads."""

_ANSWER_SECONDS = 0.25
_TOLD_SECONDS = 2.0
_CRASHED = "Fatal Python error: "
_TOLD_END = b"\nend\n"
_TOOL_SECONDS = 5.0
_ALL_SECONDS = 2.0
_FRAME = re.compile(r'  File "(?P<path>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_NATIVE = re.compile(r"\.so(?:\.\d+)*$")
_AGENT = re.compile(r"[/\\]whet[/\\]agent[/\\]")
_PYTHON = re.compile(r"(?:^|[/\\])(?:lib)?(?:python|pypy)\d*[\d.]*t?(?:\.so[\d.]*)?$")


@value_class
class _Agent:
    """Where the agent in a process writes its stack to."""

    pid: int
    report: Path


def take_stacks(root: int, agent_folder: Path) -> Stacks:
    """Return samples of the main thread of a command, or of the first Python process below it.

    The agent inside is asked first: it writes its stack when it gets a signal, also when the
    main thread waits in C code. Without one (`python -I`, another folder of files) py-spy reads
    the process's memory, if it is installed and the system allows it.
    """
    tree = [root, *descendants_of(root)]
    if _is_held(root):
        return _spy(root, samples=1)  # it doesn't move, and can't answer
    for pid in tree:
        agent = _agent_in(pid, agent_folder)
        if agent is not None:
            samples = _ask(agent)
            if samples:
                return Stacks(samples=samples)
    for pid in tree:
        if is_python(pid):
            return _spy(pid)
    return Stacks(notes=("no Python stack from before the kill: there was no Python process",))


def parse_report(report: str) -> tuple[Frame, ...]:
    """Return the frames, innermost last, of what `faulthandler` wrote for one thread."""
    frames = [
        Frame(
            path=unescaped(match["path"]),
            line=bounded(match["line"]) if match["line"].isdigit() else 0,
            function=unescaped(match["function"]),
            in_user_code=is_user_code(match["path"]),
        )
        for line in report.splitlines()
        if (match := _FRAME.fullmatch(line)) is not None
    ]
    return tuple(frame for frame in reversed(frames) if _AGENT.search(frame.path) is None)


def all_threads(pid: int, agent_folder: Path | None) -> tuple[ThreadStack, ...]:
    """Return the stacks of all threads as the agent in a process tells them; none if it doesn't.

    Args:
        pid: the process.
        agent_folder: where it writes; None: where its environment says.
    """
    folder = agent_folder or agent_folder_of(pid)
    report = None if folder is None else _report_of(pid, folder)
    if report is None or not is_listening(pid, ALL_THREADS_SIGNAL):
        return ()
    answer = _answer(_Agent(pid, report), ALL_THREADS_SIGNAL, is_whole=_is_over)
    return tuple(_threads(answer.decode("ascii", "replace"), pid))


def agent_folder_of(pid: int) -> Path | None:
    """Return where the agent in a process should write; None: nowhere."""
    with suppress(OSError):
        for pair in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if pair.startswith(b"WHET_AGENT="):
                return Path(os.fsdecode(pair.partition(b"=")[2]))
    return None


def told_at(number: int, pid: int, agent_folder: Path | None, kind: str) -> str | None:
    """Return what the main thread of a process writes when it gets a signal; None: nothing.

    Python loses a signal that comes just before a blocking call until something ends the call, so
    a process that doesn't answer is asked again.

    Args:
        number: the signal.
        pid: the process.
        agent_folder: where its agent writes; None: where its environment says.
        kind: the end of the file's name.
    """
    folder = agent_folder or agent_folder_of(pid)
    if folder is None or not is_listening(pid, number):
        return None
    path = folder / f"{pid}.{kind}"
    before = _size(path)
    asks_at = time.monotonic()
    gives_up_at = asks_at + _TOLD_SECONDS
    answer = b""
    while time.monotonic() < gives_up_at:
        if time.monotonic() >= asks_at and is_listening(pid, number):
            try:
                os.kill(pid, number)
            except OSError:
                return None
            asks_at = time.monotonic() + _ANSWER_SECONDS
        with suppress(OSError):
            answer = report_at(path, start=before)
        if (b"\n" + answer).endswith(_TOLD_END):
            first, end, _ = (b"\n" + answer).partition(_TOLD_END)
            return (first + end)[1:].decode("ascii", "replace")
        time.sleep(0.002)
    return None


def _threads(report: str, pid: int) -> Iterator[ThreadStack]:
    """Yield the threads of a report, the main one first; `faulthandler` writes it last."""
    parts = re.split(
        r"^(?:Current thread|Thread) (0x[0-9a-f]+)[^\n]*\n", report, flags=re.MULTILINE
    )
    for place, frames in enumerate(reversed(parts[2::2])):
        stack = parse_report(frames)
        if stack:
            yield ThreadStack(number=pid if place == 0 else 0, frames=stack)


def _is_over(answer: bytes) -> bool:
    # It ends with the main thread, and the main thread with its outermost frame.
    return answer.endswith(b"\n") and _is_whole(answer)


def crashes_in(agent_folder: Path) -> Iterator[tuple[Path, str, tuple[Frame, ...]]]:
    """Yield what `faulthandler` wrote when a signal ended a process: its file, what it was, the stack."""
    for path in sorted(agent_folder.glob("[0-9]*"), key=lambda path: path.name.zfill(9)):
        if path.name.isdigit():
            report = _report(path)
            what, crashed, stack = report.partition(_CRASHED)[2].partition("\n")
            if crashed:
                yield path, what, parse_report(stack)


def first_report(pid: int, agent_folder: Path) -> tuple[Frame, ...]:
    """Return the first stack that a process has written, innermost last; nothing if it is cut."""
    report = _report(agent_folder / str(pid))
    first = "\n".join(itertools.takewhile(lambda line: line, report.splitlines()))
    _, *others = re.split(r"^(?:Current thread|Stack) ", first, flags=re.MULTILINE)
    frames = parse_report(others[0]) if others else ()
    return () if others and "  ...\n" in f"{others[0]}\n" else frames


def _ask(agent: _Agent) -> tuple[tuple[Frame, ...], ...]:
    samples: list[tuple[Frame, ...]] = []
    for number in range(SAMPLES):
        if number:
            time.sleep(SAMPLE_SECONDS)
        # The program may have closed or replaced everything since the last look.
        if not is_listening(agent.pid) or _report_of(agent.pid, agent.report.parent) is None:
            break
        frames = _one_answer(agent)
        if not frames:
            break
        samples.append(frames)
    return tuple(samples)


def _one_answer(agent: _Agent) -> tuple[Frame, ...]:
    # A stack that ends elsewhere, as that of an embedded Python, is what came in all that time.
    return parse_report(_answer(agent, AGENT_SIGNAL, _is_whole).decode("ascii", "replace"))


def _answer(agent: _Agent, number: int, is_whole: Callable[[bytes], bool]) -> bytes:
    """Send a signal once and return what it brings; nothing if the process is stopped."""
    before = _size(agent.report)
    try:
        os.kill(agent.pid, number)
    except OSError:
        return b""
    gives_up_at = time.monotonic() + _ANSWER_SECONDS
    answer = b""
    while time.monotonic() < gives_up_at and not is_whole(answer):
        time.sleep(0.001)
        with suppress(OSError):
            answer = report_at(agent.report, start=before)
    return answer


def _report(path: Path) -> str:
    with suppress(OSError):
        return report_at(path).decode("ascii", "replace")
    return ""


def _is_whole(answer: bytes) -> bool:
    """Whether the outermost frame is there, which is written last.

    Below the main script of a program that leaves frozen copies stand frames of the agent.
    """
    if answer.endswith((b" in <module>\n", b" in _run_module_as_main\n")):
        return True
    last = answer[answer.rfind(b"\n", 0, -1) + 1 :].decode("ascii", "replace")
    return last.endswith("\n") and _AGENT.search(last) is not None


def _agent_in(pid: int, folder: Path) -> _Agent | None:
    report = _report_of(pid, folder) if is_listening(pid) else None
    return None if report is None else _Agent(pid, report)


def _report_of(pid: int, folder: Path) -> Path | None:
    """Return the report that a process holds open; a forked one shares its parent's."""
    here = f"{os.path.realpath(folder)}/"
    with suppress(OSError):
        for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int, reverse=True):
            with suppress(OSError):
                target = os.readlink(f"/proc/{pid}/fd/{name}")
                if target.startswith(here) and os.path.exists(target):
                    return Path(target)
    return None


def is_listening(pid: int, number: int = AGENT_SIGNAL) -> bool:
    """Whether the main thread would run a handler of its own for the agent's signal now."""
    bit = 1 << (number - 1)
    masks: dict[str, int] = {}
    try:
        with open(f"/proc/{pid}/task/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name == "State" and value.split()[0] in {"T", "t", "Z", "X"}:
                    return False
                if name in {"SigBlk", "SigCgt"}:
                    masks[name] = int(value, 16)
    except (OSError, ValueError):
        return False
    return bool(masks.get("SigCgt", 0) & bit) and not masks.get("SigBlk", 0) & bit


def _is_held(pid: int) -> bool:
    """Whether a process is stopped, or waits in the kernel, as one does for which memory is out."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read(1024)
    except OSError:
        return False
    return line[line.rfind(b")") + 2 :][:1] in {b"D", b"T", b"t"} and is_python(pid)


def is_hidden(pid: int) -> bool:
    """Whether the system doesn't even tell what a process runs: one may not ptrace it."""
    try:
        os.readlink(f"/proc/{pid}/exe")
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def is_python(pid: int) -> bool:
    """Whether a process is a Python interpreter, or has one in it."""
    with suppress(OSError):
        if _PYTHON.search(os.readlink(f"/proc/{pid}/exe")):
            return True
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            return any(_PYTHON.search(line.rstrip()) for line in file if "libpython" in line)
    return False


def _spy(pid: int, samples: int = SAMPLES) -> Stacks:
    from subprocess import TimeoutExpired

    from whet.host.process.tool import ToolMissingError, call_tool

    program = find_spy()
    if program is None:
        note = "no Python stack from before the kill: whet's agent wasn't in the process; install py-spy"
        return Stacks(notes=(note,))
    rounds: list[tuple[Frame, ...]] = []
    complaint = ""
    began = time.monotonic()
    for number in range(samples):
        if number:
            time.sleep(SAMPLE_SECONDS)
        # Not blocking: a process that is stopped already can't be stopped once more.
        command = [program, "dump", "--json", "--nonblocking", "--pid", str(pid)]
        try:
            answer = call_tool(command, timeout_seconds=_TOOL_SECONDS)
        except (ToolMissingError, OSError, TimeoutExpired) as error:
            complaint = str(error)
            break
        frames = spied_thread(answer.stdout, pid) if answer.exit_code == 0 else ()
        complaint = "" if frames else answer.complaint
        if frames:
            rounds.append(frames)
        if time.monotonic() - began > _ALL_SECONDS:
            break
    if rounds:
        return Stacks(samples=tuple(rounds))
    return Stacks(notes=(f"no Python stack from before the kill: py-spy: {complaint}",))


def spied_thread(answer: bytes, number: int) -> tuple[Frame, ...]:
    """Return the frames of one thread in what py-spy answers, innermost last; of the only one, too."""
    with suppress(MalformedRecordError):
        threads = [as_record(item, "thread") for item in items_of(decoded(answer))]
        for thread in threads:
            if optional_integer(thread, "os_thread_id") == number or len(threads) == 1:
                return spied_frames(thread)
    return ()


def spied_frames(thread: JsonObject) -> tuple[Frame, ...]:
    """Return the frames of a thread as py-spy reports them, innermost last."""
    stack = (_spied(frame) for frame in reversed(records(thread, "frames")))
    # From Python 3.13 on the interpreter itself has a frame where it calls an `__init__`.
    return tuple(frame for frame in stack if frame.line or frame.path != frame.function)


def _spied(frame: JsonObject) -> Frame:
    path = text(frame, "filename")
    return Frame(
        path=path,
        line=integer(frame, "line"),
        function=text(frame, "name"),
        in_user_code=is_user_code(path) and _NATIVE.search(path) is None,
    )


def find_spy() -> str | None:
    """Return the path of py-spy, preferably the one next to whet."""
    folders = [os.path.dirname(sys.executable), *os.get_exec_path()]
    for folder in folders:
        path = os.path.join(folder, "py-spy")
        if os.access(path, os.X_OK):
            return path
    return None


def is_user_code(path: str) -> bool:
    """Whether a file is neither of a library nor of the agent."""
    return _AGENT.search(path) is None and not is_library(path)


def unescaped(name: str) -> str:
    """Return a name that was written in ASCII as it is."""
    return _ESCAPE.sub(_character, name)


def _character(found: "re.Match[str]") -> str:
    code = int(found[1] or found[2] or found[3], 16)
    return chr(code) if code <= sys.maxunicode else found[0]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
