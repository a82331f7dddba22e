"""Disks that are full or read-only, in a mount namespace of the test's own."""

import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest

_UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


@cache
def _reason_why_not() -> str:
    try:
        tried = subprocess.run(
            [*_UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return "needs `unshare`: apt-get install util-linux"
    return "" if tried.returncode == 0 else f"no mounts here: {tried.stderr.strip()}"


def run_with_mounts(mounts: str, script: str, folder: Path) -> str:
    """Run a Python script with some mounts that nobody else sees; return what it printed.

    Args:
        mounts: shell commands; the folder is ``$1``.
        script: Python; the folder is ``folder``.
        folder: where both start.
    """
    reason = _reason_why_not()
    if reason:
        pytest.skip(reason)
    prelude = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from pathlib import Path; folder = Path({str(folder)!r})\n"
    )
    done = subprocess.run(
        [
            *[*_UNSHARE, "sh", "-ec", f'{mounts}\nexec "$2" -c "$3"', "sh"],
            *[str(folder), sys.executable, prelude + textwrap.dedent(script)],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
