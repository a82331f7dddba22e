"""Running out of disk in an instant: a real program fails as it would, and the limit is named."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from room_users import User, user

_FILL = """
import os, tempfile
written = 0
try:
    with tempfile.NamedTemporaryFile(prefix="checkpoint") as file:
        while True:
            written += os.write(file.fileno(), bytes(1 << 16))
finally:
    print(written, flush=True)
"""
_COUNT = """
import os, sys
for number in range(1000):
    try:
        open(os.path.join(sys.argv[1], f"shard-{number}"), "w").close()
    except OSError as error:
        print(number)
        raise
"""


@pytest.fixture(params=["root", "ordinary"])
def ada(request: pytest.FixtureRequest) -> Iterator[User]:
    with user(request.param) as one:
        yield one


def test_temporary_files_have_as_much_space_as_was_said(ada: User) -> None:
    ada.write("fill.py", _FILL)
    answer = ada("run", "--disk", "3M", "--", ada.python, "fill.py")

    assert answer.code == 1
    assert int(answer.stdout) == 3 << 20
    assert "No space left on device" in answer.stderr
    assert f"{ada.temporary}" in answer.stderr
    assert "limit `--disk 3MiB:" in answer.stderr
    assert "fill.py:7" in answer.stderr
    assert list(ada.temporary.iterdir()) == []


def test_a_disk_that_is_full_at_the_end_says_how_full(ada: User) -> None:
    script = "dd if=/dev/zero of=data/x bs=64k"
    ada.make_folder("data")
    answer = ada("run", "--disk", "1M:data", "--", "sh", "-c", script)

    assert answer.code == 1
    assert "`--disk 1MiB:" in answer.stderr
    assert "1.00 of 1.00 MiB used" in answer.stderr
    assert list((ada.folder / "data").iterdir()) == []


def test_an_almost_full_folder_shows_what_is_in_it_and_takes_little_more(ada: User) -> None:
    data = ada.make_folder("data")
    ada.write("data/old", "before")
    script = "cat data/old; echo after > data/old; cat data/old; dd if=/dev/zero of=data/new bs=64k"
    answer = ada("run", "--disk-free", "2M:data", "--", "sh", "-c", script)

    assert answer.code == 1
    assert answer.stdout == "beforeafter\n"
    assert "`--disk-free 2MiB:" in answer.stderr
    assert "2.00 of 2.00 MiB used" in answer.stderr
    assert (data / "old").read_text() == "before"
    assert not (data / "new").exists()


def test_a_disk_has_as_many_files_as_was_said(ada: User) -> None:
    ada.write("count.py", _COUNT)
    command = (ada.python, "count.py", str(ada.temporary))
    answer = ada("run", "--disk", "4M", "--inodes", "17", "--", *command)

    assert answer.code == 1
    assert answer.stdout == "17\n"
    assert "`--inodes 17:" in answer.stderr
    assert "17 of 17 files" in answer.stderr


def test_what_is_read_only_cannot_be_written_to_even_by_its_owner(ada: User) -> None:
    ada.write("model.bin", "weights")
    answer = ada("run", "--read-only", ".", "--", "sh", "-c", "cat model.bin; echo x > model.bin")

    assert answer.code != 0
    assert answer.stdout == "weights"
    assert "Read-only file system" in answer.stderr
    assert "`--read-only " in answer.stderr
    assert (ada.folder / "model.bin").read_text() == "weights"


def test_the_program_and_its_project_are_seen_though_a_disk_lies_over_them(ada: User) -> None:
    ada.write("here.py", "print('here', open('here.py').read()[:5])")
    over = f"1M:{ada.folder.parent}"
    answer = ada("run", "--disk", over, "--", ada.python, str(ada.folder / "here.py"))

    assert (answer.code, answer.stdout) == (0, "here print\n")


def test_a_disk_in_memory_does_not_eat_up_the_memory_limit() -> None:
    with user("root") as ada:
        options = ("--memory", "32M", "--disk", "48M")
        fill = "dd if=/dev/zero of=$TMPDIR/x bs=1M count=46"
        answer = ada("run", *options, "--", "sh", "-c", fill)

    assert answer.code == 0, answer.stderr
    assert "`--memory` is 48 MiB more" in answer.stderr


def test_the_least_disk_with_which_a_program_succeeds_is_found() -> None:
    fill = "dd if=/dev/zero of=$TMPDIR/x bs=1k count=300 2>/dev/null"
    with user("root") as ada:
        answer = ada("starve", "--find", "disk", "--json", "--", "sh", "-c", fill)

    assert "300 KiB" in answer.stdout, answer.stderr


@pytest.mark.long
def test_investigate_makes_the_data_small_under_the_limit() -> None:
    fills = "import os, sys, tempfile\nfile = tempfile.NamedTemporaryFile()\nfor line in open(sys.argv[1]):\n    file.write(line.encode() * 9999); file.flush()\n"
    with user("root") as ada:
        ada.write("fills.py", fills)
        ada.write("data.txt", "".join(f"line {number}\n" for number in range(6)))
        limit = ("--disk", "64K", "--jobs", "1", "--cold")
        answer = ada("investigate", *limit, "--json", "--", ada.python, "fills.py", "data.txt")
        assert answer.stdout, answer.stderr
        told = json.loads(answer.stdout)
        report = (ada.folder / "whet-report").rglob("data.txt")
        smallest = min(path.stat().st_size for path in report)

    assert "`--disk 64KiB:" in json.dumps(told)
    assert smallest <= 8


def test_investigate_names_the_file_system_that_is_full() -> None:
    full = "raise OSError(28, 'No space left on device', '/usr/full')\n"
    with user("root") as ada:
        ada.write("full.py", full)
        answer = ada("investigate", "--json", "--cold", "--", ada.python, "full.py")

    steps = [step["result"] for step in json.loads(answer.stdout)["steps"]]
    assert any("`/usr/full` is on" in step and "--disk-free 1MiB:/usr`" in step for step in steps)


def test_nothing_is_mounted_on_the_machine(ada: User) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    look = f"cat /proc/{os.getpid()}/mountinfo"  # that of this test, while the trial runs
    answer = ada("run", "--disk", "1M", "--read-only", ".", "--", "sh", "-c", look)

    assert (answer.code, answer.stdout) == (0, before)
    assert Path("/proc/self/mountinfo").read_text() == before


def test_a_program_without_a_lack_of_space_is_not_said_to_have_one(ada: User) -> None:
    answer = ada("run", "--disk", "1M", "--", "sh", "-c", "exit 3")

    assert answer.code == 3
    assert "limit" not in answer.stderr


def test_root_that_unmounts_its_disk_is_told_that_the_limit_did_not_hold() -> None:
    with user("root") as ada:
        ada.make_folder("data")
        answer = ada("run", "--disk", "1M:data", "--", "umount", "-l", "data")

    assert "the program unmounted" in answer.stderr
    assert "data" in answer.stderr


def test_a_user_cannot_unmount_a_limit() -> None:
    with user("ordinary") as ada:
        ada.make_folder("data")
        answer = ada("run", "--disk", "1M:data", "--", "umount", "data")

    assert answer.code != 0
    assert "the program unmounted" not in answer.stderr


def test_what_makes_no_sense_is_refused_before_anything_runs() -> None:
    with user("root") as ada:
        answer = ada("run", "--disk", "1M:/not/there", "--", "echo", "ran")

    assert (answer.code, answer.stdout) == (64, "")
    assert "create it first: `mkdir -p /not/there`" in answer.stderr
