"""What kind of file or folder it is, by its content first and its name second."""

from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import BadUsage, CannotSample, PayloadEmpty, PayloadMissing, PayloadUnreadable
from whet.sampling.streams import plain_name, unknown_compression

if TYPE_CHECKING:
    from whet.sampling.table import Source

_ZIP = b"PK\3\4"
_TAR = slice(257, 262), b"ustar"
_TABLES, _LINES = frozenset({".csv", ".tsv"}), frozenset({".jsonl", ".ndjson", ".jsonlines"})
_KINDS = {
    **dict.fromkeys((".csv", ".tsv"), ("CSV", "TSV")),
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonlines"), ("JSON lines",)),
    **dict.fromkeys((".parquet", ".pq"), ("Parquet",)),
    **dict.fromkeys((".arrow", ".feather", ".arrows", ".ipc"), ("Arrow", "Arrow stream")),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), ("SQLite",)),
    **dict.fromkeys((".tar", ".tgz"), ("tar", "WebDataset")),
    ".zip": ("ZIP",),
}
_PICKLE = b"\x80"
_PICKLES = frozenset({".pkl", ".pickle", ".pt", ".pth", ".joblib"})


def open_source(path: Path, shown: str, *, has_header: bool = True) -> "Source":
    """Return what a sample is taken of.

    Args:
        path: the file or folder.
        shown: as the user wrote it.
        has_header: the first line of CSV has the names of its columns.

    Raises:
        PayloadMissing, PayloadUnreadable, PayloadEmpty, CannotSample: as they say.
    """
    name = Path(plain_name(path.name)).stem
    try:
        if path.is_dir():
            return _of_folder(path, shown)
        if not path.exists():
            raise PayloadMissing(
                f"`{shown}` does not exist", hint=f"`ls {path.parent}` lists that folder"
            )
        if not path.is_file():
            raise PayloadUnreadable(
                f"`{shown}` is a pipe, a socket or a device, not a file",
                hint=f"write its output to a file first: `cat {shown} > data`",
            )
        with path.open("rb") as file:
            head = file.read(512)
        if not head:
            raise PayloadEmpty(f"`{shown}` is empty", hint="name a file with data")
        return _of_binary(path, name, head) or _of_text(path, name, has_header=has_header)
    except OSError as error:
        raise PayloadUnreadable(
            f"whet can't read `{shown}`: {error.strerror or error}",
            hint=f"`ls -ld {shown}` shows its permissions",
        ) from error


def check_name(source: "Source", result: Path, shown: str) -> None:
    """Refuse a result whose name promises what the sample won't be.

    Args:
        source: what the sample is taken of.
        result: where the sample goes.
        shown: the result as the user wrote it.

    Raises:
        BadUsage: if the name promises another format, or a compression that whet doesn't write.
    """
    if unknown := unknown_compression(result.name):
        raise BadUsage(
            f"whet can't compress `{shown}`: it writes gzip, bzip2 and xz, not `{unknown}`",
            hint=f"leave `{unknown}` out of the name, and compress the sample afterwards",
        )
    promised = _KINDS.get(Path(plain_name(result.name)).suffix.lower())
    usual = {kind for kinds in _KINDS.values() for kind in kinds}
    if promised is not None and source.kind in usual - set(promised):
        raise BadUsage(
            f"`{shown}` promises {promised[0]}, and a sample has the format of its original: {source.kind}",
            hint="name the sample as the original, or leave `-o` out",
        )


def _of_folder(path: Path, shown: str) -> "Source":
    from whet.sampling.datasets_folder import DataSetFolder, is_saved_data_set
    from whet.sampling.folder import Folder

    if is_saved_data_set(path):
        return DataSetFolder(path, path.name)
    folder = Folder(path, path.name)
    if not folder.tables[0].count:
        raise PayloadEmpty(f"`{shown}` is an empty folder", hint="name one with files")
    return folder


def _of_binary(path: Path, name: str, head: bytes) -> "Source | None":
    """Return what the first bytes of a file say for sure."""
    if head.startswith(b"PAR1"):
        from whet.sampling.parquet_file import ParquetFile

        return ParquetFile(path, name)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        from whet.sampling.arrow_files import ArrowFile

        return ArrowFile(path, name)
    if head.startswith(b"SQLite format 3\0"):
        from whet.sampling.sqlite_file import Database

        return Database(path)
    if head.startswith(_ZIP):
        from whet.sampling.archives import ZipFile

        return ZipFile(path, name)
    return None


def _of_text(path: Path, name: str, *, has_header: bool) -> "Source":
    from whet.sampling.lines import csv_file, head_of, is_csv, is_json_lines, json_lines, text_file

    head = head_of(path)
    place, sign = _TAR
    if head[place] == sign:
        from whet.sampling.archives import TarFile

        return TarFile(path, name)
    suffix = Path(plain_name(path.name)).suffix.lower()
    if head.startswith(_PICKLE) or suffix in _PICKLES:
        raise CannotSample(
            f"`{path.name}` is a pickle: reading it as Python does would run what it contains",
            hint="`whet shrink` makes it smaller, without running it",
        )
    if b"\0" in head and suffix not in _TABLES | _LINES:
        raise CannotSample(
            f"whet doesn't know what kind of file `{path.name}` is",
            hint="`whet shrink` makes any file smaller",
        )
    if suffix in _LINES or is_json_lines(head):
        return json_lines(path, name)
    if suffix == ".json":
        raise CannotSample(
            f"`{path.name}` is one JSON value, not a row on each line",
            hint="`whet shrink` makes it smaller, or write JSON lines: `jq -c '.[]'`",
        )
    if suffix in _TABLES or is_csv(head):
        return csv_file(path, name, has_header=has_header)
    return text_file(path, name)
