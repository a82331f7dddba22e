"""Lines of the journal, written by a thread so that nobody waits for the disk."""

import queue
import tempfile
import threading
import time
from pathlib import Path

_lines = None
_path = Path(tempfile.mkdtemp()) / "journal.txt"


def start():
    global _lines
    _lines = queue.Queue()
    threading.Thread(target=_write, args=(_lines,), daemon=True).start()


def note(text):
    _lines.put(f"{time.time():.3f} {text}")


def flush():
    _lines.join()


def _write(lines):
    while True:
        line = lines.get()
        with _path.open("a") as out:
            out.write(line + "\n")
        lines.task_done()
