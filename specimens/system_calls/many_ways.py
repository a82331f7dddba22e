"""Fails in many ways, and tells of none of them. Its argument is a folder to do that in."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

folder = Path(sys.argv[1])


def relative() -> None:
    os.chdir(folder)
    with suppress(OSError):
        os.open("no/where.txt", os.O_RDONLY)


def below_a_descriptor() -> None:
    place = os.open(folder, os.O_RDONLY)
    with suppress(OSError):
        os.open("absent", os.O_RDONLY, dir_fd=place)
    os.close(place)


def on_a_descriptor() -> None:
    place = os.open(folder / "read_only_descriptor", os.O_RDONLY | os.O_CREAT)
    with suppress(OSError):
        os.write(place, b"12345")
    os.close(place)


def two_paths() -> None:
    with suppress(OSError):
        os.rename(folder / "from", folder / "to")


def in_a_thread() -> None:
    thread = threading.Thread(target=relative)
    thread.start()
    thread.join()


def in_a_forked_child() -> None:
    pid = os.fork()
    if pid == 0:
        with suppress(OSError):
            os.listdir(folder / "of_the_child")
        os._exit(0)
    os.waitpid(pid, 0)


def in_a_program() -> None:
    subprocess.run(["cat", folder / "for_cat"], stderr=subprocess.DEVNULL, check=False)


def refused() -> None:
    with suppress(OSError), socket.socket() as own:
        own.bind(("127.0.0.1", 0))  # nobody listens there
        with socket.socket() as other:
            other.connect(own.getsockname())


def no_text() -> None:
    with suppress(OSError):
        os.open(os.fsencode(folder) + b"/\xff\xfe", os.O_RDONLY)


def waits() -> None:
    time.sleep(0.3)


def writes_and_reads() -> None:
    (folder / "written").write_text("x")
    (folder / "written").replace(folder / "renamed")
    (folder / "renamed").read_text()


def main() -> None:
    relative()
    below_a_descriptor()
    on_a_descriptor()
    two_paths()
    in_a_thread()
    in_a_forked_child()
    in_a_program()
    refused()
    no_text()
    waits()
    writes_and_reads()


main()
