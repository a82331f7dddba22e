"""What a call chooses among the keys of a dict is followed to where the key was stored, not to its value."""

from pathlib import Path

from recorded_runs import clues, line_of

LONGEST = """\
def weight(word):
    return [len(word), 7]


def table(words):
    return dict(zip(words, [weight(each) for each in words]))


def heaviest(sizes):
    return max(sizes, key=lambda word: sizes[word][0])


names = "pear plum apricot".split()
best = heaviest(table(names))
if best != "plum":
    raise SystemExit(f"best is {best}")
"""


def test_a_key_that_max_chose_comes_from_where_the_keys_come_from(tmp_path: Path) -> None:
    found = clues(tmp_path, LONGEST)
    best = next(each for each in found if "`best` is 'apricot'" in each.says)
    made = line_of(LONGEST, "names = ")
    assert f"main.py:{made}" in best.says
    assert best.line != line_of(LONGEST, "return [len(word)")
