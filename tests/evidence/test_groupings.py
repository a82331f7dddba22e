"""A line to which too many items come is told with the dict that has most of them under one key."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE, clues, line_of
from test_unended import cut_off

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.provenance.run.recording import read_recording
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.groupings import GroupingClues
from whet.evidence.provenance.trace.walk import Walk
from whet.host.trial.instrumented_evidence import read_steps

JOIN = """\
from collections import defaultdict

PEOPLE = [{{"number": {number}, "name": f"n{{n}}"}} for n in range(30)]
VISITS = [{{"number": each["number"], "day": n}} for n, each in enumerate(PEOPLE)]


def key(row):
    return row["number"].strip().upper(){cut}


def index(rows):
    table = defaultdict(list)
    for row in rows:
        table[key(row)].append(row)
    return table


def join(visits, people):
    by_key = index(people)
    joined = []
    for visit in visits:
        for person in by_key.get(key(visit), ()):
            joined.append((visit, person))
            if len(joined) == 200:
                {end}
    return joined


joined = join(VISITS, PEOPLE)
assert len(joined) == len(VISITS), len(joined)
"""
FULL = "raise MemoryError"
CUT = JOIN.format(number='f"ab-{n:04}"', cut="[:4]", end=FULL)
ALIKE = JOIN.format(number='"AB-0007"', cut="", end=FULL)


def test_a_key_that_many_different_items_share_is_named_with_the_line_that_makes_it(
    tmp_path: Path,
) -> None:
    (clue,) = clues(tmp_path, CUT)
    assert clue.line == line_of(CUT, "return row")
    assert clue.sureness is Sureness.SEEN
    assert "went round 200 times in 7 rounds of the loop at line 21" in clue.says
    assert "`by_key` has all its 30 items under one key, 'AB-0'." in clue.says
    assert "makes that key of different `number`, such as 'ab-0000' and 'ab-0001'" in clue.says
    assert "keeps enough of `number`" in clue.next_step


def test_items_that_have_the_same_key_themselves_are_told_as_such(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, ALIKE)
    assert "All of these have the same `number`" in clue.says
    assert "makes that key" not in clue.says
    assert "See why 30 items have it" in clue.next_step


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("joined.extend(by_key[key(visit)])", id="extend"),
        pytest.param(
            "joined += [(visit, each) for each in by_key[key(visit)]]", id="comprehension"
        ),
    ],
)
def test_a_line_that_takes_all_of_a_group_at_once_is_one_that_goes_through_it(
    tmp_path: Path, body: str
) -> None:
    loop = CUT[CUT.index("        for person") : CUT.index("    return joined")]
    left = f"        if len(joined) > 99:\n            {FULL}\n"
    program = CUT.replace(loop, f"        {body}\n{left}")
    (clue,) = [each for each in clues(tmp_path, program) if each.sureness is Sureness.SEEN]
    assert "all its 30 items under one key, 'AB-0'. main.py:8" in clue.says


def test_a_dict_of_an_object_and_members_that_are_objects_are_seen_too(tmp_path: Path) -> None:
    program = """\
class Row:
    __slots__ = ("code", "at")

    def __init__(self, code, at):
        self.code = code
        self.at = at


class Store:
    def __init__(self, rows):
        self.rows = {}
        for row in rows:
            self.rows.setdefault(row.code[:2], []).append(row)

    def pairs(self, rows):
        out = []
        for row in rows:
            for other in self.rows[row.code[:2]]:
                out.append((row, other))
                if len(out) > 99:
                    raise MemoryError
        return out


rows = [Row(f"x{n % 3}-{n}", n) for n in range(60)]
Store(rows).pairs(rows)
"""
    (clue,) = clues(tmp_path, program)
    assert "`self.rows` has 60 items under 3 keys, 20 of them under 'x0'" in clue.says
    assert "makes that key of different `code`" in clue.says
    assert clue.line == line_of(program, "setdefault")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CUT.replace("range(30)", "range(7)").replace("== 200", "== 40"), id="few"),
        pytest.param(
            "groups = {n % 2: list(range(50)) for n in range(4)}\n"
            "out = []\nwhile True:\n    out.append(1)\n    if len(out) > 99:\n        raise MemoryError\n",
            id="elsewhere",
        ),
    ],
)
def test_a_dict_that_no_loop_around_the_line_goes_through_is_not_told(
    tmp_path: Path, program: str
) -> None:
    assert not [each for each in clues(tmp_path, program) if "under" in each.says]


def test_where_a_result_is_wrong_it_is_only_possible(tmp_path: Path) -> None:
    program = JOIN.format(number='f"ab-{n:04}"', cut="[:4]", end="break")
    told = [each for each in clues(tmp_path, program) if "by_key" in each.says]
    assert [each.sureness for each in told] == [Sureness.POSSIBLE]


def test_a_run_that_does_not_end_in_time_tells_it_too(tmp_path: Path) -> None:
    recording = cut_off(
        tmp_path, JOIN.format(number='f"ab-{n:04}"', cut="[:4]", end="print('far', flush=True)")
        .replace("for visit in visits", "for visit in visits * 100_000"),
    )  # fmt: skip
    crowds = GroupingClues(recording, Sources(), Placing(str(tmp_path)), Walk(recording, Sources()))
    told: list[Clue] = [
        clue
        for each in recording.standing or ()
        for clue in crowds.behind(each.call, each.line, each.moment)
    ]
    assert "in the first" in told[0].says or "rounds of the loop" in told[0].says
    assert "under one key, 'AB-0'" in told[0].says


def test_the_steps_of_a_program_without_memory_are_written(tmp_path: Path) -> None:
    program = CUT.replace("if len(joined) == 200", "if False").replace(
        "for visit in visits", "for visit in visits * 100_000"
    )
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))\n"
    (tmp_path / "main.py").write_text(limit + program)
    told = tmp_path / ".told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE), "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(tmp_path / ".cache"), "WHET_CLOSER": "steps:MemoryError||0",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, env={**os.environ, **variables},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "MemoryError" in ran.stderr
    (steps,) = read_steps(told)
    assert {each.size for each in read_recording(steps.data).groupings} == {30}
