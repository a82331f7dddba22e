"""Waits in the kernel, where no handler runs (state D), for a child that never comes up: vfork(2)."""

import ctypes


def spawn(library: ctypes.PyDLL) -> None:
    if library.vfork() == 0:
        library.pause()  # the child: its parent is held until it becomes another program


print("spawning", flush=True)
spawn(ctypes.PyDLL(None))
