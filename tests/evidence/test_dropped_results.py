"""What a run dropped is put into words, tied to the value that failed, and given to what it was made from."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import recorded

from whet.core.observations.clue import Mention, Placing, Sureness
from whet.evidence.clues.closer_look import Line
from whet.evidence.clues.dropped import Drop, Field, Ties, Trouble, dropped_clues, drops_in, span_of
from whet.evidence.experiments.changes import text_with
from whet.evidence.experiments.dropped_results import uses_of_dropped
from whet.evidence.provenance.events.shared import Shared
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.origin import Origin

AT = Placing("/w")


def drop_at(
    source: str,
    line: int,
    trouble: Trouble,
    *,
    target: str = "",
    fields: tuple[Field, ...] = (),
) -> Drop:
    """Return what a statement of a program has dropped."""
    (node,) = [
        each for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.Expr) and each.lineno == line and isinstance(each.value, ast.Call | ast.Await)
    ]  # fmt: skip
    targets = tuple(
        span_of(each) for each in ast.walk(node.value)
        if isinstance(each, ast.expr) and ast.unparse(each) == target
    )[:1]  # fmt: skip
    at = Line(path="/w/main.py", number=line, function="f")
    return Drop(at=at, span=span_of(node), trouble=trouble, targets=targets, fields=fields)


DROP = drop_at("f(a)\n", 1, Trouble.ERROR)


def ties(*, given: str = "", lost: tuple[str, int] = ("", 0), passed: int = 0) -> Ties:
    return Ties(
        given=lambda _path, _node: given,
        lost=lambda _path, line: lost[0] if line == lost[1] else "",
        has_passed=lambda _path, line: line == passed,
    )


NEW = {
    "method": ("a = ' x '\na.strip()\nassert a == 'x'\n", 2, "a"),
    "item": ("row = {'n': '1,5'}\nrow['n'].replace(',', '')\nassert row == {'n': '15'}\n", 2, "row['n']"),
    "function": ("def first(rows):\n    sorted(rows)\n    return rows[0]\nassert first([3, 1]) == 1\n", 2, "rows"),
    "later argument": ("import re\na = 'x y'\nre.sub(' ', '', a)\nassert a == 'xy'\n", 3, "a"),
    "several lines": ("a = 'x y'\na.replace(\n    ' ',\n    '',\n)\nassert a == 'xy'\n", 2, "a"),
    "chain": ("a = ' X '\na.strip().lower()\nassert a == 'x'\n", 2, "a"),
    "root of a chain": (
        ("class Rows:\n    def __init__(self, n):\n        self.n, self.at = n, self\n    def set(self, n):\n"
        "        return Rows(n)\n    def __getitem__(self, key):\n        return self\n"
        "x = Rows(1)\nx.at[0].set(2)\nassert x.n == 2\n"), 9, "x",
    ),
    "awaited": (
        ("import asyncio\nasync def up(a):\n    return a.upper()\nasync def main(a):\n    await up(a)\n"
        "    return a\nassert asyncio.run(main('x')) == 'X'\n"), 5, "a",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEW, ids=str)
def test_a_program_passes_when_what_it_drops_is_given_to_what_it_was_made_from(case: str) -> None:
    source, line, target = NEW[case]
    with pytest.raises(AssertionError):
        exec(source, {})
    (repair,) = uses_of_dropped(source, [drop_at(source, line, Trouble.NEW, target=target)])
    assert (repair.line, repair.is_checked) == (line, True)
    exec(text_with(source, repair), {})


def test_what_was_made_from_no_variable_is_given_to_nothing() -> None:
    source = "' x '.strip()\nf()[0].strip()\n"
    drops = [
        drop_at(source, line, Trouble.NEW, target=target)
        for line, target in ((1, "' x '"), (2, "f()[0]"))
    ]
    assert [each.instead for each in uses_of_dropped(source, drops)] == [
        "`f()[0] = f()[0].strip()`"
    ]


def test_what_a_generator_would_do_is_done_when_it_is_gone_through() -> None:
    source = "rows = []\ndef fill():\n    rows.append(1)\n    yield\nfill()\nassert rows == [1]\n"
    (repair,) = uses_of_dropped(source, [drop_at(source, 5, Trouble.LAZY)])
    exec(text_with(source, repair), {})


MODEL = """\
class Model:
    def __init__(self):
        self.state = {"a.w": 0, "b.w": 0}
    def state_dict(self):
        return dict(self.state)
    def load_state_dict(self, state, strict=True):
        self.state.update((key, state[key]) for key in state if key in self.state)
model, saved = Model(), {SAVED}
model.load_state_dict(saved, strict=False)
assert model.state == {"a.w": 1, "b.w": 2}
"""


@pytest.mark.parametrize(
    "saved",
    ["{'module.a.w': 1, 'module.b.w': 2}", "{'x.y.a.w': 1, 'b.w': 2}"],
    ids=["a prefix", "of some"],
)
def test_a_state_is_loaded_under_the_names_of_the_model(saved: str) -> None:
    source = MODEL.replace("{SAVED}", saved)
    fields = tuple(Field(name=each, size=1, words="'k'") for each in ("missing_keys", "unexpected_keys"))  # fmt: skip
    (repair,) = uses_of_dropped(source, [drop_at(source, 9, Trouble.FIELDS, fields=fields)])
    exec(text_with(source, repair), {})
    assert list(uses_of_dropped(source, [drop_at(source, 9, Trouble.FIELDS, fields=fields[:1])])) == []  # fmt: skip


SAYS = {
    "errors": (
        replace(DROP, trouble=Trouble.ERRORS, count=1, of=1, said="ValueError: x"),
        "main.py:1 drops the result of `f(a)`, which is an error: ValueError: x",
    ),
    "some errors": (
        replace(DROP, trouble=Trouble.ERRORS, count=2, of=3, said="ValueError: x"),
        "main.py:1 drops what `f(a)` returned: 2 of 3 results are errors, ValueError: x",
    ),
    "error": (
        replace(DROP, trouble=Trouble.ERROR),
        "main.py:1 makes an error and doesn't raise it: `f(a)`",
    ),
    "short": (
        replace(DROP, trouble=Trouble.SHORT, count=1024, of=5000),
        "main.py:1 drops what `f(a)` returned: it took 1,024 of 5,000 bytes, and the rest is lost",
    ),
    "fields": (
        replace(
            DROP,
            trouble=Trouble.FIELDS,
            fields=(
                Field(name="rejected", size=3, words="'b7'"),
                Field(name="error", size=0, words="'full'"),
            ),
        ),
        "main.py:1 drops what `f(a)` returned: `rejected` has 3 items, such as 'b7' and `error` is 'full'",
    ),
    "status": (
        replace(DROP, trouble=Trouble.STATUS, status=3, said="no such option"),
        "main.py:1 doesn't look at how `f(a)` ended: with exit status 3 (it said `no such option`)",
    ),
    "absent": (
        replace(DROP, trouble=Trouble.STATUS, status=1, absent="out.csv"),
        "main.py:1 doesn't look at how `f(a)` ended: with exit status 1, and `out.csv` isn't there",
    ),
    "signal": (
        replace(DROP, trouble=Trouble.STATUS, status=-11),
        "main.py:1 doesn't look at how `f(a)` ended: with signal 11",
    ),
}


@pytest.mark.parametrize("case", SAYS, ids=str)
def test_a_dropped_trouble_is_told_with_the_line_that_drops_it(case: str) -> None:
    drop, says = SAYS[case]
    (clue,) = dropped_clues([drop], ties(), AT, lambda _: "f(a)\n")
    assert (clue.says, clue.line, clue.sureness) == (says, 1, Sureness.POSSIBLE)
    (tied,) = dropped_clues([drop], ties(given="a"), AT, lambda _: "f(a)\n")
    assert "`a`" in tied.says.removeprefix(clue.says)
    assert (Mention.DROPPED in tied.mentions) == (
        drop.trouble is not Trouble.STATUS or bool(drop.absent)
    )
    assert tied.sureness is Sureness.POSSIBLE


def test_only_an_error_that_kept_from_changing_what_failed_is_seen_to_be_the_cause() -> None:
    raised = Line(path="/w/other.py", number=7, function="g")
    drop = replace(DROP, trouble=Trouble.ERRORS, count=1, of=1, said="E: x", raised=raised)
    (clue,) = dropped_clues([drop], ties(given="a", lost=("a", 7)), AT, lambda _: "f(a)\n")
    assert clue.sureness is Sureness.SEEN
    assert clue.says.endswith("; it was to change `a`, which the value that failed comes from")
    assert [each.in_words for each in clue.trail] == ["other.py:7: E: x was raised in `g`"]
    (clue,) = dropped_clues([drop], ties(given="a", lost=("a", 8)), AT, lambda _: "f(a)\n")
    assert clue.sureness is Sureness.POSSIBLE
    own = "\n" * 6 + "    raise E('x')\n"
    (clue,) = dropped_clues(
        [drop],
        ties(given="a", lost=("a", 7)),
        AT,
        lambda path: own if "other" in path else "f(a)\n",
    )
    assert clue.sureness is Sureness.POSSIBLE
    returned = replace(drop, of=3)
    (clue,) = dropped_clues([returned], ties(given="a", lost=("a", 7)), AT, lambda _: "f(a)\n")
    assert clue.sureness is Sureness.POSSIBLE


def test_that_a_process_complained_is_not_yet_the_cause() -> None:
    for said in ("", "no such option"):
        drop = replace(DROP, trouble=Trouble.STATUS, status=1, said=said)
        (clue,) = dropped_clues([drop], ties(passed=1), AT, lambda _: "f(a)\n")
        assert clue.sureness is Sureness.POSSIBLE
        assert Mention.DROPPED in clue.mentions
        assert clue.says.endswith("; the value that failed comes from its output")


def test_a_new_value_alone_and_a_statement_that_is_gone_are_no_trouble() -> None:
    drops = [drop_at("f(a)\n", 1, each) for each in (Trouble.NEW, Trouble.ERROR)]
    far = ties()
    assert dropped_clues(drops[:1], far, AT, lambda _: "f(a)\n") == []
    assert dropped_clues(drops, far, AT, lambda _: "g(\n") == []


@pytest.mark.parametrize("kind", ["", "unknown", "new"])
def test_a_report_that_whet_does_not_know_is_left_out(kind: str) -> None:
    told = {"kind": "dropped", "pid": 1, "place": ["a.py", 1, "f"], "span": [1, 0, 1, 4], "trouble": kind}  # fmt: skip
    assert len(drops_in([told])) == (kind == "new")
    assert drops_in([{**told, "place": []}]) == []


TIED = {
    "an object": ("rows = []\nother = []\ndef fill(into):\n    pass\nfill(rows)\nfill(other)\nassert len(rows) == 1, rows\n", "rows"),
    "an attribute": (
        "class A:\n    def __init__(self):\n        self.rows, self.other = [], []\na = A()\nb = 1\nstr(a.rows)\nstr(a.other)\nassert len(a.rows) == 1\n",
        "a.rows",
    ),
    "a method that is to change it later": (
        "rows = []\nother = []\ndef later(*, into):\n    pass\nlater(into=rows.append)\nlater(into=other.append)\nassert len(rows) == 1, rows\n",
        "rows",
    ),
    "a method that changes nothing": (
        "rows, other = [], []\ndef later(*, by):\n    pass\nrows.sort()\nlater(by=rows.index)\nassert len(rows) == 1, rows\n",
        "rows",
    ),
    "a path": (
        "from pathlib import Path\nname = 'table.json'\nother = 'other.json'\nfound = [Path(name)]\nb = 1\nstr(name)\nstr(other)\npath = found[0]\nassert path.exists(), path\n",
        "name",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", TIED, ids=str)
def test_a_statement_is_tied_to_the_failure_by_what_both_had(case: str, tmp_path: Path) -> None:
    program, name = TIED[case]
    path = tmp_path / "main.py"
    path.write_text(program)
    recording, _ = recorded(tmp_path)
    origin = Origin(recording, Sources(), Placing(str(tmp_path)), lambda _path, _line: None)
    list(origin.clues())
    shared = Shared(recording, origin.way())
    statements = [
        each for each in ast.parse(program).body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
    ]  # fmt: skip
    assert [shared.name(str(path), each) for each in statements] == [name, ""]
    assert Shared(None, None).name(str(path), statements[0]) == ""


LOST = """\
def tally(name, text, totals, note):
    note.append(name)
    totals[name] = int(text)
def each(rows, totals, note):
    for name, text in rows:
        try:
            tally(name, text, totals, note)
        except ValueError:
            pass
totals, note = {}, []
each([("a", "1"), ("b", "x")], totals, note)
assert len(totals) == 2, totals
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "name"),
    [(LOST, "totals"), (LOST.replace("(totals) == 2, totals", "(note) == 3, note"), "")],
    ids=["what comes after", "what came before"],
)
def test_an_error_keeps_from_being_changed_what_its_function_changes_later(
    program: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "main.py"
    path.write_text(program)
    recording, _ = recorded(tmp_path)
    origin = Origin(recording, Sources(), Placing(str(tmp_path)), lambda _path, _line: None)
    list(origin.clues())
    assert Shared(recording, origin.way()).lost(str(path), 3) == name
