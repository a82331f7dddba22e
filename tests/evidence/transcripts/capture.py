"""Take the transcript of all specimens under one Python: `capture.py PYTHON...`.

Writes `pythonX.Y.txt` beside this file.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent
_SPECIMENS = _HERE.parents[2] / "specimens" / "failures"
_PROJECT = "/home/user/project"
_NEED_3_11 = {"group.py", "nested_group.py", "task_group.py", "with_note.py"}
# Long, or with what differs between two runs of one version.
_LEFT_OUT = {"recursion_in_library.py", "prints_a_traceback_and_succeeds.py"}


def _ask(python: str, expression: str) -> str:
    script = f"import sys, sysconfig; print({expression})"
    return subprocess.run(
        [python, "-c", script], check=True, capture_output=True, text=True
    ).stdout.strip()


def _capture(python: str) -> None:
    version = _ask(python, "'%d.%d' % sys.version_info[:2]")
    library = _ask(python, "sysconfig.get_path('stdlib')")
    is_old = tuple(int(part) for part in version.split(".")) < (3, 11)
    parts: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "project"
        shutil.copytree(_SPECIMENS, folder)
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
        for specimen in sorted(folder.glob("*.py")):
            if specimen.name in _LEFT_OUT or (is_old and specimen.name in _NEED_3_11):
                continue
            done = subprocess.run(
                [python, "-B", specimen.name],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            how = (
                f"exit {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
            )
            text = done.stderr.replace(str(folder), _PROJECT).replace(
                library, f"/usr/lib/python{version}"
            )
            text = text.replace(python, f"/usr/bin/python{version}")
            parts.append(f"### {specimen.name} {how}\n{text}")
    (_HERE / f"python{version}.txt").write_text("".join(parts))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        _capture(each)
