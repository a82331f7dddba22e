"""How a value is named in a sentence."""

from pathlib import Path

from recorded_runs import clues

from whet.evidence.provenance.run.recording import Value
from whet.evidence.provenance.sentences.wording import shown, upper


def test_an_array_is_named_by_what_it_holds_and_a_table_by_its_type() -> None:
    array = Value("array", "numpy.ndarray", "", facts={"dtype": "float64"})
    alike = Value("array", "numpy.ndarray", "", facts={"dtype": "int8", "min": 100, "max": 100})
    not_all = {"dtype": "int8", "min": 100.0, "max": 100.0, "nan": 3}
    assert shown(alike) == "an array of int8, all 100"
    assert shown(Value("array", "numpy.ndarray", "", facts=not_all)) == "an array of int8"
    table = Value("array", "pandas.DataFrame", "", facts={})
    assert shown(array) == "an array of float64"
    assert shown(table) == "a DataFrame"


def test_an_array_of_one_number_without_a_shape_is_that_number() -> None:
    facts = {"dtype": "float32", "shape": [], "min": 0.5, "max": 0.5}
    assert shown(Value("array", "torch.Tensor", "", facts=facts)) == "0.5"
    several = {**facts, "shape": [1]}
    assert (
        shown(Value("array", "torch.Tensor", "", facts=several)) == "a tensor of float32, all 0.5"
    )


SETTINGS = """
import json

with open("limits.json") as file:
    limits = json.load(file)
assert limits["most"] > 4711.5, limits
"""


def test_a_file_of_one_line_is_not_called_a_record(tmp_path: Path) -> None:
    whole = clues(tmp_path, SETTINGS, limits_json='{"least": 3, "most": 4711.25}\n')[0]
    assert "the file limits.json" in whole.record
    lines = clues(tmp_path, SETTINGS, limits_json='{"least": 3,\n"most": 4711.25}\n')[0]
    assert "the record at limits.json:2" in lines.record


PASSED_ON = """
def parse(record):
    name, _, price = record.partition(":")
    return name, None if price == "" else int(price)

def total(prices):
    found = 0
    for name in prices:
        found += prices[name]
    return found

print(total(dict(parse(each) for each in "a:1,b:,c:3".split(","))))
"""


TEXT_OF_MANY = """
def shown(part):
    return f"{part:02d}"

def stamp(parts):
    return "".join(map(shown, parts))

print(2000 + stamp([11, 27]))
"""


def test_what_a_function_in_a_call_has_returned_is_made_there(tmp_path: Path) -> None:
    clue, *_ = clues(tmp_path, PASSED_ON)
    assert "It was made at main.py:4 (`None if price" in clue.says


def test_what_a_function_in_a_call_may_have_made_is_not_said_to_be_made_by_the_call(
    tmp_path: Path,
) -> None:
    clue, *_ = clues(tmp_path, TEXT_OF_MANY)
    assert "made at" not in clue.says
    assert "It came out of main.py:6" in clue.says
    assert "in which `shown` (main.py:2) ran" in clue.says


def test_a_sentence_begins_with_a_capital_but_a_place_stays_as_it_is() -> None:
    assert upper("the loop ended") == "The loop ended"
    assert upper("pkg/loader.py:21 uses `rows`") == "pkg/loader.py:21 uses `rows`"
    assert upper("loader.py:21 uses `rows`") == "loader.py:21 uses `rows`"
