"""A fork server, as people write them: it loads the libraries once and forks for each run.

    python fork_server.py SCRIPT MODULE...

It looks at the files beside the script every five milliseconds, and each run is a fork that runs
the whole script. It is here to be compared with; see `warm.py`.
"""

import importlib
import os
import runpy
import sys
import time
from pathlib import Path


def state_of(folder: str) -> list[tuple[str, int]]:
    """Return what changes with each save."""
    return sorted(
        (entry.name, entry.stat().st_mtime_ns)
        for entry in os.scandir(folder)
        if entry.is_file() and not entry.name.startswith(".")
    )


def run(script: str) -> None:
    """Run the script in a fork, and wait for it."""
    pid = os.fork()
    if pid == 0:
        sys.argv = [script]
        sys.path.insert(0, str(Path(script).absolute().parent))
        sys.dont_write_bytecode = True
        try:
            runpy.run_path(script, run_name="__main__")
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(pid, 0)


def serve(script: str, modules: list[str]) -> None:
    """Run the script now and after each save."""
    for module in modules:
        importlib.import_module(module)
    folder = str(Path(script).absolute().parent)
    seen: list[tuple[str, int]] = []
    while True:
        now = state_of(folder)
        if now != seen:
            seen = now
            run(script)
        time.sleep(0.005)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
