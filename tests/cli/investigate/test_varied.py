"""`whet investigate`: a one-token change with which the command passes points at a line, and harms nothing."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

WINDOW = """
def means(values, size):
    return [sum(values[n : n + size]) / size for n in range(len(values) - size)]


found = means([1, 2, 3, 4], 2)
assert found == [1.5, 2.5, 3.5], found
"""


def report(whet: Whet) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return found


def clues(whet: Whet) -> list[dict[str, object]]:
    found = report(whet)["clues"]
    assert isinstance(found, list)
    return found


def test_the_change_with_which_a_command_passes_is_told_first(whet: Whet) -> None:
    whet.write("main.py", WINDOW)
    whet("investigate", "--", sys.executable, "main.py")

    first = clues(whet)[0]
    assert first["line"] == 3
    assert "range(len(values) - size + 1)` instead of `range(len(values) - size)" in str(
        first["says"]
    )
    assert whet.folder.joinpath("main.py").read_text() == WINDOW
    trials = first["trials"]
    assert isinstance(trials, list)
    shown = [json.loads(whet("show", "--json", str(each)).stdout)["verdict"] for each in trials]
    assert shown[:2] == ["good", "bad"]


@pytest.mark.long
def test_a_changed_program_leaves_nothing_behind(whet: Whet) -> None:
    outside = whet.folder.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    whet.write(
        "main.py",
        "import os\n"
        "from pathlib import Path\n\n"
        "def total(rows):\n"
        "    return rows[0] + rows[-1]\n\n\n"
        f"outside = Path({str(outside)!r})\n"
        "found = total([1, 2, 3])\n"
        "if found != 4:\n"
        "    for each in outside.iterdir():\n"
        "        each.unlink()\n"
        "    Path('here').write_text('1')\n"
        "assert found == 6, found\n",
    )
    whet("investigate", "--", sys.executable, "main.py")
    assert (outside / "kept").read_text() == "kept"
    assert not (whet.folder / "here").exists()


def test_with_no_changes_no_changed_program_is_run(whet: Whet) -> None:
    whet.write("main.py", WINDOW)
    whet("investigate", "--no-changes", "--", sys.executable, "main.py")
    assert not [each for each in clues(whet) if "instead of" in str(each["says"])]


def test_where_a_cause_was_seen_no_change_is_tried(whet: Whet) -> None:
    whet.write("main.py", "found = {'a': 1}\nfound.pop('a')\nprint(found['a'] + 1)\n")
    whet("investigate", "--", sys.executable, "main.py")
    first = clues(whet)[0]
    assert (first["line"], first["sureness"]) == (2, "seen")
    assert not [each for each in clues(whet) if "instead of" in str(each["says"])]


@pytest.mark.long
def test_a_failure_that_comes_now_and_then_is_not_changed(whet: Whet) -> None:
    whet.write("main.py", "import os\nassert len('a' * (os.getpid() % 2)) + 1 == 3\n")
    whet("investigate", "--", sys.executable, "main.py")
    assert not [each for each in clues(whet) if "instead of" in str(each["says"])]


def looked_closer(whet: Whet) -> list[str]:
    """Return from where each trial of the closer look has gone on; empty: from its start."""
    steps = report(whet)["steps"]
    assert isinstance(steps, list)
    numbers = next(each["numbers"] for each in steps if each["title"] == "Look closer")
    return [started(whet, number) for number in numbers]


def started(whet: Whet, number: int) -> str:
    outcome = json.loads(whet("show", "--json", str(number)).stdout)["outcome"]
    return str(outcome["resumed_from"])


@pytest.mark.long
def test_changes_share_the_start_of_a_program_and_what_is_told_ran_from_its_own(
    whet: Whet,
) -> None:
    whet.write(
        "main.py",
        "import windows\n\n"
        "numbers = [n % 7 for n in range(1_000_000)]\n"
        "assert windows.means([1, 2, 3, 4], 2) == [1.5, 2.5, 3.5], len(numbers)\n",
    )
    whet.write("windows.py", WINDOW.partition("\n\n\n")[0] + "\n")
    whet("investigate", "--", sys.executable, "main.py")

    first = clues(whet)[0]
    assert (Path(str(first["path"])).name, first["line"]) == ("windows.py", 3)
    told = first["trials"]
    assert isinstance(told, list)
    assert not any(started(whet, number) for number in told)
    assert any(looked_closer(whet))


@pytest.mark.long
def test_a_program_that_leaves_a_file_is_changed_from_its_start(whet: Whet) -> None:
    whet.write("main.py", "open('left', 'w').close()\n" + WINDOW)
    whet("investigate", "--", sys.executable, "main.py")

    assert "range(len(values) - size + 1)" in str(clues(whet)[0]["says"])
    assert not any(looked_closer(whet))


READER = """
def records(lines):
    for line in lines:
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, *numbers = line.split(",")
        yield name, numbers
"""
SKIPS = """
import reader

spans = {}
for name, numbers in reader.records(["a,0,2", "b,5,5", "a,3", "b,3"]):
    if numbers[1:]:
        low, high = numbers
        spans[name] = int(high) - int(low)
    else:
        print(int(numbers[0]) / spans[name])
"""


@pytest.mark.long
def test_a_change_with_which_the_work_is_left_out_is_no_clue(whet: Whet) -> None:
    whet.write("main.py", SKIPS)
    whet.write("reader.py", READER)
    whet("investigate", "--", sys.executable, "main.py")

    assert "instead of `not line`" not in json.dumps(clues(whet))


PAGES = """
import sys


def pages(items, size):
    for at in range(0, len(items) - size, size):
        yield items[at : at + size]


def main():
    known = {each for page in pages([1, 2, 3, 4, 5], 2) for each in page}
    for each in (1, 2, 5):
        known.remove(each)


sys.exit(main())
"""


@pytest.mark.long
def test_a_program_that_ends_by_sys_exit_raises_no_more_errors_for_that(whet: Whet) -> None:
    whet.write("main.py", PAGES)
    whet("investigate", "--", sys.executable, "main.py")

    says = [str(each["says"]) for each in clues(whet)]
    assert any("`range(0, len(items), size)` instead of" in each for each in says)


@pytest.mark.long
def test_a_change_with_which_the_program_ends_early_is_no_clue(whet: Whet) -> None:
    early = PAGES.replace(
        "    for each in (1, 2, 5):",
        "    if 5 in known:\n        sys.exit(0)\n    for each in (1, 2, 5):",
    )
    whet.write("main.py", early)
    whet("investigate", "--", sys.executable, "main.py")

    assert not any("`range(0, len(items), size)`" in str(each["says"]) for each in clues(whet))


BATCHES = """
import math
from collections import Counter


def batches(items, size):
    count = len(items) // size
    for number in range(count):
        yield items[number * size : (number + 1) * size]


def counted(texts):
    counts = Counter()
    for batch in batches(texts, 2):
        for text in batch:
            counts.update(text.strip().lower().split())
    return counts


def share(counts, word):
    return counts[word] / sum(counts.values())


def rarity(counts, word):
    return -math.log(share(counts, word)) / math.log(2)


texts = ["the cat", "the dog", "one ox", "a cow", "my hen"]
counts = counted(texts)
for text in texts:
    print(sum(rarity(counts, word) for word in text.split()))
"""


def test_of_several_changes_that_pass_those_that_are_all_in_one_function_come_first(
    whet: Whet,
) -> None:
    whet.write("main.py", BATCHES)
    whet("investigate", "--", sys.executable, "main.py")

    first = clues(whet)[0]
    assert first["line"] == 7
    assert "changes of 2 more lines of `batches`" in str(first["says"])
    assert first["sureness"] == "possible"


def test_changes_that_pass_in_more_than_one_function_do_not_come_first(whet: Whet) -> None:
    # There, too, one change lets it pass: `… - 1) + 1`.
    program = BATCHES.replace("/ sum(counts.values())", "/ (sum(counts.values()) - 1 + 1)")
    whet.write("main.py", program)
    whet("investigate", "--", sys.executable, "main.py")

    assert "main.py:7 the command passes" in json.dumps(clues(whet))
    assert "tried outside" not in json.dumps(clues(whet))


PICKS = """
def sizes(a, b):
    return [a + b, a - b, a * b, a / b]


def pick(values, at):
    end = len(values) + at - at
    place = at + end - at
    return values[place]


print(pick(sizes(6, 3), 2))
"""


def test_a_function_that_was_under_way_may_only_have_met_what_is_wrong(whet: Whet) -> None:
    whet.write("main.py", PICKS)
    whet("investigate", "--", sys.executable, "main.py")

    assert "the command passes" in json.dumps(clues(whet))
    assert "tried outside" not in json.dumps(clues(whet))
