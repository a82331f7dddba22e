"""Keeping all of a program's output in little memory while it streams."""

import hashlib
import mmap
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.output import BytesOutput, Output, first_match, last_match
from whet.core.value_class import value_class

IN_MEMORY_BYTES = 64 * 1024
"""Longer streams go to a file. Most outputs are far shorter."""


@value_class(kw_only=True)
class Capture:
    """One finished stream, for the notebook to keep.

    Attributes:
        digest: SHA-256 of the stream, in hexadecimal.
        size_bytes: its length.
        data: the stream itself; empty if it is in ``file``.
        file: a file that holds it, for the owner to move; None: see ``data``.
    """

    digest: str
    size_bytes: int
    data: bytes = b""
    file: Path | None = None


@value_class(kw_only=True)
class FileOutput:
    """A captured stream that is in a file; satisfies `whet.core.output.Output`."""

    path: Path
    digest: str
    size_bytes: int

    def head(self, max_bytes: int, /) -> bytes:
        """Return the first bytes of the stream."""
        with self.path.open("rb", buffering=0) as file:
            return file.read(max_bytes)

    def tail(self, max_bytes: int, /) -> bytes:
        """Return the last bytes of the stream."""
        with self.path.open("rb") as file:
            file.seek(max(0, self.size_bytes - max_bytes))
            return file.read(max_bytes)

    def search(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the first match anywhere in the stream."""
        return self._search(first_match, pattern)

    def search_last(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the last match anywhere in the stream."""
        return self._search(last_match, pattern)

    def _search(
        self, find: Callable[[re.Pattern[bytes], bytes], bytes | None], pattern: re.Pattern[bytes]
    ) -> bytes | None:
        if self.size_bytes == 0:
            return find(pattern, b"")
        with (
            self.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        ):
            # `re` searches any buffer; the core's signature says bytes, which is what it returns.
            return find(pattern, mapped)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def keep_in_place(capture: Capture) -> Output:
    """Return a capture as an output without moving it anywhere."""
    if capture.file is None:
        return BytesOutput(capture.data)
    return FileOutput(path=capture.file, digest=capture.digest, size_bytes=capture.size_bytes)


class Capturing:
    """Takes one stream as it comes.

    A full disk doesn't stop the program: what no longer fits is let go, and ``loss`` says so.

    Attributes:
        size_bytes: how much has been kept.
        loss: why the rest is missing; None while nothing is.
    """

    def __init__(
        self, scratch: Path, register: Callable[[Path], None], *, from_terminal: bool = False
    ) -> None:
        r"""Begin.

        Args:
            scratch: folder for a stream that is too long for memory.
            register: called with the file's path before it is made.
            from_terminal: the stream comes through a pseudo-terminal, which turns each ``\\n``
                into ``\\r\\n``; what is kept is what the program wrote.
        """
        self.size_bytes = 0
        self.loss: str | None = None
        self._scratch = scratch
        self._register = register
        self._from_terminal = from_terminal
        self._held_back = b""
        self._digest = hashlib.sha256()
        self._memory = bytearray()
        self._file: Path | None = None
        self._descriptor = -1

    def feed(self, data: memoryview) -> None:
        """Take what came next."""
        if self._from_terminal:
            data = memoryview(self._as_written(data))
        if self.loss is None and data:
            self._keep(data)

    def finish(self) -> Capture:
        """Return the whole stream."""
        if self._held_back:
            self._keep(memoryview(self._held_back))
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        return Capture(
            digest=self._digest.hexdigest(),
            size_bytes=self.size_bytes,
            data=bytes(self._memory),
            file=self._file,
        )

    def _as_written(self, data: memoryview) -> bytes:
        text = self._held_back + data
        self._held_back = b"\r" if text.endswith(b"\r") else b""
        return text[: len(text) - len(self._held_back)].replace(b"\r\n", b"\n")

    def _keep(self, data: memoryview) -> None:
        if self._file is None and self.size_bytes + len(data) <= IN_MEMORY_BYTES:
            self._memory += data
        else:
            data = self._write(data)
        self._digest.update(data)
        self.size_bytes += len(data)

    def _write(self, data: memoryview) -> memoryview:
        """Write to the file as much as fits and return that part."""
        count = 0
        try:
            if self._file is None:
                self._spill()
            while count < len(data):
                count += os.write(self._descriptor, data[count:])
        except (OSError, WhetError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            self.loss = f"whet lost the output after {self.size_bytes + count} bytes: {why}"
        return data[:count]

    def _spill(self) -> None:
        """Move what is in memory to a file; if that fails it stays in memory."""
        path = self._scratch / f"output-{os.urandom(8).hex()}"
        self._register(path)
        self._scratch.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            rest = memoryview(bytes(self._memory))
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.close(descriptor)
            with suppress(OSError):
                path.unlink()
            raise
        self._file, self._descriptor = path, descriptor
        self._memory.clear()
