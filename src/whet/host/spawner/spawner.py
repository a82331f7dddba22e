"""A small process next to whet that runs the trials of one slot and owns all processes that they start.

It is the *subreaper* of these processes (prctl(2), PR_SET_CHILD_SUBREAPER): a daemon that forks twice and
creates its own session becomes its child. So each process belongs to exactly one trial, and none is left
when the trial ends. It has one thread and little memory, so a fork costs 1 ms. When its socket closes,
whet is gone: it kills its tree and exits. It imports as little as it can, because it starts while whet
itself starts.

It also keeps the frozen copies of a program from which a later trial resumes
(`whet.host.spawner.frozen`): only they outlive a trial.

Nine kinds of message come in: `run`, with descriptors; `signal`; `kill`; `fell`, to kill only one
process; `on`, to let a program continue after its copy; `go` or `stop`, whether a copy is still usable
after the reset steps; `drop`, to end a copy; `ahead`, to prepare one in advance.
Sixteen go out: `starting`; `started`; `reset`, when the reset steps are done and have left no process;
`settled`, after them; `resuming`; `over`, for a reached limit; `full`, when one process dies of one;
`snapshot`; `hindered`, why there was none at a place; `halted`, why there can be none at all;
`did`, an effect that prevents a repetition; `looked`; `ended`; `failed`; `refused`; `fault`.
`whet.host.process.channel` defines their fields.
"""

import os
import select
import time

from whet.host.process.channel import GONE, UNFOLLOWED, Channel, as_number
from whet.host.process.messages import Ended, Exit, Guard, Noted, Run, Taken, as_run
from whet.host.process.process_tree import (
    children_of,
    descendants_of,
    group_of,
    queued_seconds_at_end,
    resident_bytes,
)
from whet.host.spawner.frozen import FrozenCopies
from whet.host.spawner.gauge import Gauge
from whet.host.spawner.guardian import PARENT_IS_GONE, become_reaper
from whet.host.spawner.launch import CannotStartError, Started, start
from whet.host.spawner.out_of_memory_killer import FELLED, HELD
from whet.host.spawner.tethers import Tethers

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from types import FrameType

    from whet.host.spawner.watches import Watch
    from whet.host.spawner.watching import Watching
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

_PATIENCE_SECONDS = 5.0  # a killed process that still lives hangs in the kernel (state D)
_FIRST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 0.005, 0.1
_LOOK_SHARE = 300  # looking at memory may take 1/300 of the time
_TETHER_SHARE, _TETHER_GROWTH = 50, 1.05  # most groups are made early
_LONGEST_UNTETHERED_SECONDS = 0.02  # a group is made within a millisecond of its first process
_FORK_SLACK_BYTES = 2 << 20
_MOST_EXITS = 1000
_PYCACHE_VARIABLE = b"WHET_PYCACHE"  # as of `whet.host.trial.workplace`
_STRAYS = "a detached process is running"
_CANNOT_SEE = "whet can't observe here what programs read"
_ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})


class _WhetIsGoneError(Exception):
    """The socket closed, or the parent of this process has ended."""


class _Tree:
    """All processes below this one, for one trial: waits for them, measures and kills them."""

    def __init__(self, channel: Channel, woken: int, copies: FrozenCopies) -> None:
        self._channel = channel
        self._copies = copies
        self._woken = woken
        self._poll = select.poll()
        self._poll.register(channel.descriptor, select.POLLIN)
        self._poll.register(woken, select.POLLIN)
        if copies.descriptor >= 0:
            self._poll.register(copies.descriptor, select.POLLIN)
        self._root: Started | None = None
        self._root_statuses: list[int] = []
        self._command: Started | None = None
        self.others: list[Exit] = []
        self.cpu_seconds = 0.0
        self.peak_bytes = 0
        self.queued_seconds = 0.0
        self.was_killed = False
        self.was_told_to_end = False
        self.stubborn: list[int] = []
        self.noted: list[Noted] = []
        self.gauge = Gauge()
        self._watches: list[Watch] = []
        self._tethers = Tethers()
        self._tether_pause = self._tether_at = 0.0
        self._over_at = 0.0

    def keep(self, watches: "list[Watch]") -> None:
        """Look at the limits of the command too, from now on."""
        self._watches = watches
        for each in watches:
            if each.descriptor >= 0:
                self._poll.register(each.descriptor, select.POLLIN)

    def begin_to_watch(self, command: int) -> None:
        """The command runs: what is to be done to its limits then."""
        self.gauge = Gauge()
        for each in self._watches:
            each.begin(command)

    def wait_for(self, root: Started, *, is_command: bool) -> "int | None":
        """Wait for a process of the tree and obey whet meanwhile.

        Returns:
            its wait status; None if it was killed and doesn't go away.
        """
        self._root = root
        self._tethers.hold([root.pid])
        self._tether_pause = self._tether_at = _FIRST_LOOK_SECONDS
        self._root_statuses.clear()
        self._command = root if is_command else None
        pause, killed_at = _FIRST_LOOK_SECONDS, 0.0
        look_at = time.monotonic() + pause
        while True:
            self._reap(were_left_behind=False)
            if self._root_statuses:
                return self._root_statuses[0]
            if is_command and not self.was_killed and self._is_all_but_over(root):
                return self._root_statuses[0]
            if self.was_killed:
                self.kill()
                killed_at = killed_at or time.monotonic()
                if time.monotonic() - killed_at > _PATIENCE_SECONDS:
                    return None
            self._wait_and_obey(root.pid, min(pause, self._tether_pause))
            self._tether()
            # Not before the first pause: what a short run holds the kernel says at its end.
            if is_command and not self.was_killed and time.monotonic() >= look_at:
                pause = max(pause, _LOOK_SHARE * self._look_at_memory())
                pause = min((pause, *(each.pause_seconds() for each in self._watches)))
                look_at = time.monotonic() + pause
            pause = min(pause * 1.5, _LONGEST_LOOK_SECONDS)

    def _tether(self) -> None:
        """Have the kernel end the groups that the program has made, too."""
        began = time.monotonic()
        if began >= self._tether_at:
            self._tethers.hold(self._pids())
            now = time.monotonic()
            pause = min(self._tether_pause * _TETHER_GROWTH, _LONGEST_UNTETHERED_SECONDS)
            pause = max(pause, _TETHER_SHARE * (now - began))  # where there are many processes
            self._tether_pause = min(pause, _LONGEST_LOOK_SECONDS)
            self._tether_at = now + self._tether_pause

    def _is_all_but_over(self, command: Started) -> bool:
        """Whether the command has done all that it ever will, and nothing else is left."""
        leaving = self._copies.leaving(command.pid)
        if leaving is None or self._has_strays():
            return False
        code, cpu_seconds, peak_bytes = leaving
        if not self._root_statuses:
            self._copies.let_leave(command.pid)
            self._root_statuses.append(code << 8)
            self._count(cpu_seconds, peak_bytes, command)
        return True

    def end(self) -> None:
        """Kill whatever is left and wait until it is gone."""
        self._root = None
        while self._watches:
            note = self._watches.pop().close()
            if note is not None and note[0] not in [name for name, *_ in self.noted]:
                self.noted.append(note)
        namespace_setup = self._command.namespace_setup if self._command is not None else None
        if namespace_setup is not None:
            self._note_those_left(namespace_setup.keeper)
        give_up_at, pause = time.monotonic() + _PATIENCE_SECONDS, 0.0002
        while self._reap(were_left_behind=True):
            if time.monotonic() > give_up_at:
                self.stubborn = self._pids()
                break
            self.kill()
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        self._tethers.release()
        if namespace_setup is not None:
            namespace_setup.close()

    def _note_those_left(self, keeper: int) -> None:
        """Note whom the program has left behind in its room: they aren't this process's children."""
        if keeper:
            strays = [pid for pid in self._pids() if pid != keeper and resident_bytes(pid)]
            self.others += [(pid, int(signal.SIGKILL), True) for pid in strays[:_MOST_EXITS]]

    def kill(self) -> None:
        """Send SIGKILL to every process of the tree.

        Whole process groups first: the kernel does that in one step, so that a program that
        forks faster than this loop can look doesn't escape.
        """
        pids = self._pids()
        # What is ready to be resumed is of its frozen copy's group.
        spared = {None, os.getpgrp(), *map(group_of, self._copies.pids)}
        for group in {group_of(pid) for pid in pids}:
            if group is not None and group not in spared:
                _send(os.killpg, group, signal.SIGKILL)
        for pid in pids:
            _send(os.kill, pid, signal.SIGKILL)

    def _pids(self) -> list[int]:
        """Return the processes of the trial: all there are but the frozen ones."""
        snapshots = self._copies.pids
        return [pid for pid in descendants_of(os.getpid()) if pid not in snapshots]

    def _wait_and_obey(self, root: int, seconds: float) -> None:
        ready = [descriptor for descriptor, _ in self._poll.poll(seconds * 1000)]
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._copies.descriptor in ready:
            self.tell_of_copies()
        if any(each.descriptor in ready for each in self._watches):
            self._look_at_limits(self._pids())
        if self._channel.descriptor not in ready:
            return
        message = self._channel.receive()
        if message is None:
            raise _WhetIsGoneError
        kind, body, _ = message
        if kind == "signal":
            number = as_number(body)
            self.was_told_to_end = self.was_told_to_end or number in _ENDING
            _send(os.killpg, root, number)
        else:
            self._obey(kind, body)

    def _obey(self, kind: str, body: bytes) -> None:
        if kind == "kill":
            self.was_killed = True
        elif kind == "fell":
            if as_number(body) in self._pids():
                _send(os.kill, as_number(body), signal.SIGKILL)
        elif kind == "on":
            self._copies.let_go_on(as_number(body))
        elif kind == "drop":
            self._copies.drop(as_number(body))

    def tell_of_reset(self) -> None:
        """Tell whet that the reset steps are over: nothing runs on that they have started."""
        if not self._has_strays():
            self._channel.send("reset")

    def may_go_on(self) -> bool:
        """Ask whet whether a copy still fits what there is now, all reset steps done."""
        self._channel.send("settled")
        while (message := self._channel.receive()) is not None:
            if message[0] in {"go", "stop"}:
                return message[0] == "go"
            self.was_killed = self.was_killed or message[0] == "kill"
        raise _WhetIsGoneError

    def tell_of_copies(self) -> None:
        """Tell whet of each copy that has reported. The program waits for whet's `on`."""
        watching = self._copies.watching
        while watching is not None and (snapshot := self._copies.take()) is not None:
            if self._has_strays():
                self._copies.drop(snapshot.number)
                self._copies.blockers.append((snapshot.place, snapshot.seconds, _STRAYS))
                continue
            observed = watching.noticed(snapshot.number, snapshot.pid)
            if observed.ended:
                self._copies.refuse(snapshot.number)
                self._copies.blockers.append((snapshot.place, snapshot.seconds, observed.ended))
            else:
                self._channel.send("snapshot", Taken(snapshot, observed))
        self._tell_of_blockers()

    def _tell_of_blockers(self) -> None:
        for hindered in self._copies.blockers:
            self._channel.send("hindered", hindered)
        self._copies.blockers.clear()

    def hear_last_words(self) -> None:
        """Take in what the program said just before it ended. A copy it waited for is none."""
        while (snapshot := self._copies.take()) is not None:
            self._copies.drop(snapshot.number)
        self._tell_of_blockers()

    def _has_strays(self) -> bool:
        """Whether something runs that the program has started and let go: no copy has that."""
        self._reap(were_left_behind=False)
        own = {*self._copies.pids, self._root.pid if self._root else 0}
        return any(pid not in own for pid in children_of(os.getpid()))

    def _reap(self, *, were_left_behind: bool) -> bool:
        """Collect the dead; say whether any child is alive."""
        self._look_at_queue()
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                snapshots = self._copies.pids
                return not snapshots or any(
                    one not in snapshots for one in children_of(os.getpid())
                )
            if self._copies.forget(pid):
                continue
            if self._command is not None and pid == self._command.keeper:
                self.cpu_seconds += usage.ru_utime + usage.ru_stime
                continue
            if self._command is not None:
                self._count(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, self._command)
            if self._root is not None and pid == self._root.pid:
                self._root_statuses.append(status)
            elif len(self.others) < _MOST_EXITS:
                self.others.append((pid, status, were_left_behind))

    def _look_at_queue(self) -> None:
        """Note, once the command has ended and before it is collected, how long it was queued."""
        if self._command is not None and not self._root_statuses:
            self.queued_seconds = queued_seconds_at_end(self._command.pid) or self.queued_seconds

    def _count(self, cpu_seconds: float, largest_bytes: int, command: Started) -> None:
        self.cpu_seconds += cpu_seconds
        # The kernel's figure starts with what a process held as a copy of this one, before it
        # became the program; only above that is it the program's own.
        if largest_bytes > command.forked_bytes + _FORK_SLACK_BYTES:
            self.peak_bytes = max(self.peak_bytes, largest_bytes)

    def _look_at_memory(self) -> float:
        """Note how much memory the tree holds now; return the seconds that looking took."""
        began = time.monotonic()
        keeper = self._command.keeper if self._command is not None else 0
        pids = [pid for pid in self._pids() if pid != keeper]
        sizes = {pid: resident_bytes(pid) for pid in pids}
        self.peak_bytes = max(self.peak_bytes, sum(sizes.values()))
        self._look_at_limits(pids)
        seconds = time.monotonic() - began
        self.gauge.look(sizes, self.cpu_seconds)  # which sees to its own share of the time
        return seconds

    def _look_at_limits(self, pids: "Sequence[int]") -> None:
        """Tell whet of a limit that was met. Whet looks at the program once more and has it killed."""
        for each in () if self._over_at else self._watches:
            note = each.look(pids)
            if note is None:
                continue
            if note.limit in {FELLED, HELD}:
                self.noted.append(Noted(FELLED, *note[1:]))
                self._channel.send("full", note)
            else:
                self.noted.append(note)
                self._over_at = time.monotonic()
                self._channel.send("over", note)
        if self._over_at and time.monotonic() - self._over_at > _PATIENCE_SECONDS:
            self.was_killed = True


def main(descriptor: int) -> None:
    """Serve trials until the socket closes."""
    channel = Channel.inherited(descriptor)
    os.chdir("/")
    woken = _set_up_signals()
    become_reaper()
    copies = FrozenCopies()
    try:
        while (message := _next_message(channel, woken, copies)) is not None:
            kind, body, streams = message
            if kind == "run":
                _run(channel, woken, copies, as_run(body), streams)
            elif kind == "drop":
                copies.drop(as_number(body))
            elif kind == "ahead":
                copies.prepare_ahead(as_number(body))
            elif kind == "on":  # the program was killed meanwhile; its copy has still to be let go
                copies.let_go_on(as_number(body))
            # A `signal` or `kill` that comes after the end of its trial has nothing to do.
    except (_WhetIsGoneError, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:  # noqa: BLE001 - on any error, whet must get a report and the tree must end
        import traceback

        channel.send("fault", traceback.format_exc())
    finally:
        signal.signal(PARENT_IS_GONE, signal.SIG_IGN)
        copies.end()
        _Tree(channel, woken, copies).end()
        os._exit(0)  # an orderly end of the interpreter takes 5 ms and has nothing to do


def _next_message(
    channel: Channel, woken: int, copies: FrozenCopies
) -> "tuple[str, bytes, list[int]] | None":
    """Return the next message between two trials; see off meanwhile what has ended."""
    poll = select.poll()
    poll.register(channel.descriptor, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 4096)
            copies.see_off()
        if channel.descriptor in ready:
            return channel.receive()


def _run(
    channel: Channel, woken: int, copies: FrozenCopies, run: Run, streams: "Sequence[int]"
) -> None:
    number = run.freezing.resumed
    copies.begin_run()
    copies.listen(run.freezing.address)
    copies.are_programs_present, copies.why_absent = number >= 0, ""
    noting = _begin_watching(copies, run)
    tree = _Tree(channel, woken, copies)
    try:
        if number >= 0:
            copies.begin_to_prepare(run.freezing)
        failed_step, status, exits = _reset(tree, run, streams, noting)
        wall_seconds = started_at = 0.0
        # Whet looks whether it still fits while the copy makes itself ready.
        if failed_step < 0 and number >= 0 and not (tree.may_go_on() and copies.is_ready(number)):
            _end_in_vain(channel, copies, tree, number)
            channel.send("refused")
            return
        if failed_step < 0:
            _guard(tree, run.guard)
            command = _begin(channel, copies, run, streams)
            tree.begin_to_watch(command.pid)
            for stream in streams:
                os.close(stream)
            streams = ()
            channel.send("started", command.pid)
            if number >= 0 and (run.freezing.varied or run.freezing.first_word):
                copies.prepare_ahead(number)
            status = tree.wait_for(command, is_command=True)
            started_at, wall_seconds = command.at, time.monotonic() - command.at
            tree.hear_last_words()
            _tell_what_it_did(channel, copies, run.freezing.address)
            exits = [(command.pid, status, False)]
        tree.end()
        if noting is not None:
            channel.send("looked", noting.looks())
    except CannotStartError as error:
        _end_in_vain(channel, copies, tree, number)
        channel.send("failed", error.reason)
        return
    finally:
        for stream in streams:
            os.close(stream)
    channel.send(
        "ended",
        Ended(
            exits=exits + tree.others,
            wall_seconds=wall_seconds,
            cpu_seconds=tree.cpu_seconds,
            peak_bytes=tree.peak_bytes,
            failed_step=failed_step,
            was_killed=tree.was_killed and _was_sigkilled(status),
            stubborn=tree.stubborn,
            started_at=started_at,
            noted=tree.noted,
            samples=tree.gauge.samples,
            peaks=tree.gauge.peaks(),
            queued_seconds=tree.queued_seconds,
        ),
    )
    if tree.stubborn:
        os._exit(0)  # whet starts another spawner: this one could not tell old from new


def _end_in_vain(channel: Channel, copies: FrozenCopies, tree: _Tree, number: int) -> None:
    """End the trial; report if it can't resume because its copy was killed."""
    tree.end()
    if number >= 0 and not copies.has(number):
        channel.send("halted", (GONE, GONE))


def _begin_watching(copies: FrozenCopies, run: Run) -> "Watching | None":
    """Have the programs watched, if they are to be; return what notes all that they look at."""
    looks = run.freezing.looks
    if (run.freezing.address or looks[0]) and copies.watching is None:
        from whet.host.spawner.observer import divide  # takes as long as all imports above
        from whet.host.spawner.watching import Watching

        copies.watching = Watching(divide())  # from here on this is another process
        become_reaper()
    if copies.watching is None or not looks[0]:
        return None
    copies.watching.begin_looks(*looks, run.cwd)
    return copies.watching


def _guard(tree: _Tree, guard: Guard) -> None:
    """Prove that the limits hold, and begin to look at them.

    Raises:
        CannotStartError: if one doesn't hold.
    """
    if guard.probes:
        from whet.host.spawner.probes import LimitDoesNotHoldError, prove

        try:
            prove(guard.probes, guard.steps)
        except LimitDoesNotHoldError as error:
            raise CannotStartError(("limit", 0, str(error).encode())) from error
        except OSError as error:
            raise CannotStartError(("limit", error.errno or 0, b"")) from error
    if guard.watches:
        from whet.host.spawner.watches import watch

        tree.keep(watch(guard.watches))


def _begin(channel: Channel, copies: FrozenCopies, run: Run, streams: "Sequence[int]") -> Started:
    """Start the program, or run on from a copy of it."""
    freezing = run.freezing
    number = freezing.resumed
    watching = copies.watching if freezing.address or freezing.looks[0] else None
    if watching is not None and freezing.address:
        cache = run.environment.get(_PYCACHE_VARIABLE, b"")
        watching.begin(freezing, cache, run.cwd)
    if number >= 0:
        blocker = watching.put_back(number) if watching is not None else ""
        if blocker:
            channel.send("halted", (blocker, ""))
            raise CannotStartError(("put back", 0, b""))
        channel.send("resuming")
        words = run.argv[freezing.first_word :] if freezing.first_word else []
        return copies.resume(number, streams[:3], run.terminal, words, freezing.worth_seconds)

    def announce(pid: int) -> None:
        channel.send("starting", pid)

    set_up = (streams[:3], run.terminal, announce)
    command = start(run.argv, run.environment, run.cwd, set_up, watching, steps=run.guard.steps)
    if watching is not None and watching.refusal:
        channel.send("halted", (f"{_CANNOT_SEE}: {watching.refusal}", ""))
    return command


def _tell_what_it_did(channel: Channel, copies: FrozenCopies, address: str) -> None:
    if address and copies.watching is not None and not copies.watching.refusal:
        if not copies.are_programs_present:
            more = f": {copies.why_absent}" if copies.why_absent else ""
            channel.send("halted", (f"{UNFOLLOWED}{more}", UNFOLLOWED))
        channel.send("did", copies.watching.done())


def _reset(
    tree: _Tree, run: Run, streams: "Sequence[int]", watching: "Watching | None"
) -> "tuple[int, int | None, list[Exit]]":
    """Run the reset steps; return the one that ended the trial (-1: none), and how."""
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for index, (text, must_succeed) in enumerate(run.steps):
            shell = [b"/bin/sh", b"-c", text]
            given = ((nothing, streams[3], streams[3]), -1, None)
            step = start(shell, run.environment, run.cwd, given, watching=watching)
            status = tree.wait_for(step, is_command=False)
            gave_up = tree.was_killed or tree.was_told_to_end
            if gave_up or (must_succeed and status != 0):
                return index, status, [(step.pid, status, False)]
    finally:
        os.close(nothing)
    if run.steps:
        tree.tell_of_reset()
    return -1, None, []


def _was_sigkilled(status: "int | None") -> bool:
    return status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)


def _send(kill: "Callable[[int, int], None]", target: int, number: int) -> None:
    try:
        kill(target, number)
    except (ProcessLookupError, PermissionError):
        return  # gone, or of another user (sudo): what can't be killed is reported as such


def _stop(_number: int, _frame: "FrameType | None") -> None:
    raise _WhetIsGoneError


def _set_up_signals() -> int:
    """Return a descriptor that can be read when a child has ended; ignore all else."""
    if os.getsid(0) != os.getpid():
        os.setsid()  # what is sent to whet's process group is whet's to forward
    for number in (*_ENDING, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(PARENT_IS_GONE, _stop)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return woken
