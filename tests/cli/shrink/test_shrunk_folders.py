"""A folder as the payload of `whet shrink`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable

READS = """\
import json, pathlib, sys
top = pathlib.Path(sys.argv[1])
(top / "log.txt").open("a").write("been here\\n")
assert len((top / "log.txt").read_text().splitlines()) == 1
for path in sorted(top.rglob("*.json")):
    if json.loads(path.read_text()).get("limit") is None:
        raise ValueError(f"no limit in {path.name}")
"""


def project(whet: Whet) -> None:
    whet.write("read.py", READS)
    for number in range(24):
        content = {"limit": None if number == 13 else number, "tags": ["a", "b", number]}
        whet.write(f"data/in{number % 3}/f{number}.json", json.dumps(content))
    whet.write("data/notes.txt", "nothing\n" * 40)
    (whet.folder / "data" / "away").symlink_to("/nowhere")


def held(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {
        str(path.relative_to(folder)): "link" if path.is_symlink() else path.read_text()
        for path in files
    }


def test_a_folder_is_left_with_the_one_file_that_fails_and_what_matters_in_it(whet: Whet) -> None:
    project(whet)
    before = held(whet.folder / "data")

    said = whet("shrink", "data", "--json", "--", PYTHON, "read.py", "data")

    assert said.code == 0, said.stderr
    (answer,) = json.loads(said.stdout.splitlines()[-1])["payloads"]
    assert held(Path(answer["result"])) == {"in1/f13.json": "{}"}
    assert answer["result"] == str(whet.folder / "data.shrunk")
    assert answer["after_bytes"] == 2
    sizes = [size["bytes"] for size in answer["sizes"]]  # of what stands in its files
    assert (sizes[0], sizes[-1]) == (answer["before_bytes"], answer["after_bytes"])
    assert answer["trials"] < 45
    assert (answer["cold_because"], answer["warm"] > 0) == ("", True)
    # What the command as it was typed leaves in the folder is all that is new in it.
    assert held(whet.folder / "data") == {**before, "log.txt": "been here\n"}


@pytest.mark.long
def test_what_is_left_of_a_folder_is_shown_file_by_file(whet: Whet) -> None:
    project(whet)

    said = whet("shrink", "data", "--", PYTHON, "read.py", "data")

    assert "    in1/f13.json  (2 B)\n        {}" in said.stdout
    assert f"{whet.folder / 'data.shrunk'}" in said.stdout


@pytest.mark.long
def test_the_same_command_again_is_answered_and_writes_over_its_own_result(whet: Whet) -> None:
    project(whet)
    words = ("shrink", "data", "--json", "--", PYTHON, "read.py", "data")
    (whet.folder / "data" / "log.txt").write_text("")  # so that the first command adds nothing
    (whet.folder / "read.py").write_text(READS.replace('open("a")', 'open("w")'))

    whet(*words)
    (answer,) = json.loads(whet(*words).stdout.splitlines()[-1])["payloads"]

    assert answer["result"] == str(whet.folder / "data.shrunk")
    assert answer["cached"] > answer["trials"]
    assert not (whet.folder / "data-2.shrunk").exists()


def test_a_folder_of_the_users_own_is_never_written_over(whet: Whet) -> None:
    project(whet)
    whet.write("data.shrunk/mine.txt", "mine")

    whet("shrink", "data", "--", PYTHON, "read.py", "data")

    assert held(whet.folder / "data.shrunk") == {"mine.txt": "mine"}
    assert held(whet.folder / "data-2.shrunk") == {"in1/f13.json": "{}"}


@pytest.mark.long
def test_a_program_in_the_folder_fails_there_as_it_does_in_its_place(whet: Whet) -> None:
    whet.write("app/main.py", "import part\npart.run()\n")
    whet.write("app/part.py", "def run():\n    raise ValueError('bad')\n")
    whet.write("app/tests/test_part.py", "def test(): pass\n" * 50)

    said = whet("shrink", "app", "--json", "--budget", "5s", "--", PYTHON, "app/main.py")

    (answer,) = json.loads(said.stdout.splitlines()[-1])["payloads"]
    left = held(Path(answer["result"]))
    assert left.keys() <= {"main.py", "part.py"}
    done = subprocess.run(
        [PYTHON, str(Path(answer["result"]) / "main.py")], capture_output=True, check=False
    )
    assert done.stderr.endswith(b"ValueError: bad\n")


@pytest.mark.long
def test_the_best_so_far_stands_whole_when_whet_is_killed_and_the_same_command_goes_on(
    whet: Whet,
) -> None:
    project(whet)
    # One that writes to its folder would change the original, hence the next command's payload.
    only_reads = "\n".join(line for line in READS.splitlines() if "log.txt" not in line)
    (whet.folder / "read.py").write_text(f"import time\ntime.sleep(0.1)\n{only_reads}\n")
    words = [PYTHON, "-m", "whet", "shrink", "data", "--json", "--", PYTHON, "read.py", "data"]
    result = whet.folder / "data.shrunk"
    with subprocess.Popen(
        words, cwd=whet.folder, env={**os.environ, **whet.environment}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        until = time.monotonic() + 60
        while not result.is_dir() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    so_far = held(result)
    assert "in1/f13.json" in so_far
    assert so_far != {"in1/f13.json": "{}"}

    said = whet(*words[3:])

    assert said.code == 0, said.stderr
    (answer,) = json.loads(said.stdout.splitlines()[-1])["payloads"]
    assert answer["cached"] > 0
    assert held(Path(answer["result"])) == {"in1/f13.json": "{}"}
    assert not [path for path in whet.folder.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize(
    ("make", "slug", "code"),
    [
        ("mkdir data", "payload-empty", 65),
        ("mkdir -p data && truncate -s 1G data/large", "payload-too-large", 65),
        ("mkdir -p data && mkfifo data/pipe", "payload-unreadable", 77),
    ],
)
def test_a_folder_that_cannot_be_shrunk_is_refused(
    whet: Whet, make: str, slug: str, code: int
) -> None:
    subprocess.run(["sh", "-c", make], cwd=whet.folder, check=True)

    said = whet("shrink", "data", "--", "ls", "data")

    assert said.code == code
    assert slug in said.stderr
    assert "data" in said.stderr


def test_a_trial_on_a_folder_is_one_line_that_any_shell_runs(whet: Whet) -> None:
    whet.write("d/x/in.txt", "a needle\n")
    whet.write("s.sh", '#!/bin/sh\n! grep -rq needle "$1"\n').chmod(0o755)
    whet("shrink", "d", "--", "./s.sh", "d")

    line = whet("one-liner", "1").stdout
    done = subprocess.run(["sh", "-c", line], cwd=whet.folder, check=False)

    assert done.returncode == 1
    script = line.removeprefix("sh ").splitlines()[0]
    text = Path(script).read_text() if line.startswith("sh ") else line
    (target,) = re.findall(r"tar -xf \S+ -C (\S+)", text)
    assert (Path(target) / "x" / "in.txt").read_text() == "a needle\n"
    shutil.rmtree(target)
