"""Faults at random moments, and one checker behind them all: nothing lost, nothing left, nothing touched.

    python -m benchmarks.faults.chaos [--rounds 200] [--seed N]

Each round draws a verb, a fault and a moment from its own number, so that any of them can be run
again alone (`--only NUMBER`). It runs in a small repository with uncommitted changes, which lives
through ten rounds, or until one of them shows something wrong. After each:

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
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.table import print_table

RESULTS = Path(__file__).parents[1] / "results" / "chaos.json"
MARK = "CHAOS_ROUND"
PATIENCE_SECONDS, ALIVE_SECONDS = 60.0, 1.0
ROUNDS_A_PLACE = 10
DISK_BYTES = 64 << 20

PROGRAM = """\
import os, subprocess, sys, time
text = open(sys.argv[1]).read() if len(sys.argv) > 1 else "x"
if os.path.exists("slow"):
    children = [subprocess.Popen(["sleep", "300"], start_new_session=own) for own in (True, False)]
    time.sleep(0.2)
    for child in children:
        child.kill()
def counted(text):
    return sum(1 for line in text.splitlines() if "x" in line)
total = counted(text)
if total:
    raise ValueError(f"{total} lines with an x")
"""
CONFIGURATION = '{"rows": 1}'
PASSES = "a\nb\n"
DATA = "".join(f"line {number} y\n" for number in range(40)) + "the x\n"
COMMITS, GOOD = 4, 2

PYTHON = sys.executable
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

RESULTS_OF_VERBS = re.compile(
    r"(?:\w+\.(?:shrunk|sample|fails|passes)(?:-\d+)?\.\w+|page\.\w+|whet-report/[\w.]+)"
)
"""What the verbs write into the project because they are asked to."""

KILLS = ("whet", "the guardian", "the spawner", "whet and the guardian", "whet and the spawner",
         "all at once", "the program", "one of them")  # fmt: skip
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALLS = {
    "openat": ("EMFILE", "ENOSPC", "EIO", "EACCES"), "write": ("ENOSPC", "EIO", "EDQUOT"),
    "mkdir": ("ENOSPC", "EROFS"), "rename": ("EIO", "EROFS"), "unlink": ("EIO", "EROFS"),
    "mmap": ("ENOMEM",), "clone": ("EAGAIN",), "fork": ("EAGAIN",), "vfork": ("EAGAIN",),
    "execve": ("ENOMEM", "EACCES"), "socketpair": ("EMFILE",), "pipe2": ("EMFILE",),
    "flock": ("ENOLCK",), "ftruncate": ("EIO",), "fsync": ("EIO",), "getdents64": ("EIO",),
}  # fmt: skip


OFTEN = ("openat", "write", "mmap", "getdents64")
"""Calls that all of whet makes by the hundred."""


@dataclass
class Place:
    """Somebody's repository, and what belongs to it.

    Attributes:
        top: the folder of all of it.
        mark: what the environment of each process of a round says.
    """

    top: Path
    mark: str

    @property
    def project(self) -> Path:
        """The user's repository."""
        return self.top / "project"

    @property
    def environment(self) -> dict[str, str]:
        """What all that is started gets."""
        return {
            **os.environ, "HOME": str(self.top), "XDG_STATE_HOME": str(self.top / "state"),
            "TMPDIR": str(self.top / "tmp"), MARK: self.mark, "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip

    def make(self) -> None:
        """Make the repository, with changes that are not committed, and a first trial."""
        (self.top / "tmp").mkdir()
        self.project.mkdir()
        self.call("git", "init", "--quiet", "--initial-branch=main")
        (self.project / "rows.json").write_text(CONFIGURATION)
        (self.project / "passes.txt").write_text(PASSES)
        good = PROGRAM.replace('"x" in line', '"none of them" in line')
        for number in range(COMMITS):
            (self.project / "app.py").write_text(good if number < GOOD else PROGRAM)
            (self.project / "notes.txt").write_text(str(number))
            (self.project / "data.txt").write_text(DATA)
            self.call("git", "add", "--all")
            self.call("git", "commit", "--quiet", "-m", str(number))
        (self.project / "slow").write_text("")
        (self.project / ".env").write_text("PASSWORD=never-leaves")
        self.whet("run", "--", "true")

    def call(self, *words: str) -> str:
        """Run a command there."""
        done = subprocess.run(
            words, cwd=self.project, env=self.environment, check=True, capture_output=True
        )
        return done.stdout.decode()

    def whet(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        """Run whet there, to its end."""
        return subprocess.run(
            [PYTHON, "-m", "whet", *words], cwd=self.project, env=self.environment, check=False,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS,
        )  # fmt: skip

    @property
    def state(self) -> Path:
        """Where whet keeps what it knows of the repository."""
        (found,) = (self.top / "state" / "whet" / "projects").iterdir()
        return found

    def users(self) -> dict[str, bytes]:
        """Return all that is the user's, git's own with it; results of a search are not."""
        found: dict[str, bytes] = {}
        for path in sorted(self.project.rglob("*")):
            name = str(path.relative_to(self.project))
            is_result = RESULTS_OF_VERBS.fullmatch(name) is not None
            if path.is_file() and not is_result and not name.startswith(".git/worktrees"):
                found[name] = path.read_bytes()
        return found

    def ended(self) -> set[int]:
        """Return the trials that have ended.

        Raises:
            sqlite3.DatabaseError: if the notebook is not whole.
        """
        connection = sqlite3.connect(self.state / "notebook.db")
        try:
            (word,) = connection.execute("PRAGMA integrity_check").fetchone()
            if word != "ok":
                raise sqlite3.DatabaseError(word)
            return {number for (number,) in connection.execute("SELECT trial FROM outcome")}
        finally:
            connection.close()

    def alive(self) -> list[int]:
        """Return the processes that this round has started."""
        found: list[int] = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                environment = (process / "environ").read_bytes().split(b"\0")
                state = (process / "stat").read_text().rpartition(")")[2].split()[0]
                if f"{MARK}={self.mark}".encode() in environment and state not in "ZX":
                    found.append(int(process.name))
        return found


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


def play(numbers: Sequence[int]) -> list[Round]:
    """Play rounds in one place, and go on in another one after something wrong."""
    rounds: list[Round] = []
    while len(rounds) < len(numbers):
        top = Path(tempfile.mkdtemp(prefix="chaos-"))
        place = Place(top, f"{numbers[len(rounds)]}-{os.getpid()}")
        try:
            place.make()
            users = place.users()
            for number in numbers[len(rounds) :]:
                rounds.append(play_one(place, number, users))
                if rounds[-1].wrong:
                    break
        finally:
            for pid in place.alive():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(top, ignore_errors=True)
    return rounds


def play_one(place: Place, number: int, users: dict[str, bytes]) -> Round:
    """Play one round, and put back what its fault has changed in the place."""
    chance = random.Random(number)
    played = Round(number)
    played.verb = chance.choice(list(VERBS))
    before = place.ended()
    with ExitStack() as undone:
        wreak: Callable[[], Iterator[str]] = chance.choice(
            [
                lambda: killed(place, played, chance),
                lambda: signalled(place, played, chance),
                lambda: failing_call(place, played, chance),
                lambda: together(place, played, chance),
                lambda: vanished(place, played, chance, undone),
                lambda: frozen(place, played, chance, undone),
            ]
        )
        try:
            played.wrong.extend(wreak())
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


def started(place: Place, words: list[str]) -> "subprocess.Popen[bytes]":
    """Start whet."""
    return subprocess.Popen(
        [PYTHON, "-m", "whet", *words], cwd=place.project, env=place.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def killed(place: Place, played: Round, chance: random.Random) -> Iterator[str]:
    """Kill some of it by SIGKILL, with all of it stopped, so that nobody sees another's end."""
    whom = chance.choice(KILLS)
    played.fault = f"SIGKILL: {whom}"
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        pids = place.alive()
        helpers = [pid for pid in pids if pid != whet.pid and is_whets(pid)]
        guardians = [pid for pid in helpers if parent_of(pid) == whet.pid]
        spawners = [pid for pid in helpers if parent_of(pid) in guardians]
        programs = [pid for pid in pids if not is_whets(pid)]
        victims = {
            "whet": [whet.pid], "the guardian": guardians, "the spawner": spawners,
            "whet and the guardian": [whet.pid, *guardians],
            "whet and the spawner": [whet.pid, *spawners], "all at once": [whet.pid, *helpers],
            "the program": programs[:1], "one of them": chance.sample(pids, min(1, len(pids))),
        }[whom]  # fmt: skip
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in victims:
                with suppress(OSError):
                    os.kill(pid, number)
        if whet.pid in victims:
            deadline = time.monotonic() + ALIVE_SECONDS
            while (alive := place.alive()) and time.monotonic() < deadline:
                time.sleep(0.01)
            played.lived = len(alive)
        yield from finished(whet)


def signalled(place: Place, played: Round, chance: random.Random) -> Iterator[str]:
    """Send it a signal that it hears, or stop it for a while before."""
    number = chance.choice(SIGNALS)
    played.fault = number.name
    with started(place, VERBS[played.verb].words) as whet:
        wait(whet, chance.uniform(0, VERBS[played.verb].seconds))
        played.has_struck = whet.poll() is None
        if not chance.randrange(3):
            played.fault = f"SIGSTOP, {number.name}"
            with suppress(OSError):
                os.kill(whet.pid, signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(whet.pid, signal.SIGCONT)
        whet.send_signal(number)
        yield from finished(whet)


def failing_call(place: Place, played: Round, chance: random.Random) -> Iterator[str]:
    """Let the Nth system call of a kind fail, in whet and in all that it starts."""
    call = chance.choice(list(CALLS))
    numbers = (1, 2, 3, 5, 10, 30, 100, 300) if call in OFTEN else (1, 2, 3, 5)
    wanted = f"{call}:{chance.choice(CALLS[call])}@{chance.choice(numbers)}"
    played.fault = wanted
    outer = {**place.environment, "XDG_STATE_HOME": str(place.top / "outer")}
    inner = f"XDG_STATE_HOME={place.top / 'state'}"
    done = subprocess.run(
        [PYTHON, "-m", "whet", "run", "--fail", wanted, "--", "env", inner, PYTHON, "-m", "whet",
         *VERBS[played.verb].words],
        cwd=place.project, env=outer, check=False, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=2 * PATIENCE_SECONDS,
    )  # fmt: skip
    played.has_struck = b"hit nothing" not in done.stderr
    yield from complaints(done.stderr)


def together(place: Place, played: Round, chance: random.Random) -> Iterator[str]:
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
        yield from killed(place, played, chance)
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
        yield from killed(place, played, chance)
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
