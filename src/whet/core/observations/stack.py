"""Where the threads of processes are, at one moment: facts, no grouping."""

from whet.core.failure import Frame
from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class


@value_class(kw_only=True)
class ThreadStack(Record):
    """One thread.

    Attributes:
        number: the kernel's number of it; 0: not known.
        name: what the program calls it; empty: not known.
        frames: innermost last; those of native code have a library for a file and no line.
        is_running: it was on a processor, or ready for one.
        holds_gil: it held the lock of the interpreter.
        has_moved: it stood elsewhere a moment later; None: nobody has looked again.
    """

    number: int
    name: str = ""
    frames: tuple[Frame, ...] = ()
    is_running: bool = False
    holds_gil: bool = False
    has_moved: bool | None = None


@value_class(kw_only=True)
class TaskStack(Record):
    """One task of asyncio that isn't done, or that has died of an error which nobody has asked for.

    Attributes:
        name: what the program calls it.
        frames: where its coroutines stand, innermost last.
        awaits: names of the tasks that it awaits, ``runs`` or ``is ready``; empty: something else,
            which the innermost frame tells.
        loop: which event loop it belongs to.
        died: the error that it has ended with; empty: it isn't done.
        shares: what that has in common with tasks that aren't done, such as a queue: what its
            function calls it, and the other task.
    """

    name: str
    frames: tuple[Frame, ...] = ()
    awaits: str = ""
    loop: int = 0
    died: str = ""
    shares: tuple[tuple[str, str], ...] = ()


@value_class(kw_only=True)
class ThreadWait(Record):
    """A thread that waits for a lock, or for the end of another one.

    Attributes:
        thread: a number of it, of this process and this moment.
        name: what the program calls it.
        lock: what its line calls the lock; empty: it waits for the end of the holder.
        holder: the number of the thread that has the lock, or that is to end; 0: not known.
        path: the file of the line that waits.
        line: its number.
    """

    thread: int
    name: str
    lock: str
    holder: int
    path: str
    line: int


@value_class(kw_only=True)
class PipeWait(Record):
    """A thread that waits for another process: at a pipe, for its end, or for the lock of a file.

    Attributes:
        thread: the kernel's number of it.
        deed: ``read``: the pipe is empty; ``write``: it is full; ``end``: it waits for an end;
            ``lock``: another one has the lock.
        descriptor: of the pipe or file, in the process that waits; -1: neither.
        others: the processes that alone could end the wait, each with its descriptor of the other
            end of the pipe; it can be the process itself.
        file: whose lock it waits for; empty: it doesn't.
        holder: what runs in a process that isn't the program's and has that lock; empty: one of its own has.
    """

    thread: int
    deed: str
    descriptor: int = -1
    others: tuple[tuple[int, int], ...] = ()
    file: str = sparse("")
    holder: str = sparse("")


@value_class(kw_only=True)
class ProcessEnd(Record):
    """A process that another one had started by multiprocessing, and that ended badly.

    Attributes:
        pid: its number.
        name: what the program calls it; empty: it did not live to tell.
        code: its exit code; below zero: that of the signal that ended it.
    """

    pid: int
    name: str
    code: int


@value_class(kw_only=True)
class ProcessStack(Record):
    """One process and its threads, the main thread first.

    Attributes:
        pid: its number.
        parent: that of its parent.
        command: its command line, in one line.
        rank: its place in a distributed job, if it has one.
        name: what the program calls it, if it was started by multiprocessing; empty: not known.
        state: a letter of proc(5): ``R`` runs, ``S`` waits, ``D`` waits in the kernel and can't
            be interrupted, ``T`` is stopped, ``Z`` has ended.
        cpu_share: CPU seconds a second, between two looks; None: there was one look.
        engine: what told of it: ``py-spy``, ``agent``, ``gdb``; empty: nothing did.
        threads: those that were seen.
        tasks: those of asyncio.
        waits: its threads that wait for a lock or for another thread; none: not known, too.
        pipe_waits: its threads that wait for another process, if no thread of it can continue on
            its own.
        notes: what could not be seen, in sentences.
    """

    pid: int
    parent: int = 0
    command: str = ""
    rank: int | None = None
    name: str = ""
    state: str = ""
    cpu_share: float | None = None
    engine: str = ""
    threads: tuple[ThreadStack, ...] = ()
    tasks: tuple[TaskStack, ...] = ()
    waits: tuple[ThreadWait, ...] = sparse(())
    pipe_waits: tuple[PipeWait, ...] = sparse(())
    notes: tuple[str, ...] = ()
