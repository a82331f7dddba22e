"""``whet bisect`` where a bad version fails only sometimes, on histories of git."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow
PYTHON = sys.executable

# How often this version was run before decides what it does now, no chance and no clock:
# a checksum of the version's number and of the turn.
PROGRAM = """
import os, pathlib, sys, zlib
number, kind = {number}, "{kind}"
turn = 0
while True:
    try:
        os.close(os.open(os.environ["TURNS"] + f"/{number}.{turn}", os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        turn += 1
chance = zlib.crc32(f"{number} {turn}".encode()) % 100
if kind == "bad" and chance < 50:
    raise KeyError("price")
if kind == "always" or (kind == "late" and turn > 0):
    raise KeyError("price")
if kind == "other":
    raise ValueError("another bug")
"""


@pytest.fixture(autouse=True)
def turns(whet: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "turns"
    folder.mkdir()
    whet.environment["TURNS"] = str(folder)


def history(whet: Whet, kinds: list[str]) -> list[str]:
    """Make a commit for each word: good, bad (fails in half of the runs) or other."""
    whet.git("init", "--quiet", "--initial-branch=main")
    stream = bytearray()
    for number, kind in enumerate(kinds):
        text = PROGRAM.replace("{number}", str(number)).replace("{kind}", kind).encode()
        message = f"change {number}".encode()
        stream += b"commit refs/heads/main\n"
        stream += b"committer Ada <ada@example.org> %d +0000\n" % (1_700_000_000 + 60 * number)
        stream += b"data %d\n%s\nM 644 inline app.py\n" % (len(message), message)
        stream += b"data %d\n%s\n" % (len(text), text)
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=whet.folder, input=bytes(stream), check=True
    )
    whet.git("checkout", "--quiet", "main")
    return whet.git("rev-list", "--reverse", "main").split()


def bisect(whet: Whet, *words: str) -> Said:
    return whet("bisect", "--jobs", "1", *words, "--", PYTHON, "app.py")


def test_a_flaky_failure_is_found_with_its_probability(whet: Whet) -> None:
    commits = history(whet, ["good"] * 9 + ["bad"] * 7)
    before = whet.git("status", "--porcelain=v2", "--branch"), whet.git("reflog")

    said = bisect(whet, commits[0], "main", "--json", "--confidence", "95%")

    found = json.loads(said.stdout)
    noisy = found["noisy"]
    assert said.code == 0
    assert found["first_bad"] == commits[9][:10]
    assert found["good"] == commits[8][:10]
    assert noisy["probability"] >= 0.95
    assert noisy["is_edge_tested"]
    low, high = noisy["fails_if_bad_between"]
    assert low < 0.7
    assert high > 0.3
    assert noisy["fails_if_good_between"][0] == 0
    assert noisy["runs"] == found["trials"] <= 35
    runners_up = [each["probability"] for each in noisy["runners_up"]]
    assert runners_up == sorted(runners_up, reverse=True)
    assert sum(runners_up) <= 1 - noisy["probability"] + 1e-9
    assert (whet.git("status", "--porcelain=v2", "--branch"), whet.git("reflog")) == before
    assert len(whet.git("worktree", "list").splitlines()) == 1


@pytest.mark.long
def test_that_it_is_flaky_is_seen_and_the_plan_is_said_before_the_first_step(whet: Whet) -> None:
    commits = history(whet, ["good"] * 5 + ["bad"] * 4)

    # Three runs of the bad end disagree: no word was said of confidence.
    said = bisect(whet, commits[0], "main", "--end-runs", "6")

    plan, first_step = said.stderr.index("flaky: it fails on"), said.stderr.index("is likeliest")
    assert plan < first_step
    assert "% of bad runs" in said.stderr
    assert "to 95 % confidence; chance of a wrong answer ≤ 5 %" in said.stderr
    assert f"{commits[5][:10]} is the first bad commit with" in said.stdout
    assert "← first bad" in said.stdout
    assert "both sides of the edge ran" in said.stdout


@pytest.mark.long
def test_a_version_that_passed_by_luck_is_seen_when_the_answer_is_looked_at_again(
    whet: Whet,
) -> None:
    commits = history(whet, ["good"] * 6 + ["always"] + ["late"] + ["always"] * 8)

    said = bisect(whet, commits[0], "main")

    # The one in the middle passes when it is run first, so the search goes on behind it.
    assert f"{commits[7][:10]}: GOOD" in said.stderr
    assert f"`{commits[7][:10]}` ended differently in a second run: flaky" in said.stderr
    assert f"{commits[6][:10]} is the first bad commit with" in said.stdout


def test_an_end_that_passes_by_luck_is_run_again_before_it_is_refused(whet: Whet) -> None:
    commits = history(whet, ["good"] * 3 + ["always"] * 3 + ["late"])

    said = bisect(whet, commits[0], "main")

    assert said.code == 0, said.stderr
    assert f"{commits[3][:10]} is the first bad commit with" in said.stdout


@pytest.mark.long
def test_another_bug_on_the_way_is_skipped_and_the_answer_found_beside_it(whet: Whet) -> None:
    kinds = ["good"] * 4 + ["other"] * 4 + ["good"] * 3 + ["bad"] * 4
    commits = history(whet, kinds)

    found = json.loads(bisect(whet, commits[0], "main", "--json", "--confidence", "90%").stdout)

    assert found["first_bad"] == commits[11][:10]
    skipped = [each for each in found["tested"] if each["verdict"] == "skip"]
    assert all("another bug" in each["remark"] for each in skipped)


@pytest.mark.long
def test_a_culprit_among_versions_that_cannot_be_judged_is_one_of_a_set(whet: Whet) -> None:
    commits = history(whet, ["good"] * 3 + ["other"] * 2 + ["bad"] * 3)

    found = json.loads(bisect(whet, commits[0], "main", "--json", "--confidence", "90%").stdout)

    assert found["first_bad"] is None
    assert found["stopped"] == "ambiguous"
    assert set(found["suspects"]) == {commit[:10] for commit in commits[3:6]}


@pytest.mark.long
def test_what_mended_a_flaky_failure_is_found(whet: Whet) -> None:
    commits = history(whet, ["bad"] * 3 + ["good"] * 3)

    ends = ("--terms", "broken,fixed", commits[0], "main")
    found = json.loads(bisect(whet, *ends, "--json", "--confidence", "90%").stdout)

    assert found["first_bad"] == commits[3][:10]
    assert found["noisy"]["fails_if_bad"] > 0.9  # a fixed version passes
    low, high = found["noisy"]["fails_if_good_between"]
    assert low < 0.75
    assert high > 0.25


@pytest.mark.long
def test_without_a_good_end_one_is_found_that_passes_often_enough(whet: Whet) -> None:
    commits = history(whet, ["good"] * 4 + ["bad"] * 2)

    found = json.loads(bisect(whet, "main", "--json", "--confidence", "90%").stdout)

    assert found["first_bad"] == commits[4][:10]


@pytest.mark.long
def test_an_investigation_of_a_flaky_failure_weighs_runs(whet: Whet) -> None:
    commits = history(whet, ["good"] * 5 + ["bad"] * 3)

    said = whet("investigate", "--jobs", "1", "--json", "--", PYTHON, "app.py")

    found = json.loads(said.stdout)["history"]
    assert found["first_bad"] == commits[5][:10]
    assert found["noisy"]["probability"] >= 0.95


def test_a_search_that_is_stopped_says_who_is_suspected_by_then(whet: Whet) -> None:
    commits = history(whet, ["good"] * 20 + ["bad"] * 20)

    said = bisect(whet, commits[0], "main", "--json", "--confidence", "99%", "--budget", "1ms")

    found = json.loads(said.stdout)
    assert said.code == 75
    assert found["stopped"] == "out_of_time"
    assert found["first_bad"] is None
    assert commits[20][:10] in found["suspects"]


@pytest.mark.long
def test_a_search_that_was_stopped_goes_on_from_the_runs_it_made(whet: Whet) -> None:
    commits = history(whet, ["good"] * 4 + ["bad"] * 4)
    words = (commits[0], "main", "--json", "--confidence", "95%")
    first = json.loads(bisect(whet, *words).stdout)

    said = bisect(whet, *words)

    again = json.loads(said.stdout)
    assert first["first_bad"] == again["first_bad"] == commits[4][:10]
    # The bad end is run until it fails all the same.
    assert 1 <= again["trials"] < first["trials"]
    assert again["noisy"]["runs"] > again["trials"]


def merge_with_culprit(whet: Whet) -> tuple[str, str]:
    """Merge a branch with a bad commit; return a good commit before it and the bad one."""
    commits = history(whet, ["good"] * 3)
    whet.git("checkout", "--quiet", "-b", "side")
    for number, kind in ((10, "good"), (11, "bad"), (12, "bad")):
        whet.commit(
            f"side {number}",
            app_py=PROGRAM.replace("{number}", str(number)).replace("{kind}", kind),
        )
    culprit = whet.git("rev-parse", "side~1").strip()
    whet.git("checkout", "--quiet", "main")
    whet.commit("notes", notes_py="")
    whet.git("merge", "--quiet", "--no-ff", "-m", "merge side", "side")
    return commits[0], culprit


@pytest.mark.long
def test_a_commit_that_a_merge_brought_in_is_found(whet: Whet) -> None:
    good, culprit = merge_with_culprit(whet)
    ends = (good, "main", "--jobs", "2")
    found = json.loads(bisect(whet, *ends, "--json", "--confidence", "95%").stdout)

    assert found["first_bad"] == culprit[:10]


def test_what_always_fails_is_searched_as_ever(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    commits = [
        whet.commit(f"c{number}", app_py=f"{'raise KeyError' if number > 2 else ''}\n# {number}")
        for number in range(6)
    ]

    found = json.loads(bisect(whet, commits[0], "main", "--json").stdout)

    assert found["noisy"] is None
    assert found["first_bad"] == commits[3][:10]
    doubts = found["looked_again"]["wrong_if_it_fails_in"]
    assert [each["share_of_runs"] for each in doubts] == [0.5, 0.2]
    assert all(each["probability"] < 0.1 for each in doubts)


def test_an_end_that_never_fails_is_refused(whet: Whet) -> None:
    commits = history(whet, ["good", "good"])

    said = whet("bisect", "--confidence", "95%", commits[0], "main", "--", "true")

    assert said.code == 65
    assert "passes in each of 60 runs" in said.stderr


@pytest.mark.long
def test_ends_that_fail_alike_are_refused(whet: Whet) -> None:
    commits = history(whet, ["bad", "good", "bad"])

    said = bisect(whet, commits[0], "main", "--confidence", "95%")

    assert said.code == 65
    assert "the other end no more often" in said.stderr


@pytest.mark.parametrize(
    ("words", "said_of"),
    [
        (("--confidence", "100%"), "--confidence 1"),
        (("--confidence", "surely"), "`surely` is not a share"),
        (("--rate", "5%", "--good-rate", "10%"), "must fail more often"),
    ],
)
def test_what_cannot_be_met_is_refused(whet: Whet, words: tuple[str, ...], said_of: str) -> None:
    said = bisect(whet, *words, "HEAD~1", "HEAD")

    assert said.code == 64
    assert said_of in said.stderr


@pytest.mark.long
def test_a_search_by_first_parents_does_not_stop_at_a_merge(whet: Whet) -> None:
    good, culprit = merge_with_culprit(whet)
    ends = (good, "main", "--first-parent", "--jobs", "2")
    said = bisect(whet, *ends, "--json", "--confidence", "95%")

    assert json.loads(said.stdout)["first_bad"] == culprit[:10]


@pytest.mark.long
def test_ends_the_other_way_round_are_seen_where_the_old_one_is_flaky(whet: Whet) -> None:
    commits = history(whet, ["bad"] * 3 + ["good"] * 3)

    said = bisect(whet, commits[0], "main", "--confidence", "90%")

    assert said.code == 0, said.stderr
    assert f"{commits[3][:10]} is the first fixed commit" in said.stdout
    assert "whet searches for the fix" in said.stderr


HUNKED = """
import os, random
line1 = 1
pad1 = pad2 = pad3 = 0
pad4 = pad5 = pad6 = 0
pad7 = pad8 = pad9 = 0
line2 = 2
pad1 = pad2 = pad3 = 0
pad4 = pad5 = pad6 = 0
pad7 = pad8 = pad9 = 0
line3 = 3
turn = len(os.listdir(os.environ["TURNS"]))
open(os.environ["TURNS"] + f"/{turn}-{os.getpid()}", "w").close()
if line2 == 22 and turn % 4 == 3:
    raise KeyError("price")
"""


@pytest.mark.long
def test_each_part_of_a_flaky_commit_is_run_often_enough(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    first = whet.commit("one", app_py=HUNKED)
    text = HUNKED.replace("line1 = 1", "line1 = 11").replace("line2 = 2", "line2 = 22")
    whet.commit("two", app_py=text.replace("line3 = 3", "line3 = 33"))

    words = (first, "main", "--hunks", "--json", "--confidence", "95%")
    found = json.loads(bisect(whet, *words).stdout)

    assert (found["part"]["hunks_before"], found["part"]["hunks_after"]) == (3, 1)
    assert found["part"]["places"] == ["app.py:7"]
