"""What a program may leave in the agents' folder can't stop whet or make it wait."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.core.observations.profile import Profile, Recording
from whet.host.files.agent_files import process_of, report_at
from whet.host.inspect.failures import read_failures
from whet.host.inspect.presence import name_of, read_pythons
from whet.host.inspect.stacks import crashes_in, first_report
from whet.host.profiling.compilations import read_compilations
from whet.host.profiling.inside import Inside
from whet.host.profiling.request import Profiling
from whet.host.python.line_counts import read_lines
from whet.host.python.module_search import counts_told
from whet.host.trial.instrumented_evidence import read_closer, read_steps
from whet.host.trial.leak_reports import read_leak
from whet.host.trial.loaded_modules import read_signs
from whet.host.trial.made_payloads import read_made
from whet.host.trial.probe_reports import read_probes
from whet.host.trial.sections import sections_so_far


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


READERS: dict[str, tuple[tuple[str, ...], Callable[[Path], object]]] = {
    "failures": ((".failures", ""), read_failures),
    "pythons": ((".python",), read_pythons),
    "names": ((".python",), lambda folder: name_of(7, folder)),
    "crashes": (("",), lambda folder: tuple(crashes_in(folder))),
    "first stack": (("",), lambda folder: first_report(7, folder)),
    "probes": ((".probes", ".probe-counts"), lambda folder: read_probes(folder, '{"probes": []}')),
    "leak": ((".leak",), read_leak),
    "toggles": ((".toggles",), read_signs),
    "closer": ((".closer", ".calls"), read_closer),
    "steps": ((".steps",), read_steps),
    "lines": ((".lines", ".line-events"), lambda folder: read_lines(folder, '{"lines": {"count": 1}}')),
    "where": ((".where", ".where-counts"), counts_told),
    "made": ((".made",), read_made),
    "sections": ((".sections",), lambda folder: sections_so_far(folder, 0.0)),
    "compilations": ((".compilations",), read_compilations),
}  # fmt: skip
"""By its name, the endings of the files that each reader looks for."""


@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_agents_files_waits_for_no_pipe_and_follows_no_link(
    tmp_path: Path, name: str
) -> None:
    endings, read = READERS[name]
    agents = tmp_path / "agents"
    agents.mkdir()
    nothing = repr(read(agents))
    own = tmp_path / "own"
    own.write_bytes(b'{"at": 1, "pid": 7, "early": 1, "type": "X", "order": 1}\n' * 4)
    for ending in endings:
        os.mkfifo(agents / f"7{ending}")
        (agents / f"8{ending}").symlink_to(own)
        (agents / f"9{ending}").mkdir()
    assert repr(read(agents)) == nothing


def test_a_link_in_the_place_of_the_agents_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "7.failures").write_bytes(b"{}")
    (tmp_path / "agents").symlink_to("own")
    with pytest.raises(NotADirectoryError):
        report_at(tmp_path / "agents" / "7.failures")
