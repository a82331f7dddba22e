"""Reports of Nsight Systems: a database with the tables that its documentation lists.

There is no GPU here: the database is made by the test, with columns of real exports.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from whet.core.observations.profile import GPU_SECONDS, Profile, Recording
from whet.host.profiling.nsys import REPORT, NsysReport, exported, nsys_words
from whet.measurement.profiles.kineto import COPIED, KERNELS, SYNCHRONISATIONS, read_kineto
from whet.measurement.profiles.line_table import lines_of

OWNER = 4711 * 0x1000000 + 4712
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT NOT NULL",
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT,"
        " demangledName INT, shortName INT"
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        "start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT,"
        " bytes INT, copyKind INT"
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT"
    ),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start INT, end INT, graphId INT",
    "NVTX_EVENTS": "start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT",
    "DIAGNOSTIC_EVENT": "timestamp INT, severity INT, source INT, text TEXT",
    "PROFILER_OVERHEAD": "start INT, end INT, nameId INT",
}
NAMES = ["", "gemm_kernel", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020", "step 1"]


def database(path: Path, rows: dict[str, Iterable[tuple[object, ...]]]) -> Path:
    """Write an export that has the tables that are filled, and no others."""
    with closing(sqlite3.connect(path)) as connection:
        for table, values in {"StringIds": enumerate(NAMES), **rows}.items():
            connection.execute(f"CREATE TABLE {table} ({TABLES[table]})")
            for each in values:
                marks = ", ".join("?" * len(each))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", each)
        connection.commit()
    return path


def training(path: Path) -> Path:
    return database(
        path,
        {
            "CUPTI_ACTIVITY_KIND_KERNEL": [(2_000_000, 5_000_000, 0, 7, 1, OWNER, 1, 1)],
            "CUPTI_ACTIVITY_KIND_MEMCPY": [(5_000_000, 6_000_000, 0, 7, 2, OWNER, 4096, 1)],
            "CUPTI_ACTIVITY_KIND_RUNTIME": [
                (1_000_000, 1_100_000, 0, OWNER, 1, 2),
                (1_200_000, 6_000_000, 0, OWNER, 3, 3),
            ],
            "NVTX_EVENTS": [
                (500_000, 7_000_000, 59, None, 4, OWNER),
                (600_000, None, 34, "a mark", None, OWNER),
            ],
        },
    )


def read(path: Path) -> tuple[Profile, list[str]]:
    with closing(NsysReport(path)) as report:
        events, notes = report.events(), report.notes(is_captured=False)
    running = json.dumps([{"pid": 4711, "traceEvents": events}]).encode()
    recording = Recording(engine="nsys", rate=0, running=running, complaint="\n".join(notes))
    return read_kineto(recording, lambda _: False), notes


def notes_of(path: Path, *, is_captured: bool = False) -> list[str]:
    with closing(NsysReport(path)) as report:
        return report.notes(is_captured=is_captured)


def test_kernels_copies_and_waits_are_read_with_the_range_that_they_are_in(tmp_path: Path) -> None:
    profile, notes = read(training(tmp_path / "r.sqlite"))
    assert notes == []
    assert profile.unit == GPU_SECONDS
    assert profile.facts[KERNELS] == 1
    assert profile.facts[COPIED] == 4096
    assert profile.facts[SYNCHRONISATIONS] == 1
    assert profile.processes[0].pid == 4711
    kernel = next(each for each in profile.stacks if each.number(GPU_SECONDS) == 0.003)
    assert [each.function for each in profile.lines_of(kernel)] == ["step 1", "gemm_kernel"]
    assert {each.calls or each.frame.function for each in lines_of(profile).lines} >= {
        "gemm_kernel"
    }


def test_a_report_without_kernels_says_why(tmp_path: Path) -> None:
    call = [(0, 10, 0, OWNER, 1, 2)]
    nothing = database(tmp_path / "a.sqlite", {})
    assert "has no CUDA at all" in notes_of(nothing)[0]
    assert "nothing started the capture" in notes_of(nothing, is_captured=True)[0]
    called = database(tmp_path / "b.sqlite", {"CUPTI_ACTIVITY_KIND_RUNTIME": call})
    assert "no kernel ran on the GPU" in notes_of(called)[0]
    graphs = database(
        tmp_path / "c.sqlite",
        {"CUPTI_ACTIVITY_KIND_RUNTIME": call, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [(0, 10, 1)]},
    )
    assert "--cuda-graph-trace=node" in notes_of(graphs)[0]


def test_warnings_of_nsys_come_first_and_mere_information_is_left_out(tmp_path: Path) -> None:
    path = database(
        tmp_path / "r.sqlite",
        {
            "DIAGNOSTIC_EVENT": [
                (0, 1, 0, "all is well"),
                (0, 2, 0, "CUDA events were lost\nmore"),
            ],
            "PROFILER_OVERHEAD": [(0, 2_500_000_000, 1), (0, 1_000_000_000, 1)],
        },
    )
    lost, overhead, nothing = notes_of(path)
    assert lost == "nsys: CUDA events were lost"
    assert overhead == "nsys: its own work took 3.5 s"
    assert "no CUDA at all" in nothing


def test_an_export_with_fewer_columns_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT)"
        )
        connection.execute("CREATE TABLE StringIds (id INT, value TEXT)")
        connection.execute("INSERT INTO StringIds VALUES (3, 'old_kernel')")
        connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000, 3)")
        connection.commit()
    profile, _ = read(path)
    assert [each.calls or each.frame.function for each in lines_of(profile).lines] == ["old_kernel"]


def test_the_command_line_asks_for_the_apis_the_memory_and_the_range() -> None:
    words = nsys_words("cuda,nvtx", is_captured=True, folder="/t")
    assert words[:2] == ("nsys", "profile")
    assert {"--trace=cuda,nvtx", "--cuda-memory-usage=true", "--capture-range=cudaProfilerApi"} <= {
        *words
    }
    assert not any("capture" in each for each in nsys_words("cuda", is_captured=False, folder="/t"))


def test_a_recording_without_a_report_is_said_to_lack_the_importer(tmp_path: Path) -> None:
    (tmp_path / f"{REPORT}.qdstrm").write_bytes(b"")
    database, complaint = exported(tmp_path)
    assert database is None
    assert "importer" in complaint
