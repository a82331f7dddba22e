"""Run a script of whet's in the user's Python; the process ends with whet, whatever it does by then."""

import os
import runpy
import select
import signal
import sys
import threading


def _end_with_whet() -> None:
    poll = select.poll()
    poll.register(0, 0)  # no event is asked for: `poll` always tells that the other end is closed
    poll.poll()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_whet, daemon=True).start()
    runpy.run_path(sys.argv[1], run_name="__main__")
