"""Processes and tasks that can't end, or have died, while another one waits for them."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from whet.core.failure import Failure, Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.stack import ProcessEnd, ProcessStack
from whet.evidence.stacks.pipe_circle import WHY_LOCKED, pipe_clues, place_of
from whet.evidence.stacks.stack_groups import process_names

_WHY = "a process that waits for another one doesn't show what happened to that one"
_WHY_TASKS = (
    "asyncio reports a task's error when something asks for its result, otherwise at the end"
)
_ASKED = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""By these the program itself ends processes."""


def process_clues(
    processes: Sequence[ProcessStack], ended: Sequence[ProcessEnd], at: Placing
) -> list[Clue]:
    """Return which process can't end or has ended, where another one waits for it.

    Args:
        processes: those of a hang, with their stacks.
        ended: those that had ended badly before.
        at: where files are.
    """
    undrained = list(_undrained(processes, at))  # says more than which pipe is full
    return [
        *(undrained or pipe_clues(processes, at)),
        *_locked_out(processes, at),
        *_gone(processes, ended, at),
        *_dead_tasks(processes, at),
    ]


def _locked_out(processes: Sequence[ProcessStack], at: Placing) -> Iterator[Clue]:
    """Yield where the program waits for the lock of a file that another program holds, each once."""
    told: set[tuple[str, int, int]] = set()
    for process in processes:
        for wait in process.pipe_waits:
            place = place_of(process, wait)
            number = wait.others[0][0] if wait.holder else 0
            if place is None or not number or (place.path, place.line, number) in told:
                continue
            told.add((place.path, place.line, number))
            yield Clue(
                says=f"{at(place.path, place.line)} waits for the lock of `{wait.file}`, which process {number}"
                f" (`{wait.holder}`) holds; that process isn't one of this command's",
                why=WHY_LOCKED,
                path=place.path,
                line=place.line,
                sureness=Sureness.SEEN,
                next_step=end_holder(number),
            )


def end_holder(pid: int) -> str:
    """Say what to do about a process that holds a lock."""
    return f"Check whether process {pid} is still needed (`ps -fp {pid}`); if it is left from an earlier run, end it."


def _dead_tasks(processes: Sequence[ProcessStack], at: Placing) -> Iterator[Clue]:
    """Yield the tasks that have died unheard, those first that another one still counts on."""
    dead = [task for process in processes for task in process.tasks if task.died]
    for task in sorted(dead, key=lambda task: not task.shares):
        own = [each for each in task.frames if each.in_user_code]
        if not own:
            continue
        line = own[-1]
        name, other = task.shares[0] if task.shares else ("", "")
        waits = f"; task `{other}` waits at `{name}`, which both use" if task.shares else ""
        yield Clue(
            says=f"task `{task.name}` has died of {task.died}, raised at {at(line.path, line.line)}"
            f" in `{line.function}`, and nothing has asked for its result{waits}",
            why=_WHY_TASKS,
            path=line.path,
            line=line.line,
            sureness=Sureness.SEEN if task.shares else Sureness.POSSIBLE,
            next_step="fix that line, and await the task (an `asyncio.TaskGroup` does), so that "
            "its "
            "error is reported",
        )


def _undrained(processes: Sequence[ProcessStack], at: Placing) -> Iterator[Clue]:
    """Yield the processes that wait for one that can end only after its queue is read."""
    stuck = [each for each in processes if _stands_in(each, "queues.py", "_finalize_join")]
    for waiting in processes:
        children = [each for each in processes if each.parent == waiting.pid and each.threads]
        stuck_children = [each for each in stuck if each.parent == waiting.pid]
        place = _own_place(waiting)
        if not stuck_children or place is None or not _waits_for_end(waiting):
            continue
        does = (
            "has done its work and cannot end"
            if len(stuck_children) == 1
            else "have done their work and cannot end"
        )
        it = "it" if len(stuck_children) == 1 else "they"
        yield Clue(
            says=f"{process_names(stuck_children)} {does}: what {it} put into a `multiprocessing.Queue` is "
            "not"
            f" read, and {at(place.path, place.line)} waits for the end first",
            why=_WHY,
            path=place.path,
            line=place.line,
            sureness=Sureness.SEEN if len(stuck_children) == len(children) else Sureness.POSSIBLE,
            next_step=f"read the queue before {at(place.path, place.line)}: a process ends only "
            "when "
            "it has flushed everything it put into a queue",
        )


def broken_pool_clues(
    failure: Failure | None, ended: Sequence[ProcessEnd], at: Placing
) -> list[Clue]:
    """Return how the worker ended, where all that a pool says is that it is gone."""
    dead = [each for each in ended if -each.code not in _ASKED]
    if failure is None or not dead or "BrokenProcessPool" not in failure.signature.exception:
        return []
    first, place = dead[0], failure.place
    cause = (
        "A limit may have done that, or the kernel when memory ran out, or a crash in native code."
        if first.code < 0
        else "Python reports no error for that: look for `os._exit` in what the worker runs."
    )
    return [
        Clue(
            says=f"{_who(first)} {_how(first.code)} while its pool still needed it",
            why="a pool says that a worker is gone, and not how it ended",
            path="" if place is None else at.absolute(place.path),
            line=0 if place is None else place.line,
            sureness=Sureness.SEEN,
            next_step=f"{cause} `whet toggle one-process -- COMMAND` has the program itself do its work.",
        )
    ]


def _who(ended: ProcessEnd) -> str:
    return f"process `{ended.name}`" if ended.name else f"process {ended.pid}"


def _gone(
    processes: Sequence[ProcessStack], ended: Sequence[ProcessEnd], at: Placing
) -> Iterator[Clue]:
    """Yield the processes that were gone while another one waits for what they would have sent."""
    alive = {each.pid for each in processes}
    dead = [each for each in ended if each.pid not in alive and -each.code not in _ASKED]
    for waiting in processes if dead else ():
        place = _own_place(waiting)
        if place is None or not _stands_in(waiting, "", "") or _waits_for_end(waiting):
            continue
        first = dead[0]
        more = f", and {len(dead) - 1} more like it" if len(dead) > 1 else ""
        yield Clue(
            says=f"{_who(first)} {_how(first.code)}{more}; {at(place.path, place.line)} still waits for "
            "its work",
            why=_WHY,
            path=place.path,
            line=place.line,
            sureness=Sureness.SEEN if first.code < 0 else Sureness.POSSIBLE,
            next_step="find what ended it (`SIGKILL`: usually a limit, or the kernel when memory "
            "runs out);"
            " `concurrent.futures.ProcessPoolExecutor` raises `BrokenProcessPool` where"
            " `multiprocessing` waits on"
            if first.code < 0
            else "",
        )
        return


def _how(code: int) -> str:
    if code >= 0:
        return f"has ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"


def _waits_for_end(process: ProcessStack) -> bool:
    """Whether its main thread waits for a process of multiprocessing to end."""
    frames = _main(process)
    return any(_is_of(each, "process.py", "join") for each in frames)


def _stands_in(process: ProcessStack, file: str, function: str) -> bool:
    """Whether its main thread is in a function of multiprocessing; empty: in any."""
    return any(_is_of(each, file, function) for each in _main(process))


def _is_of(frame: Frame, file: str, function: str) -> bool:
    path = PurePath(frame.path)
    return (
        path.parent.name == "multiprocessing"
        and file in {"", path.name}
        and function in {"", frame.function.rpartition(".")[2]}
    )


def _main(process: ProcessStack) -> tuple[Frame, ...]:
    return process.threads[0].frames if process.threads else ()


def _own_place(process: ProcessStack) -> Frame | None:
    """Return the innermost line of the user's code in the main thread."""
    own = [each for each in _main(process) if each.in_user_code and not each.path.startswith("<")]
    return own[-1] if own else None
