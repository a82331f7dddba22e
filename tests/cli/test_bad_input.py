"""Each thing that can be wrong: a clear error, nothing lost, nothing left behind."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from whet_command import Whet

PYTHON = sys.executable
FAILS_ON_X = "import sys\nif 'x' in open(sys.argv[1]).read(): raise KeyError('x')\n"


def left_behind(whet: Whet) -> list[str]:
    """Return what whet made on the machine and did not remove."""
    made = [str(path) for path in (whet.state / "made").glob("*")]
    temporary = [str(path) for path in Path(whet.environment["TMPDIR"]).iterdir()]
    return made + temporary


def refused(
    whet: Whet, *words: str, slug: str, code: int, value: str, env: dict[str, str] | None = None
) -> str:
    said = whet(*words, environment=env or {})

    assert f"whet explain {slug}" in said.stderr, said.stderr
    assert "hint: " in said.stderr
    assert value in said.stderr
    assert "Traceback" not in said.stderr
    assert said.code == code
    assert left_behind(whet) == []
    return said.stderr


def test_a_command_that_does_not_exist(whet: Whet) -> None:
    refused(whet, "run", "--", "no-such-program", slug="command-not-found", code=66,
            value="no-such-program")  # fmt: skip


def test_a_command_that_may_not_be_executed(whet: Whet) -> None:
    whet.write("script.sh", "echo hello\n")

    refused(whet, "run", "--", "./script.sh", slug="command-not-executable", code=77,
            value="script.sh")  # fmt: skip


@pytest.mark.parametrize("words", [("run",), ("run", "--"), ("run", "--", "")])
def test_a_command_that_is_empty(whet: Whet, words: tuple[str, ...]) -> None:
    refused(whet, *words, slug="empty-command", code=64, value="command")


def test_where_a_command_belongs_is_told_without_naming_another_verb(whet: Whet) -> None:
    whet.write("data.csv", "a,b\n")

    said = refused(whet, "shrink", "data.csv", slug="empty-command", code=64, value="command")

    assert "write it last, after `--`: `… -- python train.py`" in said


def test_a_folder_that_does_not_exist(whet: Whet) -> None:
    refused(whet, "run", "--cwd", "nowhere", "--", "true", slug="folder-not-found", code=66,
            value="nowhere")  # fmt: skip


def test_a_baseline_that_does_not_fail(whet: Whet) -> None:
    whet.write("data.txt", "fine")
    whet.write("load.py", FAILS_ON_X)

    refused(whet, "shrink", "data.txt", "--", PYTHON, "load.py", "data.txt",
            slug="baseline-does-not-fail", code=65, value="load.py")  # fmt: skip


def test_a_payload_that_is_missing(whet: Whet) -> None:
    refused(whet, "shrink", "data.txt", "--", "cat", "data.txt", slug="payload-missing", code=66,
            value="data.txt")  # fmt: skip


def test_a_payload_that_is_empty(whet: Whet) -> None:
    whet.write("data.txt", "")

    refused(whet, "shrink", "data.txt", "--", "cat", "data.txt", slug="payload-empty", code=65,
            value="data.txt")  # fmt: skip


def test_a_folder_cannot_be_read_from_standard_input(whet: Whet) -> None:
    (whet.folder / "data").mkdir()

    refused(whet, "shrink", "data", "--stdin", "data", "--", "cat", slug="payload-is-folder",
            code=65, value="data")  # fmt: skip


@pytest.mark.needs("unshare")
def test_a_payload_that_cannot_be_read(whet: Whet) -> None:
    whet.write("data.txt", "x").chmod(0)
    # In a user namespace of its own even root has no right to what the file's mode forbids.
    done = subprocess.run(
        ["unshare", "--user", PYTHON, "-m", "whet", "shrink", "data.txt", "--", "cat", "data.txt"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        capture_output=True,
        check=False,
    )
    if b"unshare" in done.stderr:
        pytest.skip(f"no namespaces of one's own here: {done.stderr.decode()}")

    assert b"whet explain payload-unreadable" in done.stderr, done.stderr.decode()
    assert b"data.txt" in done.stderr
    assert done.returncode == 77


def test_a_payload_that_is_not_in_the_command(whet: Whet) -> None:
    whet.write("data.txt", "x")

    refused(whet, "shrink", "data.txt", "--", "cat", "other.txt", slug="payload-not-in-command",
            code=64, value="data.txt")  # fmt: skip


def test_a_search_outside_of_a_repository(whet: Whet) -> None:
    refused(whet, "bisect", "HEAD~1", "HEAD", "--", "false", slug="not-a-repository", code=66,
            value="project")  # fmt: skip
    whet.git("init", "--quiet", "--bare", "../bare.git")
    said = refused(whet, "bisect", "--repo", "../bare.git", "HEAD~1", "HEAD", "--", "false",
                   slug="not-a-repository", code=66, value="bare.git")  # fmt: skip
    assert "worktree add DIR" in said


def history(whet: Whet) -> list[str]:
    whet.git("init", "--quiet", "--initial-branch", "main")
    works, fails = "print('fine')\n", "raise KeyError('x')\n"
    return [
        whet.commit(f"commit {number}", app_py=(works if number < 3 else fails) + f"# {number}\n")
        for number in range(5)
    ]


def test_a_revision_that_does_not_exist(whet: Whet) -> None:
    history(whet)

    refused(whet, "bisect", "v9.9", "HEAD", "--", PYTHON, "app.py", slug="unknown-revision",
            code=65, value="v9.9")  # fmt: skip


def test_a_revision_on_another_line_stands_for_where_the_lines_part(whet: Whet) -> None:
    commits = history(whet)
    whet.git("checkout", "--quiet", "-b", "side", "HEAD~3")
    whet.commit("aside", other_py="")

    said = whet("bisect", "side", "main", "--", PYTHON, "app.py")

    assert f"{commits[3][:10]} is the first bad commit" in said.stdout, said.stderr
    assert f"their lines part at {commits[1][:10]}" in said.stderr


def test_a_revision_without_a_common_ancestor(whet: Whet) -> None:
    history(whet)
    whet.git("checkout", "--quiet", "--orphan", "alone")
    whet.commit("alone")

    refused(whet, "bisect", "alone", "main", "--", PYTHON, "app.py", slug="not-an-ancestor",
            code=65, value="alone")  # fmt: skip


def test_ends_that_are_the_same(whet: Whet) -> None:
    history(whet)

    refused(whet, "bisect", "HEAD", "main", "--", PYTHON, "app.py", slug="same-ends", code=65,
            value="main")  # fmt: skip


def test_ends_in_the_wrong_order_are_turned_round_by_what_they_do(whet: Whet) -> None:
    commits = history(whet)

    said = whet("bisect", "HEAD", "HEAD~4", "--", PYTHON, "app.py")

    assert f"{commits[3][:10]} is the first bad commit" in said.stdout, said.stderr
    assert "whet searches for what broke it" in said.stderr


def test_where_the_old_end_fails_and_the_new_one_passes_the_fix_is_searched(whet: Whet) -> None:
    history(whet)
    mended = whet.commit("mended", app_py="print('fine again')\n")
    whet.commit("later", app_py="print('and again')\n")

    for ends in (("HEAD~2", "HEAD"), ("HEAD", "HEAD~2")):
        said = whet("bisect", *ends, "--", PYTHON, "app.py")

        assert f"{mended[:10]} is the first fixed commit" in said.stdout, said.stderr
        assert "whet searches for the fix" in said.stderr


def test_words_for_the_ends_are_not_turned_round(whet: Whet) -> None:
    history(whet)

    refused(whet, "bisect", "--terms", "slow,fast", "HEAD", "HEAD~4", "--", PYTHON, "app.py",
            slug="ends-reversed", code=65, value="HEAD~4")  # fmt: skip


def test_a_good_end_that_fails(whet: Whet) -> None:
    history(whet)

    refused(whet, "bisect", "HEAD~1", "HEAD", "--", PYTHON, "app.py", slug="end-misjudged",
            code=65, value="KeyError")  # fmt: skip


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.long), "2"])
def test_a_wrong_end_of_a_long_history_costs_few_runs(whet: Whet, jobs: str) -> None:
    whet.git("init", "--quiet")
    calls = whet.folder / "calls"
    fails = f"open({str(calls)!r}, 'a').write('x')\nraise KeyError(1)\n"
    for number in range(40):
        whet.commit(f"commit {number}", app_py=f"{fails}# {number}\n")

    refused(whet, "bisect", "--jobs", jobs, "HEAD~30", "HEAD", "--", PYTHON, "app.py",
            slug="end-misjudged", code=65, value="should be good")  # fmt: skip

    # The end that fails is run three times, to see whether it always does.
    assert len(calls.read_text()) <= 6


def test_a_dirty_tree_is_neither_touched_nor_searched(whet: Whet) -> None:
    commits = history(whet)
    whet.write("app.py", "print('edited')\n")
    whet.write("new.txt", "untracked\n")
    whet.git("add", "new.txt")
    before = whet.git("status", "--porcelain=v2")

    said = whet("bisect", "HEAD~4", "HEAD", "--", PYTHON, "app.py")

    assert commits[3][:10] in said.stdout, said.stderr
    assert said.code == 0
    assert whet.git("status", "--porcelain=v2") == before
    assert (whet.folder / "app.py").read_text() == "print('edited')\n"
    assert whet.git("worktree", "list").count("\n") == 1
    assert left_behind(whet) == []


def test_no_network_for_a_package(whet: Whet) -> None:
    refused(whet, "bisect", "--package", "rich", "1", "2", "--", PYTHON, "-c", "import rich",
            slug="index-unreachable", code=69, value="127.0.0.1",
            env={"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "UV_INDEX_URL": "",
                 "UV_DEFAULT_INDEX": ""})  # fmt: skip


@pytest.mark.needs("unshare")
def test_a_project_folder_that_is_read_only(whet: Whet) -> None:
    said = in_a_namespace(whet, f"mount --bind {whet.folder} {whet.folder}",
                          f"mount -o remount,bind,ro {whet.folder}")  # fmt: skip

    assert "whet: GOOD" in said, said
    assert whet("show").code == 0, "the trial is kept: nothing of whet's is in the project"


@pytest.mark.needs("unshare")
def test_a_state_folder_that_is_read_only(whet: Whet) -> None:
    whet("run", "--", "true")
    said = in_a_namespace(whet, f"mount --bind {whet.state} {whet.state}",
                          f"mount -o remount,bind,ro {whet.state}")  # fmt: skip

    assert "whet explain cannot-write" in said, said
    assert "WHET_DIR" in said


@pytest.mark.needs("unshare")
def test_a_disk_that_is_full(whet: Whet) -> None:
    whet("run", "--", "true")
    said = in_a_namespace(whet, f"mount -t tmpfs -o size=64k,mode=0700 none {whet.state}",
                          f"head -c 1M /dev/zero > {whet.state}/filler || true")  # fmt: skip

    assert "whet explain disk-full" in said, said


@pytest.mark.needs("unshare")
def test_a_disk_that_is_full_in_the_middle_of_a_shrink(whet: Whet) -> None:
    """There is room for one result, and none to write the next one before that goes."""
    whet.write("p.py", "import sys\nassert len(open(sys.argv[1]).read()) < 150_000\n")
    lines = "".join(f"some line {number:05}\n" for number in range(25_000))
    data = whet.write("data.txt", lines)
    out = whet.folder / "out"
    out.mkdir()

    said = in_a_namespace(
        whet,
        f"mount -t tmpfs -o size=256k none {out}",
        words=f"shrink data.txt -o out/small.txt -- {PYTHON} p.py data.txt",
        afterwards="ls -A out >&2; wc -c out/small.txt >&2",
    )

    assert "whet explain disk-full" in said, said
    names, size = said.strip().splitlines()[-2:]
    assert names == "small.txt", "half a file is left"
    left_bytes = int(size.split()[0])
    assert 150_000 <= left_bytes < len(lines)
    told = f"note: the best so far stays in `{out / 'small.txt'}`: 400 kB → "
    assert f"{told}{left_bytes // 1000} kB\n" in said.partition("error: ")[0], said
    assert data.read_text() == lines


def in_a_namespace(
    whet: Whet, *preparations: str, words: str = "run -- true", afterwards: str = "true"
) -> str:
    """Return what whet says, and what comes afterwards, where only this call sees some mounts."""
    prepare = " && ".join(preparations)
    script = f"{prepare}; cd {whet.folder} && {PYTHON} -m whet {words}; {afterwards}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True,
        check=False,
        env={**os.environ, **whet.environment},
    )
    if b"unshare" in done.stderr:
        pytest.skip(f"no namespaces of one's own here: {done.stderr.decode()}")
    return done.stderr.decode()


def test_output_that_is_not_utf8_comes_through_untouched(whet: Whet) -> None:
    code = r"import sys; sys.stdout.buffer.write(b'\xff\xfe\x00'); sys.exit(3)"
    done = subprocess.run(
        [PYTHON, "-m", "whet", "run", "--", PYTHON, "-c", code],
        cwd=whet.folder,
        capture_output=True,
        check=False,
        env={**os.environ, **whet.environment},
    )

    assert (done.returncode, done.stdout) == (3, b"\xff\xfe\x00")


def test_output_that_never_ends_a_line_is_kept_whole(whet: Whet) -> None:
    said = whet("run", "--", PYTHON, "-c", "print('a' * 300_000, end='')")

    assert said.stdout == "a" * 300_000
    assert whet("show", "--output").stdout == "a" * 300_000


@pytest.mark.slow
def test_a_daemon_does_not_outlive_its_trial(whet: Whet) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        open('pid', 'w').write(str(os.getpid()))\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)\n"
    )

    said = whet("run", "--", PYTHON, "-c", code)

    assert said.code == 0
    assert not Path("/proc", (whet.folder / "pid").read_text()).exists()


@pytest.mark.slow
def test_a_program_that_ignores_sigterm_ends_with_its_time(whet: Whet) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)"

    said = whet("run", "--timeout", "500ms", "--", PYTHON, "-c", code)

    assert said.code == 124
    assert "timeout" in said.stderr


def test_a_program_that_changes_its_folder_changes_nothing_of_whets(whet: Whet) -> None:
    said = whet("run", "--", PYTHON, "-c", "import os; os.chdir('/'); raise SystemExit(4)")

    assert said.code == 4
    assert (whet.state / "notebook.db").exists()


def test_a_program_that_closes_its_stdout_still_ends_as_it_wants(whet: Whet) -> None:
    said = whet("run", "--", PYTHON, "-c", "import os; os.close(1); os.close(2); os._exit(5)")

    assert said.code == 5


@pytest.mark.long
def test_output_of_a_gigabyte_is_kept_in_little_memory(whet: Whet) -> None:
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f"ulimit -v 2000000; {PYTHON} -m whet run -- head -c 1G /dev/zero | wc -c",
        ],
        cwd=whet.folder,
        capture_output=True,
        check=False,
        env={**os.environ, **whet.environment},
    )

    assert done.stdout.strip() == b"1073741824"
    assert "1.1 GB" in whet("show").stdout or "1.07 GB" in whet("show").stdout


@pytest.mark.parametrize(
    "verb",
    [("run",), ("repeat", "-n", "3"), ("bisect", "HEAD~1"), ("shrink", "f"), ("investigate",)],
)
def test_a_folder_that_goes_away_meanwhile_is_said_and_is_no_fault_of_whets(
    whet: Whet, verb: tuple[str, ...]
) -> None:
    gone = whet.folder / "gone"
    gone.mkdir()
    for name in ("f", "g"):
        (gone / name).write_text("x")
        whet.git("-C", str(gone), "init", "--quiet")
        whet.git("-C", str(gone), "add", "--all")
        whet.git("-C", str(gone), "commit", "--quiet", "-m", name)

    said = replace(whet, folder=gone)(*verb, "--", "sh", "-c", 'rm -rf "$PWD"; exit 1', "sh", "f")

    assert "whet itself failed" not in said.stderr
    assert said.code in {1, 64, 65, 66, 75}, said.stderr


@pytest.mark.parametrize(
    "words",
    [("run", "--files"), ("run", "--inodes"), ("run", "--gpus"), ("show",), ("log", "--search")],
)
def test_a_number_of_thousands_of_digits_is_no_fault_of_whets(
    whet: Whet, words: tuple[str, ...]
) -> None:
    command = ("--", "true") if words[0] == "run" else ()

    said = whet(*words, "9" * 5000, *command)

    assert "itself failed" not in said.stderr
    assert said.code in {0, 64, 66, 69, 78}, said.stderr[:300]


def test_a_place_for_temporary_files_that_is_none_is_named(whet: Whet) -> None:
    for place in ("/nonexistent/folder", "/dev/null"):
        said = whet("run", "--", "true", environment={"TMPDIR": place})
        assert said.code == 73
        assert f"whet can't make a folder in `{place}`, where temporary files go" in said.stderr
        assert "set `TMPDIR`" in said.stderr
