"""`whet profile --trace`: with Nsight Systems, which a script stands in for here."""

import json
import os
import sys
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

NSYS = """\
#!{python}
import sqlite3, subprocess, sys
words = sys.argv[1:]
output = next(each for each in words if each.startswith("--output=")).partition("=")[2]
if words[0] == "profile":
    place = next(n for n, each in enumerate(words) if n and not each.startswith("--"))
    code = subprocess.call(words[place:])
    open(output + ".nsys-rep", "w").close()
    sys.exit(code)
connection = sqlite3.connect(output)
connection.execute("CREATE TABLE StringIds (id INT, value TEXT)")
connection.execute("INSERT INTO StringIds VALUES (1, 'gemm')")
connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT)")
connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 5000000, 1)")
connection.commit()
"""


def test_without_nsys_nothing_runs_and_what_brings_it_is_named(whet: Whet, tmp_path: Path) -> None:
    whet.environment["PATH"] = str(tmp_path)
    said = whet("profile", "--trace", "cuda", "--", sys.executable, "-c", "0")
    assert said.code == 69
    assert "CUDA toolkit" in said.stderr
    assert "`--gpu` uses torch's profiler" in said.stderr


def test_the_program_runs_below_nsys_and_its_report_is_shown(whet: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "nsys").write_text(NSYS.format(python=sys.executable))
    (folder / "nsys").chmod(0o755)
    whet.environment["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    said = whet("profile", "--trace", "cuda,nvtx", "--json", "--", sys.executable, "-c", "exit(6)")
    assert said.code == 6
    data = json.loads(said.stdout)
    assert "nsys" not in whet("show", "1").stdout.partition("folder")[0]  # the user's own command
    (profile,) = data["profiles"]
    assert profile["engine"] == "nsys"
    assert [(each["function"], each["own"]) for each in profile["lines"]] == [("gemm", 0.005)]
