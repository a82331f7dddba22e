"""Whether a program that doesn't end waits for a file to go or to come, or for a program that listens."""

import os
import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.failure import Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.system_call import AddressUse
from whet.core.text.quantity import shown_count
from whet.core.verdict import Verdict
from whet.evidence.hangs.polled import PolledPath, Wish, polled_paths, tried_addresses
from whet.evidence.stacks.pipe_circle import WHY_LOCKED
from whet.evidence.stacks.waiting_processes import end_holder
from whet.host.inspect.pipe_waits import lock_holder
from whet.host.process.process_identity import ProcessIdentity
from whet.workbench.inspect.syscalls import FOLLOWED, calls_in
from whet.workbench.investigate.experiments.warm_changes import contained
from whet.workbench.investigate.progress.investigating import Work, in_users_tree, place_of
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.tested import Tested

_RUNS = 2
_MOST_DIGITS = 10
_BEFORE_FIRST_RUN = 0.1
"""The times of files are coarse: what was made just before is no leftover of a run."""
_LOCK = re.compile(r"lock|pid", re.IGNORECASE)
_WITHOUT = 'rm -rf -- "$1" 2>/dev/null; shift; exec "$@"'
_WITH_EMPTY = '{ mkdir -p -- "$(dirname -- "$1")" && touch -- "$1"; } 2>/dev/null; shift; exec "$@"'
"""Where the sandbox can't change a file, the program hangs as before, and nothing is said of it."""

_WHY = (
    "a program may wait for a file that stays or never comes, or for a program that doesn't listen"
)
_LISTENS = "0A"  # the state in /proc/net/tcp


def look_at_polled_files(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """See which file or address a program that hangs tries again and again, and whether that holds it."""
    if not baseline.outcome.timed_out:
        return ()
    with work.steps.step("Look for what it tries again and again", _WHY):
        followed = replace(work.session, tasks=FOLLOWED)
        # Not in a clean room: a file that is written there is another one, which has no locks yet.
        ran = followed.run(work.trial, baseline.oracle, "calls followed", place=place_of(work))
        calls = calls_in(ran.outcome.evidence)
        polled = () if calls is None else polled_paths(calls)
        found = [_left_over(work, each, ran) for each in polled]
        is_same = baseline.reproduction.is_deterministic and ran.verdict is Verdict.BAD
        if is_same and calls is not None:
            found += [_clue(work, baseline, each, ran) for each in polled]
            found += [_unheard(work, baseline, each, ran) for each in tried_addresses(calls)]
        clues = tuple(each for each in found if each is not None)
        work.steps.conclude("; ".join(each.says for each in clues) or "found nothing")
    return clues


def _left_over(work: Work, polled: PolledPath, seen: Tested[None]) -> Clue | None:
    """Say that a run which whet ended has left what a later one waits for; None: it was there before."""
    is_there = polled.is_there and polled.wish is not Wish.LOCK and os.path.lexists(polled.path)
    if not is_there or not _is_new(work, polled.path):
        return None
    at, frame = Placing(work.trial.cwd), polled.frame
    name, path = at(in_users_tree(work, polled.path)), in_users_tree(work, frame.path)
    return Clue(
        says=f"{at(path, frame.line)} waits until `{name}` is gone, which has come since whet began; if a run that"
        " whet ended has left it, the runs start from different files",
        why=_WHY, path=path, line=frame.line, trials=(seen.own_number,),
        next_step=f"Delete `{name}`, and add `--clean`: no run leaves anything then.",
    )  # fmt: skip


def _clue(work: Work, baseline: Baseline, polled: PolledPath, seen: Tested[None]) -> Clue | None:
    """Return what is to be said of a file; None: with its change the program hangs, too."""
    at = Placing(work.trial.cwd)
    if polled.wish is Wish.LOCK:
        return _locked(work, baseline, polled, seen)
    if polled.is_there != os.path.lexists(polled.path) or _is_new(work, polled.path):
        return None  # the program makes or deletes it itself
    ran = _changed(work, baseline, polled)
    if ran[-1].outcome.timed_out:
        return None
    path = in_users_tree(work, polled.path)
    name = at(path)
    frame = replace(polled.frame, path=in_users_tree(work, polled.frame.path))
    passes = all(each.verdict is Verdict.GOOD for each in ran)
    after = "the command passes" if passes else f"it fails in another way: {ran[-1].did}"
    where = at(frame.path, frame.line)
    if polled.is_there:
        does = f"tries to make `{name}` again and again"
        if polled.wish is Wish.FIND:
            does = f"looks again and again whether `{name}` is gone"
        says = f"{where} {does}; it was there before the program began{_owner(path)}; without it {after}"
        advice = (
            f"If nothing else uses `{name}`, delete it, and see that the program deletes it"
            " even when it fails."
        )
    else:
        near = () if polled.facts is None else polled.facts.near
        beside = f"; a name that is nearly the same is there: `{near[0]}`" if near else ""
        says = f"{where} looks again and again whether `{name}` is there, and it isn't{beside}; with an empty one {after}"
        advice = f"See what is to make `{name}`, and why it doesn't."
    sureness = Sureness.SHOWN if passes and polled.is_there else Sureness.SEEN
    return Clue(
        says=says, why="each run with that change came to an end", path=frame.path, line=frame.line,
        sureness=sureness if _is_where_it_hangs(baseline, polled) else Sureness.POSSIBLE,
        trials=(seen.own_number, *(each.own_number for each in ran)), next_step=advice,
    )  # fmt: skip


def _locked(work: Work, baseline: Baseline, polled: PolledPath, seen: Tested[None]) -> Clue | None:
    """Say who holds the lock of a file; None: no process does now, so that it was one of the command's own."""
    holder, program = lock_holder(polled.path)
    if not holder:
        return None
    at, does = Placing(work.trial.cwd), f" (`{program}`)" if program else ""
    frame = replace(polled.frame, path=in_users_tree(work, polled.frame.path))
    is_there = _is_where_it_hangs(baseline, polled)
    return Clue(
        says=f"{at(frame.path, frame.line)} asks again and again for the lock of `{at(polled.path)}`, which"
        f" process {holder}{does} holds; that process isn't one of this command's",
        why=WHY_LOCKED, path=frame.path, line=frame.line,
        sureness=Sureness.SEEN if is_there else Sureness.POSSIBLE,
        trials=(seen.own_number,), next_step=end_holder(holder),
    )  # fmt: skip


def _unheard(work: Work, baseline: Baseline, tried: AddressUse, seen: Tested[None]) -> Clue | None:
    """Say that no program listens at an address; None: one does, or where the program tries it isn't known."""
    frame, port = _own_frame(baseline), int(tried.address.rpartition(":")[2])
    if frame is None or port in _ports_listened_at():
        return None
    path = in_users_tree(work, frame.path)
    return Clue(
        says=f"the program connects to {tried.address} again and again ({shown_count(tried.count, 'time')}), and"
        f" no program listens there; it waits at {Placing(work.trial.cwd)(path, frame.line)}",
        why="the kernel says at which ports programs listen",
        path=path, line=frame.line, trials=(seen.own_number,),  # another thread may be the one that connects
        next_step=f"Start the program that is to listen at {tried.address}, or correct the address.",
    )  # fmt: skip


def _ports_listened_at() -> frozenset[int]:
    """Return the TCP ports of this machine at which a program listens."""
    ports: set[int] = set()
    for name in ("tcp", "tcp6"):
        with suppress(OSError, ValueError, IndexError):
            for line in Path(f"/proc/net/{name}").read_text("ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == _LISTENS:
                    ports.add(int(words[1].rpartition(":")[2], 16))
    return frozenset(ports)


def _changed(work: Work, baseline: Baseline, polled: PolledPath) -> list[Tested[None]]:
    """Run the command without a file, or with an empty one, where nothing that it writes stays."""
    script = _WITHOUT if polled.is_there else _WITH_EMPTY
    words = ("sh", "-c", script, "sh", polled.path, *work.trial.command)
    trial = contained(work.bench, replace(work.trial, command=words))
    how = "without" if polled.is_there else "with an empty"
    return work.session.repeat(
        trial, baseline.oracle, f"{how} {Path(polled.path).name}",
        times=_RUNS, until=lambda ran: ran.verdict is not Verdict.GOOD, place=place_of(work),
    )  # fmt: skip


def _is_new(work: Work, path: str) -> bool:
    """Whether a file came since the investigation began: a run that whet ended may have left it."""
    ran_for = time.monotonic() - work.began - _BEFORE_FIRST_RUN
    with suppress(OSError):
        return time.time() - os.lstat(path).st_ctime < ran_for
    return False


def _owner(name: str) -> str:
    """Say whether the process that a lock file names is there; nothing, if it isn't seen to name one."""
    path = Path(name)
    with suppress(OSError, ValueError):
        is_lock = _LOCK.search(path.name) is not None and path.is_file()
        if is_lock and path.stat().st_size <= _MOST_DIGITS:
            pid = int(path.read_text("ascii"))
            is_there = ProcessIdentity.of(pid) is not None
            now = "there is such a process" if is_there else "no process has that number now"
            return f" and holds {pid} ({now})"
    return ""


def _is_where_it_hangs(baseline: Baseline, polled: PolledPath) -> bool:
    """Whether the program hung in the function that looks for the file."""
    own = _own_frame(baseline)
    return own is not None and (own.path, own.function) == (
        polled.frame.path,
        polled.frame.function,
    )


def _own_frame(baseline: Baseline) -> Frame | None:
    """Return the innermost line of the program's own at which it hung."""
    failure = baseline.outcome.failure
    own = [each for each in (failure.frames if failure else ()) if each.in_user_code]
    return own[-1] if own else None
