"""A program: several whets on one notebook. It has one thread, so that it may fork."""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from record_builder import a_trial, failing

from whet.notebook.notebook import Notebook

PROCESSES, TRIALS, NOTEBOOKS = 4, 50, 25


def in_processes(work: Callable[[int], None]) -> None:
    """Run ``work`` in several processes that start together, to their end."""
    gate, opener = os.pipe()
    children: list[int] = []
    for each in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(opener)
                os.read(gate, 1)  # until the parent opens the gate by closing its end
                work(each)
                code = 0
            except BaseException:  # noqa: BLE001 - shown here, or nowhere
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate)
    os.close(opener)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * PROCESSES, codes


def what_came(process: str, turn: str) -> bytes:
    """Return what the trial of that process and turn wrote."""
    return f"{process} {turn}".encode() * 100


def record_at_once(folder: Path) -> None:
    """Let each process record trials in one notebook."""

    def record(process: int) -> None:
        with Notebook.open(folder) as notebook:
            for turn in range(TRIALS):
                number = notebook.begin(a_trial(str(process), str(turn)), verb="run")
                notebook.finish(number, failing(what_came(str(process), str(turn))))

    in_processes(record)


def make_at_once(folder: Path) -> None:
    """Let all processes make the same new notebook, many times over."""
    for turn in range(NOTEBOOKS):

        def make(process: int, inner: Path = folder / str(turn)) -> None:
            with Notebook.open(inner) as notebook:
                notebook.save_environment({"SAME": "for all"})
                notebook.begin(a_trial(str(process)), verb="run")

        in_processes(make)


if __name__ == "__main__":
    {"record": record_at_once, "make": make_at_once}[sys.argv[1]](Path(sys.argv[2]))
