"""Reads the arguments of held system calls, paths and numbers, from another process's memory."""

import os
import re

from whet.host.kernel.syscalls import AT_FDCWD

_WORD = 1 << 32
_MOST_PATH_BYTES = 4096  # PATH_MAX; the kernel itself refuses what is longer
_BY_PROCESS = re.compile(
    r"/proc/(self|thread-self|[0-9]+)(?:/task/[0-9]+)?/(?:(cwd|root)(?![^/])|fd/([0-9]+)(?=/))"
    r"|/dev/fd/([0-9]+)(?=/)"
)
"""Paths that start at something that a process holds: its folders, or one that it has opened."""


class UnreadableError(Exception):
    """What a call is about can't be read."""


class MemoryReader:
    """Looks into the processes that wait for an answer."""

    def __init__(self) -> None:
        self._pid = 0
        self._memory = -1

    def forget(self) -> None:
        """Open the memory of the last process again: it becomes another program."""
        if self._memory >= 0:
            os.close(self._memory)
        self._pid, self._memory = 0, -1

    def bytes_at(self, pid: int, address: int, size: int) -> bytes:
        """Return what a process has at an address, up to where its memory ends.

        Raises:
            UnreadableError: if nothing can be read there.
        """
        try:
            if pid == self._pid:
                content = os.pread(self._memory, size, address)
                if content:
                    return content
            self.forget()
            self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            self._pid = pid
            content = os.pread(self._memory, size, address)
        except (OSError, OverflowError) as error:
            raise UnreadableError(str(error)) from error
        if not content:
            raise UnreadableError("the process is gone")
        return content

    def text_at(self, pid: int, address: int) -> str:
        """Return the text that ends with a zero; one that is too long is cut.

        Raises:
            UnreadableError: if it can't be read.
        """
        content = self.bytes_at(pid, address, _MOST_PATH_BYTES)
        return os.fsdecode(content.partition(b"\0")[0])

    def path_of(self, pid: int, folder: int, address: int) -> str:
        """Return the absolute path that a call names; empty if it names none.

        Args:
            pid: the process.
            folder: a descriptor of the folder that a relative path is relative to, as it stands
                in the call's arguments.
            address: of the path's text.

        Raises:
            UnreadableError: if it can't be read.
        """
        path = self.text_at(pid, address)
        if path[:1] != "/" and path:
            path = f"{self.target_of(pid, folder)}/{path}"
        way = _BY_PROCESS.match(path)
        if way is None:
            return path
        process, of_kernel, descriptor, of_device = way.groups()
        holder = int(process) if process and process.isdigit() else pid
        target = _followed(f"/proc/{holder}/{of_kernel or f'fd/{descriptor or of_device}'}")
        return f"{target.rstrip('/')}{path[way.end() :]}" or "/"

    def target_of(self, pid: int, descriptor: int) -> str:
        """Return what a descriptor of a process leads to: a path, or what the kernel calls it.

        Raises:
            UnreadableError: if it can't be read.
        """
        number = descriptor % _WORD
        of = "cwd" if number == AT_FDCWD % _WORD else f"fd/{number}"
        return _followed(f"/proc/{pid}/{of}")


def _followed(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError as error:
        raise UnreadableError(str(error)) from error
