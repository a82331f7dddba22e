"""Nsight Systems: its command line, and what its report says.

Tables and columns of the SQLite export differ by version, and a table without rows isn't there at
all. So each is looked up before it is read.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.text.record import MalformedRecordError, whole
from whet.host.files.foreign_database import open_foreign_database
from whet.host.process.tool import ToolMissingError, call_tool

REPORT = "whet-nsys"
"""Name of the report in the trial's folder, without its end."""

_EXPORT_SECONDS = 600.0
_NANOSECONDS_IN_MICROSECOND = 1e3
_LEAST_OVERHEAD = 1e9
_WARNING = 1
"""Diagnostics above this level say that something is missing."""
_PID, _TID = 0x1000000, 0xFFFFFF
_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_RANGES = 59
"""Kind of an NVTX event that has a start and an end in one thread (`NvtxPushPopRange`)."""


def nsys_words(trace: str, *, is_captured: bool, folder: str) -> tuple[str, ...]:
    """Return what stands before a command that Nsight Systems is to profile.

    Args:
        trace: the APIs, separated by commas, such as ``cuda,nvtx,osrt``.
        is_captured: record only while the program says so (`cudaProfilerStart`).
        folder: where the report goes.
    """
    words = [
        "nsys", "profile", f"--trace={trace}", "--cuda-memory-usage=true", "--sample=none",
        "--force-overwrite=true", "--stats=false", f"--output={folder}/{REPORT}",
    ]  # fmt: skip
    if is_captured:
        words += ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]
    return tuple(words)


def exported(folder: Path) -> tuple[Path | None, str]:
    """Return the SQLite export of the report in a folder, or why there is none."""
    reports = sorted(folder.glob(f"{REPORT}*.nsys-rep")) + sorted(folder.glob(f"{REPORT}*.qdrep"))
    if not reports and list(folder.glob(f"{REPORT}*.qdstrm")):
        return None, (
            "nsys recorded, but made no report of it: its importer is missing or failed (its own words"
            " stand above). The nsys inside Nsight Compute has none: install Nsight Systems"
        )
    if not reports:
        return None, "nsys wrote no report"
    database = folder / f"{REPORT}.sqlite"
    command = ["nsys", "export", "--type=sqlite", f"--output={database}", str(reports[0])]
    try:
        answer = call_tool(command, timeout_seconds=_EXPORT_SECONDS)
    except (ToolMissingError, OSError, TimeoutExpired) as error:
        return None, f"nsys export: {error}"
    return (database, "") if database.exists() else (None, f"nsys export: {answer.complaint}")


def read_report(database: Path, *, is_captured: bool) -> tuple[list[dict[str, object]], list[str]]:
    """Return the events of a report and what keeps it from saying everything; of a damaged one none.

    Args:
        database: its SQLite export.
        is_captured: only what the program surrounds was to be recorded.
    """
    try:
        with closing(NsysReport(database)) as report:
            return report.events(), report.notes(is_captured=is_captured)
    except (sqlite3.Error, UnicodeDecodeError, MalformedRecordError) as error:
        return [], [f"the report that nsys wrote is damaged: {error}"]


class NsysReport:
    """The SQLite export of one report, read only. A context manager."""

    def __init__(self, database: Path) -> None:
        self._connection = open_foreign_database(database)
        self._connection.text_factory = _text
        try:
            names = self._rows("SELECT name FROM sqlite_master WHERE type='table'")
        except BaseException:
            self._connection.close()
            raise
        self._tables = {str(name) for (name,) in names}

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def events(self) -> list[dict[str, object]]:
        """Return kernels, copies, calls of CUDA and NVTX ranges as events of Chrome's trace format."""
        return [
            *self._activity(_KERNELS, "kernel", "demangledName", "shortName"),
            *self._activity("CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy"),
            *self._activity("CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset"),
            *self._activity("CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_runtime", "nameId"),
            *self._ranges(),
        ]

    def notes(self, *, is_captured: bool) -> list[str]:
        """Return what keeps the report from saying everything; absence is claimed after that.

        Args:
            is_captured: only what the program surrounds was to be recorded.
        """
        notes = [f"nsys: {text}" for text in self._diagnostics()]
        if self._has_rows(_KERNELS):
            return notes
        if self._has_rows(_GRAPHS):
            return [*notes, _IN_GRAPHS]
        if is_captured:
            return [*notes, _NEVER_CAPTURED]
        if "CUPTI_ACTIVITY_KIND_RUNTIME" not in self._tables:
            return [*notes, _NO_CUDA]
        return [*notes, _NO_KERNELS]

    def _diagnostics(self) -> Iterator[str]:
        """Yield what nsys warns of."""
        columns = self._columns("DIAGNOSTIC_EVENT")
        if {"severity", "text"} <= columns:
            query = "SELECT DISTINCT text FROM DIAGNOSTIC_EVENT WHERE severity > ?"
            for (text,) in self._rows(query, (_WARNING,)):
                yield str(text).strip().partition("\n")[0]
        if {"start", "end"} <= self._columns("PROFILER_OVERHEAD"):
            ((total,),) = self._rows('SELECT TOTAL("end" - start) FROM PROFILER_OVERHEAD')
            if isinstance(total, float) and total >= _LEAST_OVERHEAD:
                yield f"its own work took {total / _LEAST_OVERHEAD:.1f} s"

    def _activity(self, table: str, kind: str, *names: str) -> Iterator[dict[str, object]]:
        columns = self._columns(table)
        if not {"start", "end"} <= columns:
            return
        name = next((each for each in names if each in columns), "")
        thread = next((each for each in ("globalTid", "globalPid") if each in columns), "")
        chosen = [
            "start", '"end"', name or "NULL", _if("correlationId", columns), _if("bytes", columns),
            thread or "NULL", _if("copyKind", columns),
        ]  # fmt: skip
        strings = self._strings() if name else {}
        copies = self._copy_kinds()
        for start, end, words, correlation, size, owner, copy in self._rows(
            f"SELECT {', '.join(chosen)} FROM {table} ORDER BY start"
        ):
            title = (
                strings.get(words, str(words)) if name else f"Memcpy {copies.get(copy, '')}".strip()
            )
            title = "Memset" if kind == "gpu_memset" else title
            yield _event(kind, title, (start, end), owner, correlation=correlation, bytes=size or 0)

    def _ranges(self) -> Iterator[dict[str, object]]:
        columns = self._columns("NVTX_EVENTS")
        if not {"start", "end", "globalTid"} <= columns:
            return
        strings = self._strings() if "textId" in columns else {}
        chosen = ["start", '"end"', _if("text", columns), _if("textId", columns), "globalTid"]
        where = f" AND eventType = {_RANGES}" if "eventType" in columns else ""
        query = f'SELECT {", ".join(chosen)} FROM NVTX_EVENTS WHERE "end" IS NOT NULL{where}'
        for start, end, text, number, owner in self._rows(query):
            title = str(text) if text is not None else strings.get(number, "range")
            yield _event("user_annotation", title, (start, end), owner)

    def _strings(self) -> dict[object, str]:
        if not {"id", "value"} <= self._columns("StringIds"):
            return {}
        return {
            number: str(value) for number, value in self._rows("SELECT id, value FROM StringIds")
        }

    def _copy_kinds(self) -> dict[object, str]:
        if not {"id", "label"} <= self._columns("ENUM_CUDA_MEMCPY_OPER"):
            return {1: "HtoD", 2: "DtoH", 8: "DtoD"}
        labels = self._rows("SELECT id, label FROM ENUM_CUDA_MEMCPY_OPER")
        return {number: str(label) for number, label in labels}

    def _has_rows(self, table: str) -> bool:
        return table in self._tables and bool(self._rows(f"SELECT 1 FROM {table} LIMIT 1"))

    def _columns(self, table: str) -> AbstractSet[str]:
        if table not in self._tables:
            return frozenset()
        return {str(row[1]) for row in self._rows(f"PRAGMA table_info({table})")}

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with closing(self._connection.execute(query, tuple(values))) as cursor:
            return cursor.fetchall()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _if(column: str, columns: AbstractSet[str]) -> str:
    return column if column in columns else "NULL"


def _event(
    kind: str, name: str, times: tuple[object, object], owner: object, **details: object
) -> dict[str, object]:
    """Return an event; its owner is a process and a thread in one number."""
    start, end = map(whole, times)
    number = owner if isinstance(owner, int) else 0
    return {
        "ph": "X", "cat": kind, "name": name, "ts": start / _NANOSECONDS_IN_MICROSECOND,
        "dur": (end - start) / _NANOSECONDS_IN_MICROSECOND,
        "pid": number // _PID % _PID, "tid": number & _TID,
        "args": {key: value for key, value in details.items() if isinstance(value, int)},
    }  # fmt: skip


_IN_GRAPHS = (
    "the kernels ran inside CUDA graphs, which nsys records as wholes; the option"
    " `--cuda-graph-trace=node` of nsys records each kernel"
)
_NEVER_CAPTURED = (
    "no kernel was recorded: nothing started the capture. The program has to call `whet.capture()`,"
    " or leave `--captured` out"
)
_NO_CUDA = (
    "the report has no CUDA at all: the program doesn't use it, ran without a GPU, or uses it in a"
    " process that nsys didn't follow"
)
_NO_KERNELS = "the program called CUDA, but no kernel ran on the GPU"
