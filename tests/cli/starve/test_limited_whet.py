"""Where limits of the shell leave whet too little, it says which limit, and never stands still."""

import os
import subprocess
import sys

import pytest
from room_users import user
from whet_command import Whet

pytestmark = pytest.mark.slow

_MOST_SECONDS = 60


@pytest.mark.parametrize(
    "limit",
    [
        "-n 10",
        "-n 14",
        "-n 18",
        pytest.param("-n 24", marks=pytest.mark.long),
        "-v 40000",
        pytest.param("-v 50000", marks=pytest.mark.long),
        "-v 57500",  # what watches is refused a library, in a thread
        # What watches stood still for ever here, with Python's lock in its hand.
        "-v 60000",
        "-v 62000",
        pytest.param("-v 64000", marks=pytest.mark.long),
    ],
)
def test_under_a_limit_whet_does_its_work_or_names_the_limit(whet: Whet, limit: str) -> None:
    whet.write("main.py", "print('done')\n")
    words = (sys.executable, "-m", "whet", "loop", "--runs", "1", "--verify", "off", "--")
    done = subprocess.run(
        ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *words, sys.executable, "main.py"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=_MOST_SECONDS,
    )

    if done.returncode:
        assert f"`ulimit {limit.split(maxsplit=1)[0]}" in done.stderr, done.stderr
        assert "whet itself failed" not in done.stderr
        assert "Traceback" not in done.stderr
    else:
        assert done.stdout == "done\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: needs root")
@pytest.mark.parametrize("most", [3, 9, 10])
def test_where_no_more_processes_are_allowed_that_limit_is_named(most: int) -> None:
    with user("ordinary") as ada:
        ada.write("main.py", "print('done')\n")
        words = ada.command("loop", "--runs", "1", "--verify", "off", "--", ada.python, "main.py")
        done = subprocess.run(
            ["prlimit", f"--nproc={most}", *words],
            cwd=ada.folder,
            env=ada.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_MOST_SECONDS,
        )

    if done.returncode:
        assert "`ulimit -u`" in done.stderr, done.stderr
        assert "report this" not in done.stderr
