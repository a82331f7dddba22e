"""What a shrink tells beside the smallest file, and how it is steered, stopped and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import Any

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable
PARSE = "import sys\nfor line in open(sys.argv[1]):\n    float(line.split(',')[1])\n"
TABLE = "".join(f"item{number},{number}.5\n" for number in range(40)) + "x,1/2\nlast,3\n"
NEEDLE = '#!/bin/sh\ngrep -q needle "$1"\n'


def events(said: Said) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.stdout.splitlines()]


def payload(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = events(said)[-1]["payloads"][0]
    return found


def script(whet: Whet, text: str) -> str:
    whet.write("check.sh", text).chmod(0o755)
    return "./check.sh"


def fails(whet: Whet, text: str, file: str) -> bool:
    whet.write("asked.py", text)
    done = subprocess.run(
        [PYTHON, "asked.py", file], cwd=whet.folder, check=False, capture_output=True
    )
    return done.returncode != 0


def test_the_nearest_that_passes_is_one_change_away(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    whet.write("data.csv", TABLE)

    said = whet("shrink", "data.csv", "--keep", "1/2", "--json", "--", PYTHON, "parse.py",
                "data.csv")  # fmt: skip

    smallest = (whet.folder / "data.shrunk.csv").read_text()
    assert smallest == ",1/2"
    passing = payload(said)["nearest_passing"]["text"]
    assert abs(len(passing) - len(smallest)) <= 1
    whet.write("passing.csv", passing)
    assert not fails(whet, PARSE, "passing.csv")
    assert fails(whet, PARSE, "data.shrunk.csv")


def test_the_two_are_shown_as_a_diff_and_what_each_pass_gained_as_a_table(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    whet.write("data.csv", TABLE)

    said = whet("shrink", "data.csv", "--", PYTHON, "parse.py", "data.csv")

    assert "the most similar version that passes (- fails, + passes):" in said.stdout
    lines = said.stdout.splitlines()
    diff = [line.strip() for line in lines[lines.index("    ,") :]]
    assert "-," in diff
    assert "+,0" in diff
    assert any(line.split()[:2] == ["delete", "rows"] for line in lines)


def test_events_come_on_lines_and_tell_the_whole_story(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    whet.write("data.csv", TABLE)

    said = whet("shrink", "data.csv", "--json", "--", PYTHON, "parse.py", "data.csv")

    told = events(said)
    kinds = [each["event"] for each in told]
    assert {"trial", "pass", "reduced", "stopped", "result"} <= set(kinds)
    assert kinds[-1] == "result"
    reduced = [each["after_bytes"] for each in told if each["event"] == "reduced"]
    assert reduced[-1] == payload(said)["after_bytes"]
    sizes = payload(said)["sizes"]
    assert [each["bytes"] for each in sizes] == [len(TABLE), *reduced]
    assert [each["seconds"] for each in sizes] == sorted(each["seconds"] for each in sizes)
    saved = sum(each["saved_bytes"] for each in payload(said)["passes"])
    assert saved == len(TABLE) - reduced[-1]


def test_the_picture_is_svg_that_falls(whet: Whet) -> None:
    whet.write("hay.txt", "hay\n" * 60 + "needle\n")

    said = whet("shrink", "hay.txt", "--picture", "size.svg", "--interesting",
                script(whet, NEEDLE))  # fmt: skip

    assert said.code == 0, said.stderr
    picture = ET.parse(whet.folder / "size.svg").getroot()
    (path,) = picture.findall("{http://www.w3.org/2000/svg}path")
    heights = [float(part.split("H")[0]) for part in path.attrib["d"].split("V")[1:]]
    assert heights == sorted(heights)
    assert len(heights) > 1


@pytest.mark.parametrize("text", ["some text\nand more\n", '{"a": [1, 2]}', "a,b\n1,2\n"])
def test_a_script_that_is_always_true_is_called_trivial_at_once(whet: Whet, text: str) -> None:
    whet.write("data.txt", text)

    said = whet(
        "shrink", "data.txt", "--json", "--interesting", script(whet, "#!/bin/sh\nexit 0\n")
    )

    assert said.code == 0
    assert payload(said)["stopped"] == "trivial"
    assert payload(said)["after_bytes"] == 0
    assert len([each for each in events(said) if each["event"] == "trial"]) <= 6


def test_a_failure_of_empty_files_alone_is_not_trivial(whet: Whet) -> None:
    whet.write("data.txt", "\n\n")

    said = whet("shrink", "data.txt", "--json", "--interesting",
                script(whet, '#!/bin/sh\ntest -z "$(cat "$1")"\n'))  # fmt: skip

    assert payload(said)["stopped"] == "minimal"
    assert payload(said)["after_bytes"] == 0


@pytest.mark.long
def test_a_script_that_changes_its_mind_is_called_flaky_and_asked_again_and_again(
    whet: Whet,
) -> None:
    # Whole lines are always found. Of what is shorter than the original line two of three runs are.
    whet.write("count", "x")  # the run that confirms the result is not one of those
    text = f"""\
#!/bin/sh
grep -q 'a needle here' "$1" && exit 0
grep -q needle "$1" || exit 1
printf x >> {whet.folder}/count
test $(( $(wc -c < {whet.folder}/count) % 5 )) -lt 2
"""
    whet.write("hay.txt", "hay\n" * 8 + "a needle here\n" + "hay\n" * 8)

    said = whet("shrink", "hay.txt", "--jobs", "1", "--json", "--interesting", script(whet, text))

    assert said.code == 0, said.stderr
    notes = " ".join(each["text"] for each in events(said) if each["event"] == "note")
    assert "flaky: the result failed in" in notes
    assert (whet.folder / "hay.shrunk.txt").read_text() == "a needle here"
    assert payload(said)["rate_at_least"] == 0.5
    assert payload(said)["reason"] == "no candidate smaller than this fails often enough"
    assert payload(said)["minimal_over"] == []


def test_nothing_rarer_than_the_rate_that_was_asked_for_is_taken(whet: Whet) -> None:
    # With the hay beside it the needle is always found, without it in a third of the runs.
    whet.write("count", "")
    text = f"""\
#!/bin/sh
grep -q needle "$1" || exit 1
grep -q hay "$1" && exit 0
printf x >> {whet.folder}/count
test $(( $(wc -c < {whet.folder}/count) % 3 )) -eq 0
"""
    whet.write("hay.txt", "hay\nneedle\n")
    check = script(whet, text)

    said = whet("shrink", "hay.txt", "--rate-at-least", "0.6", "--jobs", "1", "--json",
                "--interesting", check)  # fmt: skip

    left = (whet.folder / "hay.shrunk.txt").read_text()
    assert sorted(left.replace("hay", "|hay|").replace("needle", "|needle|").split("|")) == [
        "", "", "", "hay", "needle"
    ]  # fmt: skip
    assert payload(said)["rate_at_least"] == 0.6


def test_a_rate_that_the_command_itself_does_not_reach_is_refused(whet: Whet) -> None:
    whet.write("count", "")
    count = f"{whet.folder}/count"
    text = f"#!/bin/sh\nprintf x >> {count}\ntest $(( $(wc -c < {count}) % 4 )) -eq 0\n"
    whet.write("hay.txt", "hay\n")

    said = whet("shrink", "hay.txt", "--rate-at-least", "0.9", "--interesting", script(whet, text))

    assert said.code == 64 or "does not call the file interesting" in said.stderr
    if said.code == 64:
        assert "--rate-at-least 0.9" in said.stderr


def test_what_must_be_kept_is_kept_and_nothing_without_it_is_run(whet: Whet) -> None:
    whet.write("hay.txt", "first line\n" + "hay\n" * 9 + "needle\nlast line\n")
    log = f"{whet.folder}/log"
    check = script(whet, f'#!/bin/sh\ngrep -q "first line" "$1" || echo lost >> {log}\n'
                         'grep -q needle "$1"\n')  # fmt: skip

    said = whet("shrink", "hay.txt", "--keep", "^first line$", "--interesting", check)

    assert said.code == 0, said.stderr
    assert (whet.folder / "hay.shrunk.txt").read_text() == "first line\nneedle"
    assert not Path(log).exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--keep", "("), "is not a regular expression"),
        (("--keep", "nowhere"), "matches nothing in the file"),
        (("--objective", "beauty"), "isn't something that whet counts or measures"),
        (("--also-interesting", "3", "--oracle", "x"), "of the script of `--interesting`"),
    ],
)
def test_a_wish_that_cannot_be_had_is_refused_before_anything_runs(
    whet: Whet, words: tuple[str, ...], complaint: str
) -> None:
    whet.write("hay.txt", "hay\n")

    said = whet("shrink", "hay.txt", *words, "--", "touch", "ran", "hay.txt")

    assert said.code == 64
    assert complaint in said.stderr
    assert not (whet.folder / "ran").exists()


def test_a_number_that_is_measured_never_rises(whet: Whet) -> None:
    # Without the first line the program works a hundred times as much.
    whet.write("prog.py", "import sys\ntext = open(sys.argv[1]).read()\n"
               "print('work', 1 if 'cheap' in text else 100)\nassert 'needle' not in text\n")  # fmt: skip
    whet.write("hay.txt", "hay\ncheap\nhay\nneedle\nhay\n")

    said = whet("shrink", "hay.txt", "--objective", "work", "--measure", r"work=^work (\d+)$", "--",
                PYTHON, "prog.py", "hay.txt")  # fmt: skip

    assert said.code == 0, said.stderr
    assert (whet.folder / "hay.shrunk.txt").read_text() in {"cheapneedle", "needlecheap"}


@pytest.mark.long
def test_a_long_json_is_laid_out_where_it_still_fails(whet: Whet) -> None:
    program = "import json, sys\ndata = json.load(open(sys.argv[1]))\n"
    program += "assert sum(len(key) >= 40 for key in data) < 2\n"
    whet.write("prog.py", program)
    document = {"x" * 40 + str(number): [number] for number in range(2)} | {"else": [1, 2]}
    whet.write("data.json", json.dumps(document))
    words = ("--", PYTHON, "prog.py", "data.json")

    laid_out = whet("shrink", "data.json", "-o", "laid_out.json", *words)
    flat = whet("shrink", "data.json", "-o", "flat.json", "--no-pretty", *words)

    assert (laid_out.code, flat.code) == (0, 0)
    long = (whet.folder / "flat.json").read_text()
    assert "\n" not in long
    assert len(long) > 80
    lines = (whet.folder / "laid_out.json").read_text().splitlines()
    assert len(lines) == 4
    assert json.loads("".join(lines)) == json.loads(long)
    assert fails(whet, program, "laid_out.json")
    (end,) = [line for line in laid_out.stdout.splitlines() if "1-minimal" in line]
    assert end.startswith("  1-minimal over values, ")
    assert "bytes, then formatted: " in end
    assert "laid out" not in flat.stdout


def test_the_end_names_of_what_no_single_one_can_go(whet: Whet) -> None:
    whet.write("hay.txt", "hay\n" * 8 + "a needle here\n" + "hay\n" * 8)

    said = whet("shrink", "hay.txt", "--interesting", script(whet, NEEDLE))

    assert "  1-minimal over lines, tokens, words and bytes: " in said.stdout


def slow_search(whet: Whet, *words: str) -> list[str]:
    whet.write("hay.txt", "".join(f"{number} hay\n" for number in range(200)) + "needle\nmore\n")
    check = script(whet, '#!/bin/sh\nsleep 0.05\ngrep -q needle "$1" && grep -q 17 "$1"\n')
    return [PYTHON, "-m", "whet", "shrink", "hay.txt", *words, "--jobs", "1", "--json",
            "--interesting", check]  # fmt: skip


@pytest.mark.long
def test_a_search_that_was_killed_goes_on_from_its_best(whet: Whet) -> None:
    words = slow_search(whet)
    best = whet.folder / "hay.shrunk.txt"
    environment = {**os.environ, **whet.environment}

    with subprocess.Popen(
        words,
        cwd=whet.folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as killed:
        deadline = time.monotonic() + 60
        while not (best.exists() and best.stat().st_size < 700) and time.monotonic() < deadline:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
    reached = best.stat().st_size
    best.unlink()

    resumed = whet(*words[3:], "--resume")

    assert resumed.code == 0, resumed.stderr
    sizes = [each["after_bytes"] for each in events(resumed) if each["event"] == "reduced"]
    assert sizes[0] <= reached
    assert "resumes from the best result of an earlier shrink" in resumed.stdout
    assert "needle" in best.read_text()
    assert "17" in best.read_text()
    assert best.stat().st_size == len("17needle")


def test_there_is_nothing_to_resume_for_another_file(whet: Whet) -> None:
    words = slow_search(whet, "--budget", "300ms")
    assert whet(*words[3:]).code == 75
    whet.write("hay.txt", "17 needle")

    said = whet(*words[3:], "--resume")

    assert "nothing to resume" in said.stdout


def test_the_best_that_holds_what_must_be_kept_is_resumed(whet: Whet) -> None:
    whet.write("hay.txt", "".join(f"{number}\n" for number in range(40)) + "keep\nneedle\n")
    words = ("shrink", "hay.txt", "--json", "--interesting", script(whet, NEEDLE))
    assert whet(*words).code == 0
    assert (whet.folder / "hay.shrunk.txt").read_text() == "needle"

    resumed = whet(*words, "--keep", "keep", "--resume")

    assert resumed.code == 0, resumed.stderr
    assert "nothing to resume" not in resumed.stdout
    assert "resumes from the best result of an earlier shrink" in resumed.stdout
    smallest = (whet.folder / "hay.shrunk.txt").read_text()
    assert "keep" in smallest
    assert len(smallest) <= len("keep\nneedle")


@pytest.mark.long
def test_what_failed_once_by_chance_is_not_resumed(whet: Whet) -> None:
    # Without `keep` it fails in each eighth run alone, as a counter beside the project says.
    count = whet.folder.parent / "count"
    whet.write(
        "f.py",
        f"""
import sys
content = open(sys.argv[1]).read()
with open({str(count)!r}, "a+") as file:
    is_rare = "boom" in content and "keep" not in content
    file.write("." * is_rare)
    file.seek(0)
    number = len(file.read())
if "boom" in content and (not is_rare or number % 8 == 1):
    raise ValueError("boom")
""",
    )
    whet.write("d.txt", "a\nkeep\nboom\n")
    words = ("shrink", "d.txt", "--cold", "--jobs", "1")
    command = ("--", PYTHON, "f.py", "d.txt")
    assert whet(*words, *command).code == 0
    assert "keep" in (whet.folder / "d.shrunk.txt").read_text()

    resumed = whet(*words, "--resume", *command)

    assert resumed.code == 0, resumed.stderr
    assert "keep" in (whet.folder / "d.shrunk.txt").read_text()
    assert "resumes from the best result of an earlier shrink: 12 B \u2192 8 B" in resumed.stderr


def test_the_end_names_the_budget_and_the_way_on(whet: Whet) -> None:
    words = [word for word in slow_search(whet, "--budget", "300ms") if word != "--json"]

    said = whet(*words[3:])

    assert said.code == 75
    assert "the time budget is used up (`--budget 0.3`; `--resume` continues)" in said.stdout


@pytest.mark.long
def test_the_budget_counts_from_the_first_run_of_the_command(whet: Whet) -> None:
    whet.write("hay.txt", "hay\nneedle\n")
    whet.write(
        "main.py",
        "import sys, time\ntime.sleep(1)\nsys.exit('needle' in open(sys.argv[1]).read())\n",
    )

    said = whet(
        "shrink",
        "hay.txt",
        "--json",
        "--cold",
        "--budget",
        "2s",
        "--",
        PYTHON,
        "main.py",
        "hay.txt",
    )

    (end,) = [each for each in events(said) if each["event"] == "stopped"]
    assert said.code == 75
    assert end["trials"] == 0, said.stdout


WORD = 'import sys\nif "crash" in open(sys.argv[1]).read():\n    raise SystemError("met")\n'
SETTINGS = '{"name": "edge", "list": [1, 2, {"crash": true}], "more": {"a": "b"}}\n'


def test_a_smaller_json_is_json_whatever_the_program_makes_of_it(whet: Whet) -> None:
    whet.write("search.py", WORD)
    whet.write("data.json", SETTINGS)
    said = whet("shrink", "data.json", "--json", "--", PYTHON, "search.py", "data.json")
    smallest = (whet.folder / "data.shrunk.json").read_text()
    assert "crash" in smallest
    json.loads(smallest)
    assert len(smallest) < len(SETTINGS) / 2
    assert not payload(said)["is_refused"]


def test_a_result_that_a_parser_refuses_is_called_so_in_the_first_line(whet: Whet) -> None:
    whet.write("data.json", SETTINGS)
    judge = script(whet, '#!/bin/sh\ngrep -q crash "$1"\n')
    said = whet("shrink", "data.json", "--interesting", judge)
    first = next(line for line in said.stdout.splitlines() if line.startswith("data.json: "))
    assert (whet.folder / "data.shrunk.json").read_text() == "crash"
    assert first.endswith("; no longer valid in its format")


def test_a_table_stays_one_and_a_lost_header_is_told_in_the_first_line(whet: Whet) -> None:
    whet.write("sum.py", "import csv, sys\nfor row in csv.reader(open(sys.argv[1])):\n"
               "    if row and row[-1] == 'bad':\n        raise SystemError('met')\n")  # fmt: skip
    table = "id,name,size\n" + "".join(f"{number},n{number},{number}\n" for number in range(9))
    whet.write("data.csv", table + "9,x,bad\n")

    said = whet("shrink", "data.csv", "--", PYTHON, "sum.py", "data.csv")

    assert (whet.folder / "data.shrunk.csv").read_text().strip() == "bad"
    first = next(line for line in said.stdout.splitlines() if line.startswith("data.csv: "))
    assert first.endswith("; without the table's header")


def test_a_reader_that_is_not_installed_is_said_first_with_what_adds_it(whet: Whet) -> None:
    whet.write("without/sitecustomize.py", "import sys\nsys.modules['yaml'] = None\n")
    whet.write("a.yaml", "a: 1\nb: [2, 3]\n")
    whet.write("main.py", "import sys\nassert 'a' not in open(sys.argv[1]).read()\n")
    path = f"{whet.folder / 'without'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"

    said = subprocess.run(
        [PYTHON, "-m", "whet", "shrink", "a.yaml", "--", PYTHON, "main.py", "a.yaml"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    told = said.stderr.partition("yaml, which reads it, isn't installed")
    assert told[1], said.stderr
    assert "-m pip install 'whet[formats]'`" in told[2]


@pytest.mark.long
def test_an_unknown_format_is_said_and_left(whet: Whet) -> None:
    whet.write(
        "read.py",
        "import sys, zlib\ndata = open(sys.argv[1], 'rb').read()\n"
        "assert len(data) > 4 and int.from_bytes(data[:4], 'little') == zlib.crc32(data[4:])\n"
        "raise ValueError('read')\n",
    )
    body = bytes(range(256)) * 16
    (whet.folder / "a.own").write_bytes(zlib.crc32(body).to_bytes(4, "little") + body)

    said = whet("shrink", "a.own", "--", PYTHON, "read.py", "a.own")

    assert said.code == 0
    assert "`a.own` isn't in a format that whet knows: it tries to cut" in said.stderr
    assert "unknown format: 200 trials in a row gained less than 1 %" in said.stdout
