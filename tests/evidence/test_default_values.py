"""A default that takes the place of a given value is told with both; what was given last is none."""

from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.core.observations.clue import Placing
from whet.evidence.experiments.changes import text_with
from whet.workbench.investigate.experiments.default_values import Defaults

PARSED = (
    "import argparse, json\nparser = argparse.ArgumentParser()\nparser.add_argument('-f', '--fast', action='store_true')\n"
    "parser.add_argument('--size', type=int, default=3)\nargs = parser.parse_args([])\n"
    'given = json.loads(\'{"fast": true, "size": 8}\')\n'
)
DEFAULTS = "import json\nBASE = {'size': 3, 'fast': False}\ngiven = json.loads('{\"size\": 8, \"fast\": true}')\n"
WRONG = {
    "a flag that is stored": PARSED
    + "for name, value in vars(args).items():\n    given[name] = value  # here\n"
    "assert given['fast']\n",
    "options merged last": PARSED + "both = {**given, **vars(args)}  # here\nassert both['fast']\n",
    "an update": PARSED + "given.update(vars(args))  # here\nassert given['fast']\n",
    "a number that isn't None": PARSED
    + "size = args.size if args.size is not None else given['size']  # here\nassert size == 8\n",
    "a number that is true": PARSED
    + "size = args.size or given['size']  # here\nassert size == 8\n",
    "defaults merged last": DEFAULTS
    + "both = {**given, **BASE}  # here\nassert both['size'] == 8\n",
    "defaults joined last": DEFAULTS + "both = given | BASE  # here\nassert both['size'] == 8\n",
    "defaults as keywords": DEFAULTS
    + "both = dict(given, **BASE)  # here\nassert both['size'] == 8\n",
    "defaults that update": DEFAULTS + "given.update(BASE)  # here\nassert given['size'] == 8\n",
    "defaults asked first": "from collections import ChainMap\n"
    + DEFAULTS
    + "both = ChainMap(BASE, given)  # here\nassert both['size'] == 8\n",
}
RIGHT = {
    "given values merged last": DEFAULTS + "both = {**BASE, **given}\nassert both['size'] == 3\n",
    "two that are written out": "A, B = {'a': 1}, {'a': 2}\nboth = {**A, **B}\nassert both['a'] == 1\n",
    "options below the file": PARSED + "both = {**vars(args), **given}\nassert both['size'] == 3\n",
    "all alike": DEFAULTS + "both = {**given, **BASE}\nassert both == 0\n",
}


def passing(program: str, folder: Path) -> list[tuple[str, int]]:
    """Return what is said of the changes with which a program passes, and their lines."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found: list[tuple[str, int]] = []
    for path, change in Defaults(recording, Placing(str(folder))).changes():
        try:
            exec(compile(text_with(program, change), path, "exec"), {"__name__": "__main__"})
        except (AssertionError, AttributeError):
            continue
        _, line = change.place or (path, change.line)
        found.append((change.what, line))
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_the_line_where_a_default_meets_a_given_value_is_named_with_both(
    kind: str, tmp_path: Path
) -> None:
    ((what, line),) = passing(WRONG[kind], tmp_path)
    assert line == line_of(WRONG[kind], "# here")
    both = ("False", "True") if "fast" in WRONG[kind].rpartition("assert")[2] else ("3", "8")
    assert all(each in what for each in both)


@pytest.mark.parametrize("kind", RIGHT)
def test_a_given_value_that_wins_is_no_default(kind: str, tmp_path: Path) -> None:
    assert passing(RIGHT[kind], tmp_path) == []


def test_the_other_keys_of_a_merge_are_the_control(tmp_path: Path) -> None:
    program = WRONG["defaults merged last"]
    (tmp_path / "main.py").write_text(program)
    recording, _ = recorded(tmp_path, said="AssertionError")
    changes = [change for _, change in Defaults(recording, Placing(str(tmp_path))).changes()]
    assert [len(each.beside) for each in changes] == [1, 1]
