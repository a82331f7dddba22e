"""`whet profile --io`: which lines wait for the system, and for how long."""

import json
import sys

import pytest
from whet_command import Whet

from whet.host.kernel.seccomp import why_not

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not())]


def test_the_lines_that_wait_are_named_with_what_they_wait_in(whet: Whet) -> None:
    whet.write(
        "waits.py",
        "import os, select, subprocess\n"
        "def child():\n"
        "    subprocess.run(['sleep', '0.5'])\n"
        "def nothing():\n"
        "    reader, writer = os.pipe()\n"
        "    select.select([reader], [], [], 0.3)\n"
        "child()\n"
        "nothing()\n",
    )
    said = whet("profile", "--io", "--", sys.executable, "waits.py")
    assert said.code == 0
    rows = said.stdout.splitlines()
    assert rows[1].split() == ["waits", "line"]
    assert "waits.py:3 child, in wait4" in rows[2]
    assert any("waits.py:6 nothing, in " in each for each in rows)
    data = json.loads(whet("profile", "--show", "1", "--json").stdout)
    # A line has a row for each call that it waits in: the start of a child is waited for, too.
    waits = {(each["line"], each["calls"]): each["own"] for each in data["profiles"][0]["lines"]}
    assert waits[3, "wait4"] >= 0.45
    assert sum(own for (line, _), own in waits.items() if line == 6) >= 0.25
