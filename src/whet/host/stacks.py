"""The Python stack of a process that whet is about to kill, sampled from outside."""

import itertools
import json
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.failure import Frame
from whet.core.record import JsonObject, as_record, integer, optional_integer, records, text
from whet.host.process_tree import descendants_of
from whet.host.slot import Stacks

SAMPLES = 5
SAMPLE_SECONDS = 0.03
AGENT_SIGNAL = 62
"""What the agent listens to. A real-time signal: nothing else sends one by itself."""

_ANSWER_SECONDS = 0.25
_TOOL_SECONDS = 5.0
_ALL_SECONDS = 2.0
_FRAME = re.compile(r'  File "(?P<path>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_LIBRARY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\](?:python|pypy)\d[\d.]*t?[/\\]"
    r"|[/\\]python\d+\.zip[/\\]|^<frozen "
)
_AGENT = re.compile(r"[/\\]whet[/\\]agent[/\\]")
_PYTHON = re.compile(r"(?:^|[/\\])(?:lib)?(?:python|pypy)\d*[\d.]*t?(?:\.so[\d.]*)?$")


@dataclass(frozen=True, slots=True)
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
    for pid in tree:
        agent = _agent_in(pid, agent_folder)
        if agent is not None:
            samples = _ask(agent)
            if samples:
                return Stacks(samples=samples)
    for pid in tree:
        if _is_python(pid):
            return _spy(pid)
    return Stacks(notes=("no Python stack was taken before the kill: no Python process was there",))


def parse_report(report: str) -> tuple[Frame, ...]:
    """Return the frames, innermost last, of what `faulthandler` wrote for one thread."""
    frames = [
        Frame(
            path=_unescaped(found["path"]),
            line=int(found["line"]) if found["line"].isdigit() else 0,
            function=_unescaped(found["function"]),
            in_user_code=is_user_code(found["path"]),
        )
        for line in report.splitlines()
        if (found := _FRAME.fullmatch(line)) is not None
    ]
    return _without_agent(tuple(reversed(frames)))


def first_report(pid: int, agent_folder: Path) -> tuple[Frame, ...]:
    """Return the first stack that a process has written, innermost last; nothing if it is cut."""
    try:
        told = (agent_folder / str(pid)).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ()
    first = "\n".join(itertools.takewhile(lambda line: line, told.splitlines()))
    _, *others = re.split(r"^(?:Current thread|Stack) ", first, flags=re.MULTILINE)
    frames = parse_report(others[0]) if others else ()
    return () if others and "  ...\n" in f"{others[0]}\n" else frames


def _ask(agent: _Agent) -> tuple[tuple[Frame, ...], ...]:
    samples: list[tuple[Frame, ...]] = []
    for number in range(SAMPLES):
        if number:
            time.sleep(SAMPLE_SECONDS)
        # The program may have closed or replaced everything since the last look.
        if not _is_listening(agent.pid) or _report_of(agent.pid, agent.report.parent) is None:
            break
        frames = _one_answer(agent)
        if not frames:
            break
        samples.append(frames)
    return tuple(samples)


def _one_answer(agent: _Agent) -> tuple[Frame, ...]:
    """Send the signal once and return what it brings; nothing if the process is stopped."""
    before = _size(agent.report)
    try:
        os.kill(agent.pid, AGENT_SIGNAL)
    except OSError:
        return ()
    gives_up_at = time.monotonic() + _ANSWER_SECONDS
    answer = b""
    while time.monotonic() < gives_up_at and not _is_whole(answer):
        time.sleep(0.001)
        with open(agent.report, "rb") as file:
            file.seek(before)
            answer = file.read()
    # A stack that ends elsewhere, as that of an embedded Python, is what came in all that time.
    return parse_report(answer.decode("ascii", "replace"))


def _is_whole(answer: bytes) -> bool:
    """Whether the outermost frame is there, which is written last.

    Below the main script of a program that leaves frozen copies stand frames of the agent.
    """
    if answer.endswith((b" in <module>\n", b" in _run_module_as_main\n")):
        return True
    last = answer[answer.rfind(b"\n", 0, -1) + 1 :].decode("ascii", "replace")
    return last.endswith("\n") and _AGENT.search(last) is not None


def _agent_in(pid: int, folder: Path) -> _Agent | None:
    report = _report_of(pid, folder) if _is_listening(pid) else None
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


def _is_listening(pid: int) -> bool:
    """Whether the main thread would run a handler of its own for the agent's signal now."""
    bit = 1 << (AGENT_SIGNAL - 1)
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


def _is_python(pid: int) -> bool:
    with suppress(OSError):
        if _PYTHON.search(os.readlink(f"/proc/{pid}/exe")):
            return True
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            return any(_PYTHON.search(line.rstrip()) for line in file if "libpython" in line)
    return False


def _spy(pid: int) -> Stacks:
    from subprocess import TimeoutExpired

    from whet.host.tool import ToolMissingError, call_tool

    program = _find_spy()
    if program is None:
        note = "no Python stack was taken before the kill: the agent was not in it; install py-spy"
        return Stacks(notes=(note,))
    samples: list[tuple[Frame, ...]] = []
    complaint = ""
    began = time.monotonic()
    for _ in range(SAMPLES):
        # Not blocking: a process that is stopped already cannot be stopped once more.
        command = [program, "dump", "--json", "--nonblocking", "--pid", str(pid)]
        try:
            answer = call_tool(command, timeout_seconds=_TOOL_SECONDS)
        except (ToolMissingError, OSError, TimeoutExpired) as error:
            complaint = str(error)
            break
        frames = _main_thread(answer.stdout, pid) if answer.exit_code == 0 else ()
        complaint = "" if frames else answer.complaint
        if frames:
            samples.append(frames)
        if time.monotonic() - began > _ALL_SECONDS:
            break
        time.sleep(SAMPLE_SECONDS)
    if samples:
        return Stacks(samples=tuple(samples))
    return Stacks(notes=(f"no Python stack was taken before the kill: py-spy: {complaint}",))


def _main_thread(answer: bytes, pid: int) -> tuple[Frame, ...]:
    with suppress(ValueError):
        threads = [as_record(item, "thread") for item in json.loads(answer)]
        for thread in threads:
            if optional_integer(thread, "os_thread_id") == pid or len(threads) == 1:
                return tuple(_spied(frame) for frame in reversed(records(thread, "frames")))
    return ()


def _spied(frame: JsonObject) -> Frame:
    path = text(frame, "filename")
    return Frame(
        path=path,
        line=integer(frame, "line"),
        function=text(frame, "name"),
        in_user_code=is_user_code(path),
    )


def _find_spy() -> str | None:
    folders = [os.path.dirname(sys.executable), *os.get_exec_path()]
    for folder in folders:
        path = os.path.join(folder, "py-spy")
        if os.access(path, os.X_OK):
            return path
    return None


def is_user_code(path: str) -> bool:
    return _LIBRARY.search(path) is None and _AGENT.search(path) is None


def _without_agent(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    return tuple(frame for frame in frames if _AGENT.search(frame.path) is None)


def _unescaped(name: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
