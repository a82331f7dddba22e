import os
from collections.abc import Callable
from pathlib import Path

import pytest
from record_builder import a_trial, failing, same

from whet.notebook.notebook import Notebook

PROCESSES, TRIALS = 4, 50


def in_processes(work: Callable[[int], None]) -> list[int]:
    """Run ``work`` in several processes that start together; return their exit codes."""
    gate_reader, gate = os.pipe()
    children: list[int] = []
    for each in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(gate)
                os.read(gate_reader, 1)  # until the parent opens the gate by closing it
                work(each)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate_reader)
    os.close(gate)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.slow
def test_many_whets_record_at_once_and_each_trial_is_whole(tmp_path: Path) -> None:
    def record(process: int) -> None:
        with Notebook.open(tmp_path) as notebook:
            for turn in range(TRIALS):
                number = notebook.begin(a_trial(str(process), str(turn)), verb="run")
                notebook.finish(number, failing(f"{process} {turn}".encode() * 100))

    assert in_processes(record) == [0] * PROCESSES

    with Notebook.open(tmp_path) as notebook:
        entries = list(notebook.entries())
    assert sorted(entry.number for entry in entries) == list(range(1, PROCESSES * TRIALS + 1))
    assert len({entry.trial.command for entry in entries}) == PROCESSES * TRIALS
    for entry in entries:
        process, turn = entry.trial.command[-2:]
        assert same(failing(f"{process} {turn}".encode() * 100), entry.outcome)


@pytest.mark.slow
def test_many_whets_make_one_notebook_together(tmp_path: Path) -> None:
    for turn in range(25):
        folder = tmp_path / str(turn)

        def make(process: int, folder: Path = folder) -> None:
            with Notebook.open(folder) as notebook:
                notebook.save_environment({"SAME": "for all"})
                notebook.begin(a_trial(str(process)), verb="run")

        assert in_processes(make) == [0] * PROCESSES
        with Notebook.open(folder) as notebook:
            assert {entry.number for entry in notebook.entries()} == {1, 2, 3, 4}
