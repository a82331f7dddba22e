"""What a program may leave in the agents' folder can't stop whet or make it wait."""

import gzip
import json
import os
from pathlib import Path

import pytest

from whet.core.observations.profile import Profile, Recording
from whet.host.files.agent_files import process_of
from whet.host.profiling.compilations import read_compilations
from whet.host.profiling.inside import Inside
from whet.host.profiling.request import Profiling


@pytest.mark.parametrize(
    ("name", "process"),
    [
        ("7.failures", 7), ("7-0.torch.json", 7), ("7.jax", 7), ("123456789.a", 123456789), ("7", 7),
        ("x.torch.json", 0), (".memory", 0), ("²-0.torch.json", 0), ("-1.a", 0), ("9" * 5000, 0),
    ],
)  # fmt: skip
def test_a_name_gives_its_process_or_none(name: str, process: int) -> None:
    assert process_of(Path("/agents") / name) == process


def read(recording: Recording) -> Profile:
    profile = Profile(
        question="gpu", engine=recording.engine, unit="", notes=(recording.complaint,)
    )
    json.loads(recording.running)
    return profile


def profile_of(folder: Path, question: str) -> Profile:
    asked = Profiling(question=question, read=read, read_native=read)
    (evidence,) = Inside(asked, folder).evidence()
    return Profile.from_json(json.loads(evidence.data))


@pytest.mark.parametrize("question", ["gpu", "memory"])
def test_pipes_folders_and_odd_names_among_the_files_of_agents_are_passed_over(
    tmp_path: Path, question: str
) -> None:
    for name in ("7-0.torch.json", "8.memory", "9.compilations", "7.jax-files"):
        os.mkfifo(tmp_path / name)
    for name in ("x.torch.json", "y.memory", "7.memray", "z.compilations"):
        (tmp_path / name).mkdir()
    assert "whet can't read" in profile_of(tmp_path, question).notes[0] or question == "memory"
    assert read_compilations(tmp_path) == ()


def test_a_file_that_says_nothing_of_its_profiler_is_named(tmp_path: Path) -> None:
    (tmp_path / "7.memory").write_bytes(b'{"executable": 3')
    assert profile_of(tmp_path, "memory").notes[0].startswith("7.memory is damaged: invalid JSON")


def test_a_trace_that_is_cut_off_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "7.jax" / "plugins" / "profile" / "a"
    folder.mkdir(parents=True)
    whole = gzip.compress(b'{"traceEvents": []}')
    (folder / "a.trace.json.gz").write_bytes(whole)
    assert profile_of(tmp_path, "gpu").engine == "jax.profiler"
    (folder / "a.trace.json.gz").write_bytes(whole[:-12])
    assert profile_of(tmp_path, "gpu").engine == "torch.profiler"
