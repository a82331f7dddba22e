"""Everything that whet reads and somebody else wrote, with chance in it: it answers, or refuses in a sentence.

    python -m benchmarks.faults.fuzz [--seconds 600] [--reader NAME]
    python -m benchmarks.faults.fuzz --reader NAME --only NUMBER
    python -m benchmarks.faults.fuzz --again

Each reader has a line in the table of `fuzz_readers.py`. Its examples are drawn from their numbers: a
seed that the format's own writer has made, changed in its bytes or in its shape. A crash is anything
but an answer, an error of whet's that names what is wrong, or what the reader documents: a fault, too
deep a recursion, more than 1 GiB of memory, more than two seconds of CPU for at most 64 KiB
(ten where dozens of passes read it in turn, ninety where they ask a grammar's parser).

Examples run in a process of their own, which may die. What came of them adds up in
`benchmarks/results/fuzz.json`; the next call goes on with the next numbers. What crashed is kept beside
it; `--again` reads all of that once more.
"""

import argparse
import gc
import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType
from typing import NoReturn

from benchmarks.faults.mutator import example
from benchmarks.faults.reader import Reader
from benchmarks.faults.readers import READERS
from benchmarks.table import print_table
from whet.core.errors import WhetError

RESULTS = Path(__file__).parents[1] / "results" / "fuzz.json"
CRASHES = RESULTS.parent / "fuzz-crashes"
MOST_GROWTH_BYTES = 1 << 30
_TURN_SECONDS, _STUCK_SECONDS, _PATIENCE_SECONDS = 4.0, 120.0, 900.0
_WORD_BYTES = 8
_WHET = f"{os.sep}whet{os.sep}"


class TooSlowError(BaseException):
    """An example has taken too much CPU; no `except Exception` of a reader may catch it."""


@dataclass(kw_only=True)
class Tally:
    """What came of the examples of one reader.

    Attributes:
        examples: how many were read.
        cpu_seconds: what that took.
        crashes: the number of an example for each kind of crash.
    """

    examples: int = 0
    cpu_seconds: float = 0.0
    crashes: dict[str, int] = field(default_factory=dict[str, int])


def example_of(reader: Reader, seeds: Sequence[bytes], number: int) -> bytes:
    """Return the example of a number."""
    return example(seeds, reader.shape, Random(f"{reader.name} {number}"))


def crash_of(reader: Reader, data: bytes) -> str:
    """Read an example; return what kind of crash that is, by its error and place, or nothing."""
    met = _Met()
    with met:
        reader.read(data)
    error = met.error
    if error is None:
        return ""
    if isinstance(error, (WhetError, *reader.refuses)):
        return "" if str(error).strip() else f"{type(error).__name__} without a word"
    return f"{type(error).__name__} at {_place(error)}"


class _Met:
    """What was raised within; nothing but Ctrl-C gets out."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        self.error = error
        return not isinstance(error, KeyboardInterrupt)


def _place(error: BaseException) -> str:
    """Return the innermost line of whet's own that an error came through."""
    own = [each for each in traceback.extract_tb(error.__traceback__) if _WHET in each.filename]
    if not own:
        return "no line of whet's"
    return f"{own[-1].filename.rpartition(_WHET)[2]}:{own[-1].lineno}"


# ---- in the process that reads ----


def _too_slow(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TooSlowError


def _limit_this_process() -> None:
    lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    held = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))
    most = held + MOST_GROWTH_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _too_slow)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell in the background ignores it
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        os.dup2(os.open(os.devnull, flags), descriptor)


def _work(reader: Reader, first: int, seconds: float, shared: mmap.mmap, told: int) -> None:
    """Read examples until the time is up; tell of each crash when it is met."""
    seeds = reader.seeds()
    _limit_this_process()
    number, began = first, time.process_time()
    met: set[str] = set()
    while number == first or time.process_time() - began < seconds:
        shared[:_WORD_BYTES] = number.to_bytes(_WORD_BYTES, "little")
        try:
            data = example_of(reader, seeds, number)
        except (
            MemoryError
        ):  # an earlier example was refused, and left a list of 1 GiB that holds itself
            gc.collect()
            data = example_of(reader, seeds, number)
        signal.setitimer(signal.ITIMER_PROF, reader.most_seconds)
        try:
            kind = crash_of(reader, data)
        except TooSlowError:  # just after the reader
            kind = ""
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if kind and kind not in met:
            met.add(kind)
            os.write(told, f"{number} {kind}\n".encode())
        number += 1
    shared[:_WORD_BYTES] = number.to_bytes(_WORD_BYTES, "little")


# ---- in the process that counts ----


def run_turn(reader: Reader, first: int, seconds: float) -> tuple[Tally, int]:
    """Let a process read examples from a number on; return what came of it and the next number."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as scratch:
        return _run_turn(reader, first, seconds, Path(scratch))


def _run_turn(reader: Reader, first: int, seconds: float, scratch: Path) -> tuple[Tally, int]:
    shared = mmap.mmap(-1, _WORD_BYTES)
    shared[:] = first.to_bytes(_WORD_BYTES, "little")
    report, told = os.pipe()
    sys.stdout.flush()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid = os.fork()
    if not pid:
        os.close(report)
        os.environ.update(WHET_FUZZ_SCRATCH=str(scratch), XDG_STATE_HOME=str(scratch / "state"),
                          TMPDIR=str(scratch))  # fmt: skip
        tempfile.tempdir = str(scratch)
        code = 1
        try:
            _work(reader, first, seconds, shared, told)
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    os.close(told)
    status = _waited(pid, shared)
    with os.fdopen(report, "rb") as file:
        lines = file.read().decode().splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    number = int.from_bytes(shared[:_WORD_BYTES], "little")
    tally = Tally(
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        crashes={kind: int(at) for at, _, kind in (line.partition(" ") for line in lines)},
    )  # fmt: skip
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        pass  # nobody here sends that: the machine had no memory left for all that runs on it
    elif status:  # it died of the example that it was at
        tally.crashes[_end_in_words(status)] = number
        number += 1
    tally.examples = number - first
    return tally, number


def _waited(pid: int, shared: mmap.mmap) -> int:
    """Return the status that a process ends with; one that is stuck in C, or waits, is ended."""
    last, spent, since = shared[:], 0.0, time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        now, at = _cpu_seconds(pid), time.monotonic()
        if shared[:] != last:
            last, spent, since = shared[:], now, at
        elif now - spent > _STUCK_SECONDS or at - since > _PATIENCE_SECONDS:
            os.kill(pid, signal.SIGQUIT)
        time.sleep(0.02)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end_in_words(status: int) -> str:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGQUIT:
        return "it is stuck"
    if os.WIFSIGNALED(status):
        return f"the process dies: {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the process ends: exit {os.WEXITSTATUS(status)}"


def known() -> dict[str, Tally]:
    """Return what earlier calls have added up."""
    with suppress(OSError, ValueError):
        return {name: Tally(**told) for name, told in json.loads(RESULTS.read_text()).items()}
    return {}


def _file_of(reader: Reader, number: int) -> Path:
    name = "".join(each if each.isalnum() else "-" for each in reader.name)
    return CRASHES / f"{name}.{number}"


def keep(reader: Reader, tally: Tally, total: dict[str, Tally]) -> None:
    """Add what came of some examples to what is known, and keep what crashed."""
    sofar = total.setdefault(reader.name, Tally())
    sofar.examples += tally.examples
    sofar.cpu_seconds += tally.cpu_seconds
    CRASHES.mkdir(parents=True, exist_ok=True)
    seeds = reader.seeds() if tally.crashes else ()
    for kind, number in tally.crashes.items():
        if kind not in sofar.crashes:
            sofar.crashes[kind] = number
            _file_of(reader, number).write_bytes(example_of(reader, seeds, number))
            print(f"{reader.name}: {kind}: --reader '{reader.name}' --only {number}", flush=True)
    RESULTS.write_text(json.dumps({name: asdict(each) for name, each in total.items()}, indent=1))


def fuzz(readers: Sequence[Reader], seconds: float) -> int:
    """Read examples for some seconds of CPU, in turns: the reader that had least comes first."""
    total = known()
    ends_at = sum(each.cpu_seconds for each in total.values()) + seconds
    new = 0
    while sum(each.cpu_seconds for each in total.values()) < ends_at:
        reader = min(readers, key=lambda each: total.get(each.name, Tally()).cpu_seconds)
        sofar = total.get(reader.name, Tally())
        before = len(sofar.crashes)
        tally, _ = run_turn(reader, sofar.examples, min(_TURN_SECONDS, seconds / len(readers)))
        keep(reader, tally, total)
        new += len(total[reader.name].crashes) - before
    return new


def _read_file(reader: Reader, path: Path, _data: bytes) -> None:
    reader.read(path.read_bytes())


def again(readers: Sequence[Reader]) -> Iterator[tuple[str, str]]:
    """Yield what crashes still, of all that ever crashed, with its kind."""
    total = known()
    for reader in readers:
        for kind, number in total.get(reader.name, Tally()).crashes.items():
            path = _file_of(reader, number)
            fixed = replace(reader, read=partial(_read_file, reader, path))
            tally, _ = run_turn(fixed, number, 1e-6)
            for now in tally.crashes:
                yield f"{reader.name} {number}", f"{now} (was: {kind})"


def main() -> None:
    """Read examples, add up what came of them, and say what crashed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="of CPU, for all readers")
    parser.add_argument("--reader", help="this one alone")
    parser.add_argument("--only", type=int, help="read this example alone, and show what it raises")
    parser.add_argument("--again", action="store_true", help="read all that crashed before")
    asked = parser.parse_args()
    readers = [each for each in READERS if asked.reader in {None, each.name}]
    if not readers:
        names = ", ".join(f"`{each.name}`" for each in READERS)
        parser.error(f"there is no reader `{asked.reader}`; there are {names}")
    if asked.only is not None:
        data = example_of(readers[0], readers[0].seeds(), asked.only)
        print(f"{len(data)} bytes: {data[:2000]!r}")
        print(readers[0].read(data))
        return
    if asked.again:
        left = list(again(readers))
        print("\n".join(f"{what}: {kind}" for what, kind in left) or "nothing crashes any more")
        sys.exit(bool(left))
    warnings.simplefilter("ignore")
    new = fuzz(readers, asked.seconds)
    total = known()
    rows = [
        [name, f"{each.examples:,}", f"{each.cpu_seconds:.0f}", str(len(each.crashes))]
        for name, each in sorted(total.items())
    ]
    sums = (
        sum(each.examples for each in total.values()),
        sum(e.cpu_seconds for e in total.values()),
    )
    kinds = sum(len(each.crashes) for each in total.values())
    rows.append(["all", f"{sums[0]:,}", f"{sums[1]:.0f}", str(kinds)])
    print_table("Readers", ["reader", "examples", "CPU s", "kinds of crash ever"], rows)
    sys.exit(bool(new))


if __name__ == "__main__":
    main()
