"""Faults at random moments, and one checker behind them all: nothing lost, nothing left, nothing touched.

    python -m benchmarks.faults.chaos [--rounds 200] [--seed N]

Each round draws a verb, a fault and a moment from its own number, so that any of them can be run
again alone (`--only NUMBER`). It runs in a small repository with uncommitted changes, which lives
through ten rounds, or until one of them shows something wrong. The user of some has no home. After each:

- a trial that had ended before is still there, and the notebook is whole;
- a second after a kill no process of the trial is alive (counted), and none after the next start;
- temporary folders, worktrees, records of what to remove and claims are gone after the next start;
- the user's files, and all that git has, are the same bytes.

A round whose fault struck nothing (whet was through by then) is counted as such, not as a fault. What
they show adds up in `benchmarks/results/chaos.json`; the next call goes on with the next number.
"""

import argparse
import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from benchmarks.faults.clock import set_clock, under_clock
from benchmarks.faults.repository import PATIENCE_SECONDS, PYTHON, Place
from benchmarks.table import print_table

RESULTS = Path(__file__).parents[1] / "results" / "chaos.json"
ALIVE_SECONDS = 1.0
ROUNDS_A_PLACE = 10
DISK_BYTES = 64 << 20

COMMAND = ["--", PYTHON, "app.py", "data.txt"]
GOOD_COMMAND = ["--", PYTHON, "app.py", "passes.txt"]


@dataclass(frozen=True)
class Verb:
    """What is typed, and the seconds within which a fault strikes: somewhat longer than it takes."""

    words: list[str]
    seconds: float


VERBS = {
    "run": Verb(["run", *COMMAND], 0.7),
    "repeat": Verb(["repeat", "-n", "4", "--jobs", "2", *COMMAND], 1.2),
    "shrink": Verb(["shrink", "data.txt", *COMMAND], 2.0),
    "bisect": Verb(["bisect", "HEAD~3", "--jobs", "2", *COMMAND], 2.0),
    "again": Verb(["again", "--code", "then"], 0.7),
    "log": Verb(["log"], 0.4),
    "loop": Verb(["loop", "--runs", "1", *COMMAND], 1.0),
    "profile": Verb(["profile", "--once", "--html", "page.html", *COMMAND], 1.5),
    "profile --heap": Verb(["profile", "--heap", *COMMAND], 1.5),
    "profile --io": Verb(["profile", "--io", *COMMAND], 1.0),
    "watch": Verb(["watch", "memory", "files", "disk:.", "df .", *COMMAND], 1.0),
    "compare": Verb(["compare", "--runs", "7", "--baseline", "HEAD", *GOOD_COMMAND], 3.0),
    "leak": Verb(["leak", "--call", "app.py:counted", "--budget", "5s", *GOOD_COMMAND], 2.5),
    "expect": Verb(["expect", "--lines", "app.py", *COMMAND], 1.0),
    "grow": Verb(["grow", "-d", "rows.json:rows=1..4", "--repeats", "1", "--", PYTHON, "app.py", "rows.json"], 2.5),
    "starve": Verb(["starve", "--find", "files", "--picture", "page.svg", *GOOD_COMMAND], 2.5),
    "sample": Verb(["sample", "data.txt", *COMMAND], 2.0),
    "delta": Verb(["delta", "passes.txt", "data.txt", "--", PYTHON, "app.py", "{}"], 2.0),
    "toggle": Verb(["toggle", "hash-seed", "cpu", *COMMAND], 2.0),
    "investigate": Verb(["investigate", "--no-releases", "--budget", "10s", *COMMAND], 8.0),
    "syscalls": Verb(["syscalls", *COMMAND], 1.0),
    "probe": Verb(["probe", "app.py:2", "count", *COMMAND], 1.0),
    "trace": Verb(["trace", "app.py:*", *COMMAND], 1.0),
    "where": Verb(["where", "app", *COMMAND], 1.0),
    "make": Verb(["make", "array", "--shape", "9,9", "-o", "page.npy"], 0.5),
    "annotate": Verb(["annotate", "--vendor", "page.py"], 0.3),
}  # fmt: skip

KILLS = ("whet", "the guardian", "the spawner", "whet and the guardian", "whet and the spawner",
         "all at once", "the program", "one of them")  # fmt: skip
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNALLED = ("whet", "whet", "the guardian", "the spawner", "the program", "all")
DAYS = (-4000, -1, 1, 4000)
MEGABYTES = (10, 20, 25, 30, 35, 40, 50)
CALLS = {
    "openat": ("EMFILE", "ENOSPC", "EIO", "EACCES", "EPERM"), "write": ("ENOSPC", "EIO", "EDQUOT"),
    "mkdir": ("ENOSPC", "EROFS", "EPERM"), "rename": ("EIO", "EROFS", "EPERM"),
    "unlink": ("EIO", "EROFS", "EPERM"), "kill": ("EPERM",), "prctl": ("EPERM",), "pidfd_open": ("EPERM",),
    "mmap": ("ENOMEM",), "clone": ("EAGAIN",), "fork": ("EAGAIN",), "vfork": ("EAGAIN",),
    "execve": ("ENOMEM", "EACCES"), "socketpair": ("EMFILE",), "pipe2": ("EMFILE",),
    "flock": ("ENOLCK",), "ftruncate": ("EIO",), "fsync": ("EIO",), "getdents64": ("EIO",),
}  # fmt: skip


OFTEN = ("openat", "write", "mmap", "getdents64")
"""Calls that all of whet makes by the hundred."""


@dataclass
class Round:
    """One fault.

    Attributes:
        number: what it is drawn from.
        verb, fault: what was drawn.
        wrong: what did not hold, in words.
        lived: processes that were alive a second after all of whet was killed.
        has_struck: whether whet, or what it started, met the fault.
    """

    number: int
    verb: str = ""
    fault: str = ""
    wrong: list[str] = field(default_factory=list)
    lived: int = 0
    has_struck: bool = True


def play(numbers: Sequence[int], *, kind: str = "", verb: str = "") -> list[Round]:
    """Play rounds in one place, and go on in another one after something wrong.

    Args:
        numbers: what they are drawn from.
        kind: one of `WREAKS`; drawn if it is empty.
        verb: one of `VERBS`; drawn if it is empty.
    """
    rounds: list[Round] = []
    while len(rounds) < len(numbers):
        top = Path(tempfile.mkdtemp(prefix="chaos-"))
        first = numbers[len(rounds)]
        place = Place(top, f"{first}-{os.getpid()}", has_home=first % 4 > 0)
        try:
            place.make()
            users = place.users()
            for number in numbers[len(rounds) :]:
                rounds.append(play_one(place, Round(number, verb), users, kind))
                if rounds[-1].wrong:
                    break
        finally:
            for pid in place.alive():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(top, ignore_errors=True)
    return rounds


def play_one(place: Place, played: Round, users: dict[str, bytes], kind: str) -> Round:
    """Play one round, and put back what its fault has changed in the place."""
    chance = random.Random(played.number)
    played.verb = played.verb or chance.choice(list(VERBS))
    before = place.ended()
    with ExitStack() as undone:
        wreak = WREAKS[kind or chance.choice(list(WREAKS))]
        try:
            played.wrong.extend(wreak(place, played, chance, undone))
        except subprocess.TimeoutExpired as error:
            played.has_struck = True
            played.wrong.append(f"no end after {error.timeout:.0f} seconds")
        played.wrong.extend(looked_at(place, users, before))
    return played


def looked_at(place: Place, users: dict[str, bytes], before: set[int]) -> Iterator[str]:
    """Yield what is not as it should be once another whet has started."""
    again = place.whet("run", "--", "true")
    if again.returncode:
        yield f"the next start: exit {again.returncode}: {again.stderr.decode()[-300:]}"
    try:
        if not before < place.ended():
            yield "a trial is lost"
    except sqlite3.DatabaseError as error:
        yield f"the notebook is not whole: {error}"
    deadline = time.monotonic() + ALIVE_SECONDS
    while (alive := place.alive()) and time.monotonic() < deadline:
        time.sleep(0.01)
    if alive:
        yield f"{len(alive)} processes are alive after the next start"
    for name in ("tmp", "state/whet/projects/*/made", "state/whet/projects/*/claims",
                 "state/whet/projects/*/worktrees", "project/.git/worktrees"):  # fmt: skip
        left = [each.name for folder in place.top.glob(name) for each in folder.iterdir()]
        if left:
            yield f"left in {name}: {left[:3]}"
    now = place.users()
    changed = sorted(name for name in users.keys() | now.keys() if users.get(name) != now.get(name))
    if changed:
        yield f"the user's files changed: {changed[:5]}"


def started(
    place: Place, words: list[str], variables: Mapping[str, str] = MappingProxyType({})
) -> "subprocess.Popen[bytes]":
    """Start whet."""
    return subprocess.Popen(
        [PYTHON, "-m", "whet", *words], cwd=place.project, env={**place.environment, **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def killed(place: Place, played: Round, chance: random.Random, _undone: ExitStack) -> Iterator[str]:
    """Kill some of it by SIGKILL, with all of it stopped, so that nobody sees another's end."""
    whom = chance.choice(KILLS)
    played.fault = f"SIGKILL: {whom}"
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        groups = processes(place, whet.pid)
        groups["one of them"] = chance.sample(groups["all"], min(1, len(groups["all"])))
        victims = groups[whom]
        send(signal.SIGSTOP, victims)
        send(signal.SIGKILL, victims)
        if whet.pid in victims:
            deadline = time.monotonic() + ALIVE_SECONDS
            while (alive := place.alive()) and time.monotonic() < deadline:
                time.sleep(0.01)
            played.lived = len(alive)
        yield from finished(whet)


def processes(place: Place, whet: int) -> dict[str, list[int]]:
    """Return the processes of a round by what they are."""
    pids = place.alive()
    helpers = [pid for pid in pids if pid != whet and is_whets(pid)]
    guardians = [pid for pid in helpers if parent_of(pid) == whet]
    spawners = [pid for pid in helpers if parent_of(pid) in guardians]
    return {
        "whet": [whet], "the guardian": guardians, "the spawner": spawners,
        "whet and the guardian": [whet, *guardians], "whet and the spawner": [whet, *spawners],
        "all at once": [whet, *helpers], "the program": [pid for pid in pids if not is_whets(pid)][:1],
        "all": pids,
    }  # fmt: skip


def send(number: signal.Signals, pids: Sequence[int]) -> None:
    """Send a signal to processes, of which some may be gone."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def signalled(
    place: Place, played: Round, chance: random.Random, _undone: ExitStack
) -> Iterator[str]:
    """Send one of its processes a signal that it hears, or stop it for a while before."""
    number, whom = chance.choice(SIGNALS), chance.choice(SIGNALLED)
    played.fault = f"{number.name}: {whom}"
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        victims = processes(place, whet.pid)[whom]
        if not chance.randrange(3):
            played.fault = f"SIGSTOP, {played.fault}"
            send(signal.SIGSTOP, victims)
            time.sleep(0.1)
            send(signal.SIGCONT, victims)
        send(number, victims)
        yield from finished(whet)


def failing_call(
    place: Place, played: Round, chance: random.Random, _undone: ExitStack
) -> Iterator[str]:
    """Let the Nth system call of a kind fail, in whet and in all that it starts."""
    call = chance.choice(list(CALLS))
    numbers = (1, 2, 3, 5, 10, 30, 100, 300) if call in OFTEN else (1, 2, 3, 5)
    wanted = f"{call}:{chance.choice(CALLS[call])}@{chance.choice(numbers)}"
    played.fault = wanted
    said = inside(place, played, "--fail", wanted)
    played.has_struck = b"hit nothing" not in said
    yield from complaints(said)


def starved(
    place: Place, played: Round, chance: random.Random, _undone: ExitStack
) -> Iterator[str]:
    """Let the kernel kill something of it when all of it together needs more memory than it gets."""
    played.fault = "memory"
    said = inside(place, played, "--memory", f"{chance.choice(MEGABYTES)}M")
    played.has_struck = b"memory limit" in said
    yield from complaints(said)


def inside(place: Place, played: Round, *limit: str) -> bytes:
    """Run whet inside another whet, which limits it; return what the two said."""
    outer = {**place.environment, "XDG_STATE_HOME": str(place.top / "outer")}
    inner = f"XDG_STATE_HOME={place.top / 'state'}"
    done = subprocess.run(
        [PYTHON, "-m", "whet", "run", *limit, "--", "env", inner, PYTHON, "-m", "whet", *VERBS[played.verb].words],
        cwd=place.project, env=outer, check=False, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=2 * PATIENCE_SECONDS,
    )  # fmt: skip
    return done.stderr


def moved_clock(
    place: Place, played: Round, chance: random.Random, undone: ExitStack
) -> Iterator[str]:
    """Set the clock while it works, for it and all that it starts."""
    clock = place.top / "clock"
    variables = under_clock(clock, undone)
    if variables is None:
        yield from signalled(place, played, chance, undone)
        return
    played.fault = "clock"
    set_clock(clock, 0)
    with started(place, VERBS[played.verb].words, variables) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        set_clock(clock, chance.choice(DAYS) * 86400)
        yield from finished(whet)


def together(
    place: Place, played: Round, chance: random.Random, _undone: ExitStack
) -> Iterator[str]:
    """Let two of them work at once, and kill one."""
    other = chance.choice(list(VERBS))
    played.fault = f"beside {other}, SIGKILL"
    with (
        started(place, VERBS[played.verb].words) as first,
        started(place, VERBS[other].words) as second,
    ):
        wait(first, chance.uniform(0, VERBS[played.verb].seconds))
        victim = chance.choice((first, second))
        played.has_struck = victim.poll() is None
        victim.kill()
        yield from finished(first)
        yield from finished(second)


def vanished(
    place: Place, played: Round, chance: random.Random, undone: ExitStack
) -> Iterator[str]:
    """Let the disk of the project or of whet's state be away for a while, as a share may be."""
    folder = chance.choice((place.project, place.top / "state"))
    if os.geteuid():  # to mount is root's
        yield from killed(place, played, chance, undone)
        return
    played.fault = f"vanished: {folder.name}"
    disk = place.top / "disk"
    folder.rename(disk)
    undone.callback(put_back, disk, folder)
    folder.mkdir()
    mount(undone, folder, "--bind", str(disk))
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        subprocess.run(["umount", "--lazy", folder], check=True)
        wait(whet, chance.uniform(0, 1.0))
        meanwhile = place.top / "meanwhile"  # what is written there is not on the disk
        folder.rename(meanwhile)
        undone.callback(discard, meanwhile)
        folder.mkdir()
        subprocess.run(["mount", "--bind", disk, folder], check=True)
        yield from finished(whet)


def discard(folder: Path) -> None:
    """Remove a folder; a process that still ends may write there meanwhile."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def put_back(disk: Path, folder: Path) -> None:
    """Put a folder back where it was; a process that still ends may write there meanwhile."""
    while True:
        try:
            disk.rename(folder)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            discard(folder)
        else:
            return


def frozen(place: Place, played: Round, chance: random.Random, undone: ExitStack) -> Iterator[str]:
    """Let the file system of the project or of whet's state stand still for a while."""
    folder = chance.choice((place.project, place.top / "state"))
    image, disk = place.top / "image", place.top / "frozen"
    undone.callback(image.unlink, missing_ok=True)
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
        disk.mkdir(exist_ok=True)
        mount(undone, disk, "-o", "loop", str(image))
    except (OSError, subprocess.CalledProcessError):  # no loop devices here
        yield from killed(place, played, chance, undone)
        return
    played.fault = f"frozen: {folder.name}"
    subprocess.run(["cp", "--archive", f"{folder}/.", disk], check=True)
    mount(undone, folder, "--bind", str(disk))
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        subprocess.run(["fsfreeze", "--freeze", disk], check=True)
        try:
            wait(whet, chance.uniform(0, 1.0))
            if chance.randrange(2):
                played.fault += ", SIGKILL"
                whet.kill()
        finally:
            subprocess.run(["fsfreeze", "--unfreeze", disk], check=True)
        yield from finished(whet)


Wreak = Callable[[Place, Round, random.Random, ExitStack], Iterator[str]]
WREAKS: dict[str, Wreak] = {
    "killed": killed, "signalled": signalled, "failing call": failing_call, "together": together,
    "vanished": vanished, "frozen": frozen, "starved": starved, "clock": moved_clock,
}  # fmt: skip
"""What a round may do, by the word under which it is asked for."""


def mount(undone: ExitStack, folder: Path, *words: str) -> None:
    """Mount something on a folder until the round is over."""
    subprocess.run(["mount", *words, folder], check=True, capture_output=True)
    undone.callback(lambda: subprocess.run(["umount", "--lazy", folder], check=True))


def wait(whet: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Let it work for a while."""
    with suppress(subprocess.TimeoutExpired):
        whet.wait(seconds)


def finished(whet: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Wait for the end, and yield what it says that no user should read."""
    try:
        _, said = whet.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        whet.kill()
        whet.communicate()
        yield "it did not end"
        return
    yield from complaints(said)


def complaints(said: bytes) -> Iterator[str]:
    """Yield what no user should read."""
    if b"internal-fault" in said:
        yield f"an internal fault: {said.decode()[-300:]}"


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if it is gone."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def is_whets(pid: int) -> bool:
    """Whether a process is whet's own, and no program that it runs."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        return b"whet.host" in words or b"-m\0whet\0" in words
    return False


def kind_of(fault: str) -> str:
    """Return the kind by which a fault is counted."""
    if fault == "SIGKILL: all at once":
        return "SIGKILL of all of whet's at once"
    kind = fault.partition(":")[0].partition(",")[0].partition(" ")[0]
    return "system call" if kind in CALLS else kind


def count(played: Round, known: dict[str, dict[str, int]], failed: list[Round]) -> None:
    """Add a round to what is known, and say what was wrong."""
    none = {"rounds": 0, "struck": 0, "wrong": 0, "alive": 0}
    row = known.setdefault(kind_of(played.fault), none)
    row["rounds"] += 1
    row["struck"] += played.has_struck
    row["wrong"] += bool(played.wrong)
    row["alive"] += bool(played.lived)
    if played.wrong or (played.lived and played.fault != "SIGKILL: all at once"):
        failed.append(played)
        wrong = played.wrong or [f"{played.lived} alive after a second"]
        print(
            f"round {played.number}: {played.verb}, {played.fault}: {'; '.join(wrong)}", flush=True
        )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(known, indent=1))


def main() -> None:
    """Play rounds and add up what they showed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="play this round alone, and say what it showed")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    asked = parser.parse_args()
    if asked.only is not None:
        print(*play([asked.only]))
        return
    known: dict[str, dict[str, int]] = {}
    with suppress(OSError, ValueError):
        known = json.loads(RESULTS.read_text())
    first = asked.seed + sum(each["rounds"] for each in known.values())
    failed: list[Round] = []
    rounds = range(first, first + asked.rounds)
    places = [rounds[at : at + ROUNDS_A_PLACE] for at in range(0, len(rounds), ROUNDS_A_PLACE)]
    began = time.monotonic()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for at in range(0, len(places), asked.jobs):
            if time.monotonic() - began > asked.seconds:
                break
            for together_played in pool.map(play, places[at : at + asked.jobs]):
                for played in together_played:
                    count(played, known, failed)
    rows = [[kind, *map(str, row.values())] for kind, row in sorted(known.items())]
    print_table(
        "Faults", ["fault", "rounds", "struck", "something wrong", "alive after a second"], rows
    )
    causes = Counter((each.wrong or ["alive after a second"])[0][:60] for each in failed)
    for words, times in causes.most_common():
        print(f"{times} x {words}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
