"""Waits in C with the lock of the interpreter in its hand; another thread can do nothing meanwhile."""

import ctypes
import os
import threading


def wait_for_device(library: ctypes.PyDLL) -> None:
    library.read(device, ctypes.create_string_buffer(1), 1)


def report(began: threading.Event) -> None:
    began.set()
    while True:
        sum(range(1000))


device, _keeps_it_open = os.pipe()
began = threading.Event()
threading.Thread(target=report, args=[began], name="reporter", daemon=True).start()
began.wait()
print("waiting", flush=True)
wait_for_device(ctypes.PyDLL(None))
