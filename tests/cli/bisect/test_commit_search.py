"""`whet bisect` on the histories that trap other tools, as a user types it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable


def found_by(whet: Whet, *words: str) -> dict[str, object]:
    said = whet("bisect", "--json", *words)
    assert said.code == 0, said.stderr
    found: dict[str, object] = json.loads(said.stdout)
    return found


def line(whet: Whet, count: int, bad_from: int, **files: str) -> list[str]:
    """Make a line of commits of which those from ``bad_from`` on fail."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    return [
        whet.commit(
            f"commit {n}", app_py=f"{'raise KeyError' if n >= bad_from else ''}\n# {n}\n", **files
        )
        for n in range(count)
    ]


def possessions(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return every byte of a user's repository, but git's objects and what is whet's."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in {".whet", "objects", "whet"}]
        for path in (Path(folder, name) for name in names):
            status = path.stat()
            found[str(path)] = (status.st_mode, status.st_mtime_ns, path.read_bytes())
    return found


def in_use(whet: Whet) -> list[str]:
    """Make a repository in which everything that git knows is in use."""
    commits = line(whet, 12, 7)
    whet.write("app.py", "stashed\n")
    whet.git("stash")
    whet.git("bisect", "start", "HEAD", commits[1])
    whet.git("worktree", "add", "--quiet", str(whet.folder.parent / "theirs"), commits[2])
    whet.git("worktree", "lock", str(whet.folder.parent / "theirs"))
    whet.write("app.py", "edited\n")
    whet.write("staged.txt", "staged\n")
    whet.git("add", "staged.txt")
    whet.write("new.txt", "untracked\n")
    return commits


def test_nothing_of_the_users_moves_not_even_a_bisection_under_way(whet: Whet) -> None:
    commits = in_use(whet)
    before = possessions(whet.folder)

    found = found_by(whet, commits[0], "main", "--", PYTHON, "app.py")

    assert found["first_bad"] == commits[7][:10]
    assert possessions(whet.folder) == before


def test_nothing_of_the_users_has_moved_when_whet_is_killed_and_the_next_one_has_cleaned_up(
    whet: Whet,
) -> None:
    commits = in_use(whet)
    pipe = whet.folder.parent / "reached"
    os.mkfifo(pipe)
    script = whet.write(
        "../judge.sh", f"#!/bin/sh\necho >{pipe}\ngrep -q raise app.py || exit 0\nexit 1\n"
    )
    script.chmod(0o755)
    before = possessions(whet.folder)
    words = [
        PYTHON,
        "-m",
        "whet",
        "bisect",
        "--jobs",
        "1",
        commits[0],
        "main",
        "--oracle",
        str(script),
    ]
    with subprocess.Popen(
        words, cwd=whet.folder, env={**os.environ, **whet.environment}
    ) as process:
        with pipe.open() as reached:  # the first trial stands in its checkout
            reached.readline()
        process.send_signal(signal.SIGKILL)

    assert len(list((whet.folder / ".git" / "worktrees").iterdir())) == 2
    whet("log")

    assert possessions(whet.folder) == before


def test_a_search_that_was_killed_goes_on_from_what_is_known(whet: Whet) -> None:
    commits = line(whet, 30, 17)
    calls = whet.folder.parent / "calls"
    script = whet.write(
        "../judge.sh", f"#!/bin/sh\necho x >>{calls}\ngrep -q raise app.py && exit 1\nexit 0\n"
    )
    script.chmod(0o755)
    words = ("--jobs", "1", commits[0], "main", "--oracle", str(script))

    stopped = whet("bisect", "--budget", "1ms", *words)
    searched = found_by(whet, *words)
    first = len(calls.read_text().split())
    again = found_by(whet, "--resume", *words)
    never = whet("bisect", "--resume", commits[0], "main", "--", "true")

    assert stopped.code == 75
    assert never.code == 64
    assert "there is no earlier search of this command here" in never.stderr
    assert again["first_bad"] == commits[17][:10]
    # Both ends and both sides of the answer are run again. What the latter did before counts as
    # well, so that fewer runs are left to be made again. So is the line to paste.
    assert len(calls.read_text().split()) - first <= 7
    looked, before = again["looked_again"], searched["looked_again"]
    assert isinstance(looked, dict)
    assert isinstance(before, dict)
    assert looked["runs"] < before["runs"]


@pytest.mark.long
def test_git_replays_the_log_to_the_same_answer(whet: Whet) -> None:
    commits = line(whet, 20, 13)
    log, picture = whet.folder.parent / "log", whet.folder.parent / "picture.svg"

    for jobs in ("1", "3"):
        whet("bisect", "--jobs", jobs, "--log", str(log), "--picture", str(picture),
             commits[0], "main", "--", PYTHON, "app.py")  # fmt: skip
        replayed = whet.git("bisect", "replay", str(log))
        whet.git("bisect", "reset")

        assert f"{commits[13]} is the first bad commit" in replayed
        assert commits[13][:10] in picture.read_text()


def test_git_replays_the_log_of_a_search_for_a_fix_in_a_path(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    commits = [
        whet.commit(f"c{n}", **{"src/app_py": f"{'raise KeyError' if n < 8 else ''}\n# {n}\n"})
        if n % 2 == 0
        else whet.commit(f"c{n}", notes=f"{n}\n")
        for n in range(14)
    ]
    log = whet.folder.parent / "log"

    whet("bisect", "--log", str(log), "--path", "src", "--terms", "broken,fixed",
         commits[0], "main", "--", PYTHON, "src/app.py")  # fmt: skip
    replayed = whet.git("bisect", "replay", str(log))

    assert f"{commits[8]} is the first fixed commit" in replayed


def pasted(found: dict[str, object]) -> str:
    """Run the line that a search shows; return what its command said as it failed."""
    assert found["again_complaint"] == ""
    assert found["again_trial"] is not None
    words = ["sh", "-c", str(found["again"])]
    first, again = (
        subprocess.run(words, capture_output=True, check=False, cwd="/", text=True)
        for _ in range(2)
    )
    assert first.returncode == again.returncode == 1, first.stderr + again.stderr
    assert first.stderr.splitlines()[-1] == again.stderr.splitlines()[-1]
    return again.stderr


@pytest.mark.long
def test_the_line_has_the_submodules_of_the_commit(whet: Whet) -> None:
    inner = whet.folder.parent / "inner"
    allowed = ("-c", "protocol.file.allow=always")
    for command in (
        ["init", "-q", str(inner)],
        ["-C", str(inner), "commit", "-qm", "none", "--allow-empty"],
    ):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.git(*allowed, "submodule", "add", "--quiet", str(inner), "inner")
    text = "import os\nassert os.path.exists('inner/.git'), 'no submodule'\n"
    commits = [
        whet.commit(f"c{n}", app_py=f"{text}{'raise KeyError' if n > 1 else ''}\n# {n}\n")
        for n in range(4)
    ]

    found = found_by(whet, commits[0], "main", "--", PYTHON, "app.py")

    assert "KeyError" in pasted(found)


@pytest.mark.long
def test_the_line_has_the_untracked_files_that_the_command_names(whet: Whet) -> None:
    commits = line(whet, 6, 3)
    whet.write("tests/new.py", "import sys\nsys.path.insert(0, '.')\nimport app\n")

    found = found_by(whet, commits[0], "main", "--", PYTHON, "tests/new.py")

    assert found["first_bad"] == commits[3][:10]
    assert "KeyError" in pasted(found)


def test_the_line_sets_the_checkout_up_reads_the_input_and_takes_a_free_place(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    text = "import os, sys\nassert os.path.exists('made') and sys.stdin.read() == 'it\\n'\n"
    commits = [
        whet.commit(f"c{n}", app_py=f"{text}{'raise KeyError' if n > 1 else ''}\n# {n}\n")
        for n in range(4)
    ]
    place = whet.folder.with_name(f"{whet.folder.name}-{commits[2][:10]}")
    place.mkdir()
    whet.write("in.txt", "it\n")
    words = ("--setup", "touch made", "--stdin", "in.txt", "--env", "A=1", "--timeout", "60")

    found = found_by(whet, *words, commits[0], "main", "--", PYTHON, "app.py")

    assert "KeyError" in pasted(found)
    assert place.with_name(f"{place.name}-2").exists()
    assert list(place.iterdir()) == []
    assert not any(unneeded in str(found["again"]) for unneeded in ("A=1", "timeout"))
    assert "whet-" not in whet.git("worktree", "list")


def test_the_line_that_is_shown_shows_it_again(whet: Whet) -> None:
    commits = line(whet, 6, 3)

    found = found_by(whet, commits[0], "main", "--", PYTHON, "app.py")
    again = subprocess.run(
        ["sh", "-c", str(found["again"])], capture_output=True, check=False, cwd="/"
    )

    assert again.returncode == 1
    assert b"KeyError" in again.stderr


@pytest.mark.long
def test_a_trial_of_a_search_runs_again_on_its_own_commit(whet: Whet) -> None:
    commits = line(whet, 6, 3)

    found = found_by(whet, commits[0], "main", "--", PYTHON, "app.py")
    tested = found["tested"]
    assert isinstance(tested, list)
    codes = {
        one["version"]: whet("again", str(one["trial"]), "--code", "then").code for one in tested
    }

    assert codes[commits[2][:10]] == 0
    assert codes[commits[3][:10]] == 1


def test_a_change_and_what_takes_it_back_are_named_at_each_other(whet: Whet) -> None:
    commits = line(whet, 4, 3)
    whet.git("revert", "--no-edit", commits[3])
    taken_back = whet.git("rev-parse", "HEAD").strip()

    said = whet("bisect", commits[0], commits[3], "--", PYTHON, "app.py")
    fixed = whet("bisect", commits[3], taken_back, "--", PYTHON, "app.py")

    assert f"reverted by {taken_back[:7]}" in said.stdout, said.stderr
    assert f"reverts {commits[3][:7]}" in fixed.stdout, fixed.stderr
    assert "+raise KeyError" in said.stdout


def with_a_merge(whet: Whet) -> tuple[str, str]:
    """Make a line with a merged branch that broke it; return the culprit and the merge."""
    line(whet, 4, 99)
    whet.git("checkout", "--quiet", "-b", "side", "HEAD~2")
    whet.commit("side 1", lib_py="VALUE = 1\n")
    culprit = whet.commit("side 2", lib_py="VALUE = 1 / 0\n", app_py="import lib\n")
    whet.commit("side 3", lib_py="VALUE = 1 / 0  # 3\n")
    whet.git("checkout", "--quiet", "main")
    whet.git("merge", "--quiet", "--no-ff", "-X", "theirs", "-m", "Merge side", "side")
    merge = whet.git("rev-parse", "HEAD").strip()
    for number in range(3):
        whet.commit(f"after {number}", notes=f"{number}\n")
    return culprit, merge


@pytest.mark.long
def test_by_first_parents_the_search_goes_on_inside_the_merge(whet: Whet) -> None:
    culprit, merge = with_a_merge(whet)
    log = whet.folder.parent / "log"

    said = whet("bisect", "--log", str(log), "--first-parent", "HEAD~6", "main",
                "--", PYTHON, "app.py")  # fmt: skip

    assert f"{culprit[:10]} is the first bad commit" in said.stdout, said.stderr
    assert f"came in with {merge[:7]}" in said.stdout
    assert f"{merge[:10]} merged 4 commits" in said.stderr
    tested, of = re.findall(r"(\d+) versions tested of (\d+)", said.stdout)[0]
    assert int(tested) <= int(of)
    replayed = whet.git("bisect", "replay", str(log))
    assert f"{culprit} is the first bad commit" in replayed


@pytest.mark.long
def test_a_date_is_an_end(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    commits: list[str] = []
    for day in range(1, 10):
        os.environ["GIT_COMMITTER_DATE"] = f"2026-01-0{day}T12:00:00Z"
        text = f"{'raise KeyError' if day > 6 else ''}\n# {day}\n"
        commits.append(whet.commit(f"day {day}", app_py=text))
    del os.environ["GIT_COMMITTER_DATE"]

    said = whet("bisect", "2026-01-03", "HEAD", "--", PYTHON, "app.py")

    assert f"{commits[6][:10]} is the first bad commit" in said.stdout, said.stderr
    assert f"`2026-01-03` is {commits[1][:7]}" in said.stderr


# ---- traps ----


def test_byte_code_of_another_revision_is_never_taken(whet: Whet) -> None:
    """All versions of the module have the same size, and the same second of change."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.write("app.py", "import lib\nassert lib.VALUE < 50\n")
    commits = [whet.commit(f"c{n}", lib_py=f"VALUE = {n}\n") for n in range(40, 60)]
    script = whet.write(
        "../judge.sh", f"#!/bin/sh\ntouch -d 2026-01-01 *.py\nexec {PYTHON} app.py\n"
    )
    script.chmod(0o755)

    found = found_by(whet, commits[0], "main", "--oracle", str(script))

    assert found["first_bad"] == commits[10][:10]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["path file", "finder"])
def test_an_editable_installation_leads_to_each_commits_own_code(whet: Whet, kind: str) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.write(".gitignore", ".venv/\n")
    commits = [whet.commit(f"c{n}", **{"src/lib/__init___py": f"VALUE = {n}\n"}) for n in range(8)]
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", whet.folder / ".venv"], check=True)
    (packages,) = (whet.folder / ".venv").glob("lib/*/site-packages")
    source = whet.folder / "src"
    if kind == "path file":
        (packages / "here.pth").write_text(f"{source}\n")
    else:  # as setuptools writes it
        (packages / "__editable___lib_1_finder.py").write_text(
            f"MAPPING: dict[str, str] = {{'lib': '{source}/lib'}}\n"
            "import sys\nfrom importlib.util import spec_from_file_location as spec\n"
            "class Finder:\n"
            "    @classmethod\n"
            "    def find_spec(cls, name, path=None, target=None):\n"
            "        if name in MAPPING:\n"
            "            return spec(name, MAPPING[name] + '/__init__.py')\n"
            "def install():\n    sys.meta_path.append(Finder)\n"
        )
        (packages / "__editable__.lib.pth").write_text(
            "import __editable___lib_1_finder; __editable___lib_1_finder.install()\n"
        )
    whet.write("check.py", "import lib\nassert lib.VALUE < 5\n")

    found = found_by(whet, commits[0], "main", "--", ".venv/bin/python", "check.py")

    assert found["first_bad"] == commits[5][:10]
    assert "AssertionError" in pasted(found)


def test_a_script_that_dies_of_a_signal_ends_no_search(whet: Whet) -> None:
    commits = line(whet, 20, 15)
    whet.write("../judge.sh", "#!/bin/sh\ngrep -q '# [89]$' app.py && kill -SEGV $$\n"
               "grep -q '# 1[01]$' app.py && exit 130\ngrep -q raise app.py && exit 1\nexit 0\n",
               ).chmod(0o755)  # fmt: skip

    found = found_by(whet, commits[0], "main", "--oracle", str(whet.folder.parent / "judge.sh"))

    assert found["first_bad"] == commits[15][:10]


def test_a_stretch_that_cannot_be_tested_is_named_as_a_set(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    text = {**dict.fromkeys(range(4, 9), "import gone\n"), **dict.fromkeys(range(9, 14), "1 / 0\n")}
    commits = [whet.commit(f"c{n}", app_py=f"{text.get(n, '')}# {n}\n") for n in range(14)]

    said = whet("bisect", "--json", commits[0], "main", "--", PYTHON, "app.py")

    found = json.loads(said.stdout)
    assert said.code == 75
    assert found["first_bad"] is None
    assert found["suspects"] == [commit[:10] for commit in commits[4:10]]


def test_commits_that_lack_a_package_hint_at_a_setup(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    text = {3: "import missing_here\n", 4: "import missing_here.deeper\n", 5: "1 / 0\n"}
    commits = [whet.commit(f"c{n}", app_py=f"{text.get(n, '')}# {n}\n") for n in range(6)]

    said = whet("bisect", commits[0], "main", "--", PYTHON, "app.py")

    assert said.code == 75
    assert (
        "2 commits were skipped because `missing_here` is missing: `--setup 'pip install -e .'`"
        in said.stdout
    )


def test_commits_that_are_not_installed_hint_at_a_setup(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    asks = "from importlib.metadata import version\nversion('not-installed-here')\n"
    text = {3: asks, 4: asks, 5: "1 / 0\n"}
    commits = [whet.commit(f"c{n}", app_py=f"{text.get(n, '')}# {n}\n") for n in range(6)]

    said = whet("bisect", commits[0], "main", "--", PYTHON, "app.py")

    assert said.code == 75
    assert "2 commits were skipped because `not-installed-here` is missing: `--setup" in said.stdout


def test_where_no_commit_passes_there_is_no_answer(whet: Whet) -> None:
    line(whet, 3, 0)

    said = whet("bisect", "main", "--", PYTHON, "app.py")

    assert said.code == 75
    assert "no good commit of" in said.stdout


def test_a_program_that_edits_tracked_files_edits_no_other_commits(whet: Whet) -> None:
    commits = line(whet, 12, 7)
    script = whet.write("../judge.sh", "#!/bin/sh\ngrep -q raise app.py\nwas=$?\n"
                        "echo raise >>app.py\necho x >made\ntest $was = 1\n")  # fmt: skip
    script.chmod(0o755)
    before = possessions(whet.folder)

    found = found_by(whet, "--jobs", "1", commits[0], "main", "--oracle", str(script))

    assert found["first_bad"] == commits[7][:10]
    assert possessions(whet.folder) == before


def test_a_full_disk_ends_the_search_and_is_no_skip(whet: Whet) -> None:
    commits = line(whet, 6, 3, data="".join(f"{n}\n" for n in range(400_000)))
    state = whet.folder.parent / "state"
    state.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(state)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a file system of 2 MB")
    try:
        said = whet("bisect", commits[0], "main", "--", PYTHON, "app.py",
                    environment={"WHET_DIR": str(state)})  # fmt: skip
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)

    assert said.code == 74, said.stderr
    assert "no space left" in said.stderr


# ---- setups ----


def setup_history(whet: Whet) -> tuple[list[str], Path]:
    """Make a line whose program needs `built`, which depends on `recipe`, changed twice."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.write(".gitignore", "built\n")
    app = "assert open('built').read() == open('recipe').read()\n"
    commits = [
        whet.commit(
            f"c{n}",
            recipe=f"{n // 5}\n",
            app_py=f"{app}{'raise KeyError' if n >= 12 else ''}\n# {n}\n",
        )
        for n in range(16)
    ]
    return commits, whet.folder.parent / "setups"


def setups(log: Path) -> list[str]:
    return log.read_text().split()


def test_a_setup_runs_once_for_each_state_of_what_it_reads(whet: Whet) -> None:
    commits, log = setup_history(whet)
    setup = f"cp recipe built; cat recipe >>{log}"

    found = found_by(
        whet, "--jobs", "1", "--setup", setup, "--setup-reads", "recipe",
        commits[0], "main", "--", PYTHON, "app.py",
    )  # fmt: skip

    assert found["first_bad"] == commits[12][:10]
    assert sorted(set(setups(log))) == ["0", "1", "2", "3"] or len(setups(log)) <= 5
    assert len(setups(log)) < int(str(found["trials"]))


@pytest.mark.long
def test_a_setup_that_may_read_everything_runs_on_every_commit(whet: Whet) -> None:
    commits, log = setup_history(whet)
    setup = f"cp recipe built; cat recipe >>{log}"

    found = found_by(
        whet, "--jobs", "1", "--setup", setup, commits[0], "main", "--", PYTHON, "app.py"
    )

    assert found["first_bad"] == commits[12][:10]
    assert isinstance(found["tested"], list)
    assert len(setups(log)) == len(found["tested"]) + 1  # and for the line to paste


def test_what_a_program_does_to_a_setup_is_not_there_on_the_next_commit(whet: Whet) -> None:
    commits, log = setup_history(whet)
    script = whet.write("../judge.sh", "#!/bin/sh\ncmp -s built recipe || exit 3\nrm built; echo x >built\n"
                        "grep -q raise app.py && exit 1\nexit 0\n")  # fmt: skip
    script.chmod(0o755)

    found = found_by(
        whet, "--setup", f"cp recipe built; echo >>{log}", "--setup-reads", "recipe",
        commits[0], "main", "--oracle", str(script),
    )  # fmt: skip

    assert found["first_bad"] == commits[12][:10]


def test_where_a_setup_fails_the_commit_is_skipped(whet: Whet) -> None:
    commits, _ = setup_history(whet)

    said = whet(
        "bisect", "--json", "--jobs", "2", "--setup", "cp recipe built; ! grep -q '# [89]$' app.py",
        commits[0], "main", "--", PYTHON, "app.py",
    )  # fmt: skip

    assert json.loads(said.stdout)["first_bad"] == commits[12][:10], said.stderr


@pytest.mark.long
def test_a_setup_that_names_python_has_an_environment_of_its_own(whet: Whet) -> None:
    """A path file such as an editable installation leaves leads to this commit's code."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    commits = [whet.commit(f"c{n}", **{"src/lib_py": f"VALUE = {n}\n"}) for n in range(8)]
    program = whet.write("../elsewhere/prog.py", "import lib, sys\nassert lib.VALUE < 5\n"
                         "assert sys.prefix != sys.base_prefix\n")  # fmt: skip
    install = ("import os, sysconfig; "
               "open(sysconfig.get_path('purelib') + '/here.pth', 'w').write(os.getcwd() + '/src')")  # fmt: skip
    outside = Whet(program.parent, whet.environment)

    found = found_by(
        outside, "--repo", str(whet.folder), "--setup", f'python -c "{install}"',
        "--setup-reads", "no-file", commits[0], "main", "--", "python", "prog.py",
    )  # fmt: skip

    assert found["first_bad"] == commits[5][:10]


@pytest.mark.long
def test_what_is_carried_stands_in_each_checkout(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.write(".gitignore", "data/\n")
    app = "assert int(open('data/limit').read()) > {}\n"
    commits = [whet.commit(f"c{n}", app_py=app.format(n)) for n in range(8)]
    whet.write("data/limit", "6\n")
    whet.write("app.py", "edited today\n")

    missing = whet("bisect", "--carry", "date", commits[0], "main", "--", PYTHON, "app.py")
    found = found_by(
        whet, "--carry", "data", "--carry", "app.py", commits[0], "main", "--", PYTHON, "app.py"
    )

    assert missing.code == 64
    assert "`--carry date`" in missing.stderr
    assert found["first_bad"] == commits[6][:10]


def test_dependencies_of_a_day_need_a_setup_by_uv(whet: Whet) -> None:
    commits = line(whet, 3, 2)

    for words in ((), ("--setup", "pip install -e .")):
        said: Said = whet(
            "bisect", "--as-of-commit", *words, commits[0], "main", "--", PYTHON, "app.py"
        )

        assert said.code == 64
        assert "uv pip install" in said.stderr


@pytest.mark.long
def test_a_setup_by_uv_is_told_the_date_of_each_commit(whet: Whet) -> None:
    log = whet.folder.parent / "dates"
    whet.git("init", "--quiet", "--initial-branch", "main")
    commits: list[str] = []
    for day in range(1, 6):
        os.environ["GIT_COMMITTER_DATE"] = f"2026-01-0{day}T12:00:00Z"
        text = f"{'raise KeyError' if day > 3 else ''}\n# {day}\n"
        commits.append(whet.commit(f"day {day}", app_py=text))
    del os.environ["GIT_COMMITTER_DATE"]
    setup = f"uv --version >/dev/null; echo $UV_EXCLUDE_NEWER >>{log}"

    found = found_by(
        whet, "--jobs", "1", "--setup", setup, "--setup-reads", "none", "--as-of-commit",
        commits[0], "main", "--", "python", "app.py",
    )  # fmt: skip

    dates = {when[:10] for when in log.read_text().split()}
    assert found["first_bad"] == commits[3][:10]
    assert dates == {f"2026-01-0{day}" for day in (1, 3, 4, 5)}
