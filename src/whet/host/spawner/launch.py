"""From a forked process to a running program: session, terminal, folder, signals, exec."""

from __future__ import annotations

import errno
import marshal
import os
import time

from whet.agent.site.whet_stage.hiding.started import handed_on
from whet.host.process.process_tree import resident_bytes
from whet.host.spawner.guardian import be_told_of_parents_end

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from whet.host.limits.enforcer import Order
    from whet.host.process.channel import Failed
    from whet.host.spawner.namespace_setup import NamespaceSetup
    from whet.host.spawner.watching import Watching
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

_SIGNALS = signal.valid_signals()
_STAGE_VARIABLE = b"WHET_STAGE"  # as of `whet.host.trial.process_snapshots`
_SEARCH_PATH = b"/usr/local/bin:/usr/bin:/bin"  # where no PATH is set


class CannotStartError(Exception):
    """The program did not start.

    Attributes:
        reason: stage, error number and path, as it is sent to whet.
    """

    def __init__(self, reason: Failed) -> None:
        super().__init__(reason)
        self.reason = reason


class Started:
    """A program that runs.

    Attributes:
        pid: its number; also that of its session and its process group.
        at: `time.monotonic` just before its first instruction.
        forked_bytes: memory it held before that, as a copy of the process that forked it.
        namespace_setup: how it enters its sandbox; None: it has none.
    """

    def __init__(
        self, pid: int, at: float, forked_bytes: int, namespace_setup: NamespaceSetup | None = None
    ) -> None:
        self.pid = pid
        self.at = at
        self.forked_bytes = forked_bytes
        self.namespace_setup = namespace_setup

    @property
    def keeper(self) -> int:
        """The first process of its room, which is whet's own; 0: there is none."""
        return self.namespace_setup.keeper if self.namespace_setup is not None else 0


def start(
    argv: list[bytes],
    environment: dict[bytes, bytes],
    cwd: bytes,
    program_streams: tuple[Sequence[int], int, Callable[[int], None] | None],
    watching: Watching | None = None,
    *,
    steps: Sequence[Order] = (),
) -> Started:
    """Start a program in a session of its own and return once it runs.

    Args:
        argv: argument vector; the first word is looked up on the `PATH` of `environment`.
        environment: all of it.
        cwd: folder to start in; relative words are relative to it.
        program_streams: descriptors that become its standard input, output and error, which of them is its
            controlling terminal (-1: none), and what is called in the new process with its number
            just before it becomes the program: whatever that does to its parent comes later.
        watching: watches it; None: it isn't watched.
        steps: what it does to itself before it becomes the program (`whet.host.spawner.steps`).

    Raises:
        CannotStartError: if it can't be started.
    """
    namespace_setup = None
    if steps:
        from whet.host.spawner.namespace_setup import passage_for

        namespace_setup, steps = passage_for(steps)
    report, reported = os.pipe()  # closes itself when the program runs: PEP 446
    # A signal between fork and exec would run this process's own reaction in the child.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        pid = os.fork()
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(report)
        os.close(reported)
        raise CannotStartError(("fork", error.errno or 0, b"")) from error
    if pid == 0:
        _become(
            argv, environment, cwd, (*program_streams, steps, namespace_setup), reported, watching
        )
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    os.close(reported)
    if watching is not None:
        watching.adopt()
    told = _read_all(report)
    os.close(report)
    if namespace_setup is not None:
        pid, told = namespace_setup.arrived(pid, told)
    stamp, _, failure = told.partition(b"\n")
    if failure or not stamp:
        os.waitpid(pid, 0)
        if namespace_setup is not None:
            namespace_setup.close()
        raise CannotStartError(_reason(failure))
    at, forked_bytes = stamp.split()
    return Started(pid, int(at) / 1e9, int(forked_bytes), namespace_setup)


def _reason(packed: bytes) -> Failed:
    if not packed:
        return ("exec", errno.EAGAIN, b"")
    reason: Failed = marshal.loads(packed)
    return reason


def _read_all(descriptor: int) -> bytes:
    data = b""
    while part := os.read(descriptor, 65536):
        data += part
    return data


def _become(
    argv: list[bytes],
    environment: dict[bytes, bytes],
    cwd: bytes,
    program_streams: tuple[
        Sequence[int], int, Callable[[int], None] | None, Sequence[Order], NamespaceSetup | None
    ],
    reported: int,
    watching: Watching | None,
) -> NoReturn:
    """Turn this forked process into the program; report what stops it and exit."""
    streams, terminal, announce, steps, namespace_setup = program_streams
    spawner = os.getppid()
    try:
        if namespace_setup is not None:
            _move_in(namespace_setup, reported)
        else:
            _end_with(spawner)
        os.setsid()
        _take_streams(streams, terminal)
        _hear_signals_again()
        if steps:
            from whet.host.spawner.steps import take

            take(steps)
        failure: Failed
        try:
            os.chdir(cwd)
        except OSError as error:
            failure = ("cwd", error.errno or 0, cwd)
        else:
            if announce is not None:
                announce(os.getpid())  # before its calls are watched
            if watching is not None:
                _stage(environment, watching)
            stamp = f"{time.monotonic_ns()} {resident_bytes(os.getpid())}\n"
            os.write(reported, stamp.encode())
            failure = (
                _be_followed(namespace_setup)
                or _hold_calls(namespace_setup)
                or _execute(argv, environment)
            )
        if failure[0] == "cwd":
            os.write(reported, b"\n")
        os.write(reported, marshal.dumps(failure))
    except OSError as error:
        os.write(reported, b"\n" + marshal.dumps(("set-up", error.errno or 0, b"")))
    finally:
        os._exit(127)


def _end_with(spawner: int) -> None:
    """Let the kernel end this process when the spawner ends, even by SIGKILL."""
    if not be_told_of_parents_end(signal.SIGKILL, spawner):
        os._exit(127)


def _take_streams(streams: Sequence[int], terminal: int) -> None:
    if terminal >= 0:
        import fcntl
        import termios

        fcntl.ioctl(streams[terminal], termios.TIOCSCTTY, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)


def _move_in(namespace_setup: NamespaceSetup, reported: int) -> None:
    """Enter the room, or report why that can't be, and exit."""
    from whet.host.spawner.room_entry import RoomRefusedError

    try:
        namespace_setup.enter(reported)
    except RoomRefusedError as error:
        failure = (error.stage, error.number, error.words.encode("utf-8", "replace"))
        os.write(reported, b"\n" + marshal.dumps(failure))
        os._exit(127)


def _hold_calls(namespace_setup: NamespaceSetup | None) -> Failed | None:
    """Have calls held, as the last thing before the program; return why that can't be."""
    try:
        if namespace_setup is not None:
            namespace_setup.hold_calls()
    except OSError as error:
        return ("room", error.errno or 0, b"holding system calls by seccomp, for `--fail`")
    return None


def _be_followed(namespace_setup: NamespaceSetup | None) -> Failed | None:
    """Wait until whet follows the calls of this process; return why that can't be."""
    try:
        if namespace_setup is not None:
            namespace_setup.begin_to_be_followed()
    except OSError as error:
        return ("follow", error.errno or 0, b"")
    return None


def _hear_signals_again() -> None:
    for number in _SIGNALS:
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _stage(environment: dict[bytes, bytes], watching: Watching) -> None:
    """Have this process watched, and tell it who is to leave frozen copies: no child of it."""
    stage = environment.pop(_STAGE_VARIABLE, b"")
    if watching.install() and stage:  # without the observer, there are no copies
        own = " ".join([str(os.getpid()), *handed_on()])
        environment[_STAGE_VARIABLE] = b"%s\n%s" % (own.encode(), stage)


def _execute(argv: list[bytes], environment: dict[bytes, bytes]) -> Failed:
    """Become the program; return only if that fails, with the reason."""
    name = argv[0]
    places = [name]
    if b"/" not in name:
        folders = environment.get(b"PATH", _SEARCH_PATH).split(b":")
        places = [os.path.join(folder or b".", name) for folder in folders]
    failure: Failed = ("exec", errno.ENOENT, name)
    for place in places:
        try:
            os.execve(place, argv, environment)
        except (FileNotFoundError, NotADirectoryError):
            if os.path.isfile(place):  # the program is there: what its first line names isn't
                return ("interpreter", errno.ENOENT, place)
        except OSError as error:
            if len(places) > 1 and os.path.isdir(place):
                continue  # a folder of that name on PATH: every shell looks on
            failure = ("exec", error.errno or 0, place)
            if error.errno != errno.EACCES:
                return failure
    return failure
