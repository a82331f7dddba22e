"""The user's Python that answers whet ends with whet, also in the middle of an answer."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

ASKS = """\
import os, sys
from pathlib import Path
from whet.host.python.asked_python import AskedPython
with AskedPython(sys.executable, Path(sys.argv[1]), cwd=Path.cwd(), environment=os.environ) as asked:
    asked.ask({})
"""
COMPUTES = """\
import os, sys
sys.stdin.readline()
with open(sys.argv[0] + ".pid", "w") as file:
    print(os.getpid(), file=file)
while True:
    sum(range(1000))
"""
PATIENCE_SECONDS = 30


def test_a_python_that_answers_ends_at_once_when_whet_is_killed(tmp_path: Path) -> None:
    script, pipe = tmp_path / "script.py", tmp_path / "number"
    script.write_text(COMPUTES.replace('sys.argv[0] + ".pid"', repr(str(pipe))))
    os.mkfifo(pipe)

    with subprocess.Popen([sys.executable, "-c", ASKS, str(script)]) as whet:
        worker = os.pidfd_open(int(pipe.read_text()))
        whet.send_signal(signal.SIGKILL)
    ended, _, _ = select.select([worker], [], [], PATIENCE_SECONDS)
    os.close(worker)

    assert ended
