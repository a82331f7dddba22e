"""A whet that is loaded already, forked for each command: its start is paid once for all tests.

What comes of a command is what `python -m whet` makes of it, but for the start of the interpreter.
"""

import gc
import importlib
import marshal
import os
import pkgutil
import select
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from operator import attrgetter
from threading import Thread

import whet
from whet.report.pages import page_renderer

_STREAMS = 3
_LENGTH_BYTES = 8
_MOST_DESCRIPTORS = 64
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_")


class LoadedWhet:
    """The process that forks them; it ends with this one."""

    def __init__(self) -> None:
        here, there = socket.socketpair()
        with there:
            subprocess.run(
                [sys.executable, __file__, str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                check=True,
            )
        self._line = here
        here.recv(1)  # it has become what it will be called as long as it lives
        self._environment = _of_interpreter(dict(os.environ))

    def can_run(self, environment: dict[str, str]) -> bool:
        """Whether an interpreter that starts with these variables is like the one that is there."""
        return _of_interpreter(environment) == self._environment

    def run(
        self, words: tuple[str, ...], cwd: str, environment: dict[str, str], stdin: bytes, wait: int
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit code as `subprocess` has it, and its output."""
        mine, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in range(_STREAMS)]
        body = marshal.dumps((list(words), cwd, environment))
        child = [pipes[0][0], pipes[1][1], pipes[2][1]]
        with theirs:
            head = len(body).to_bytes(_LENGTH_BYTES, "little")
            socket.send_fds(self._line, [head], [*child, theirs.fileno()])
            self._line.sendall(body)
        for each in child:
            os.close(each)
        said: dict[int, bytes] = {}

        def listen(number: int) -> None:
            said[number] = _read(pipes[number][0])

        threads = [
            Thread(target=_write, args=(pipes[0][1], stdin)),
            *(Thread(target=listen, args=(number,)) for number in (1, 2)),
        ]
        with mine:
            mine.settimeout(wait)
            for thread in threads:
                thread.start()
            status = int.from_bytes(mine.recv(_LENGTH_BYTES), "little")
        for thread in threads:
            thread.join(wait)
        return os.waitstatus_to_exitcode(status), said[1], said[2]

    def close(self) -> None:
        """End it."""
        self._line.shutdown(socket.SHUT_WR)
        self._line.recv(1)  # nothing, when it has ended
        self._line.close()


@cache
def loaded_whet() -> LoadedWhet:
    """Return the one of this process."""
    return LoadedWhet()


def _of_interpreter(environment: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if k.startswith(_OF_THE_INTERPRETER)}


def _write(descriptor: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(descriptor, "wb") as file:
        file.write(data)


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def _serve(line: socket.socket) -> None:
    """Fork a whet for each message until there is nobody to ask for one."""
    line.sendall(b".")
    for module in pkgutil.walk_packages(whet.__path__, "whet."):
        if not module.name.startswith(("whet.agent", "whet.__main__")):
            importlib.import_module(module.name)
    _compile_what_waits()
    gc.collect()
    gc.freeze()
    poll = select.poll()
    poll.register(line, select.POLLIN)
    running: dict[int, tuple[int, int]] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != line.fileno():
                poll.unregister(descriptor)
                os.close(descriptor)
                _answer_for(*running.pop(descriptor))
                continue
            head, descriptors, _, _ = socket.recv_fds(line, _LENGTH_BYTES, _MOST_DESCRIPTORS)
            if not head:
                return
            body = line.recv(int.from_bytes(head, "little"), socket.MSG_WAITALL)
            pid, reply = _begin(body, descriptors)
            ended = os.pidfd_open(pid)
            running[ended] = pid, reply
            poll.register(ended, select.POLLIN)


def _compile_what_waits() -> None:
    """Compile what each whet would compile when it first needs it."""
    for each in gc.get_objects():
        if isinstance(each, type) and is_dataclass(each):
            attrgetter("__init__")(each)
    for template in ("report.md.jinja", "report.html.jinja"):
        page_renderer(template)


def _begin(body: bytes, descriptors: list[int]) -> tuple[int, int]:
    """Fork a whet; return its number, and where its end is to be told."""
    *streams, reply = descriptors
    pid = os.fork()
    if pid == 0:
        try:
            _become_whet(body, streams)
        except BaseException:  # noqa: BLE001 - as an interpreter does it
            traceback.print_exc()
        os._exit(1)
    for each in streams:
        os.close(each)
    return pid, reply


def _answer_for(pid: int, reply: int) -> None:
    status = os.waitpid(pid, 0)[1]
    with suppress(OSError):
        os.write(reply, status.to_bytes(_LENGTH_BYTES, "little"))
    os.close(reply)


def _become_whet(body: bytes, streams: list[int]) -> None:
    words, cwd, environment = marshal.loads(body)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(_STREAMS, _MOST_DESCRIPTORS)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = ["whet", *words]
    sys.stdin = os.fdopen(0, encoding=sys.stdin.encoding, errors=sys.stdin.errors)
    sys.stdout = os.fdopen(1, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)
    sys.stderr = os.fdopen(
        2, "w", encoding=sys.stderr.encoding, errors=sys.stderr.errors, buffering=1
    )
    from whet.__main__ import main

    main()


if __name__ == "__main__":
    if os.fork() == 0:
        # Nobody's child: tests look whether all that they have started is gone.
        os.setsid()
        _serve(socket.socket(fileno=int(sys.argv[1])))
