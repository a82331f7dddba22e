"""`whet investigate`: results that were kept under keys that lack what they depend on."""

import json
import sys
from typing import Any

import pytest
from kept_programs import LACKING, METHOD, OUT_OF_DATE, RIGHT
from recorded_runs import line_of
from whet_command import Whet


def answer(whet: Whet, *command: str) -> dict[str, Any]:
    whet("investigate", "--", sys.executable, *command)
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, Any] = report["answer"]
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", LACKING)
def test_the_key_with_which_the_command_passes_is_its_cause(name: str, whet: Whet) -> None:
    program, key, lacks = LACKING[name]
    whet.write("main.py", program)
    cause = answer(whet, "main.py")["cause"]
    assert (cause["line"], cause["sureness"]) == (line_of(program, key), "shown")
    assert f"the key lacks {lacks}: " in cause["says"]
    assert "made each result with what the key lacks as it was at first, and failed" in cause["why"]


@pytest.mark.long
def test_it_is_found_in_time_of_a_test_that_fails(whet: Whet) -> None:
    whet.write("rates.py", METHOD.partition("\n\nrates = ")[0] + "\n")
    whet.write("test_rates.py", (
        "from rates import Rates, convert\n"
        "def test_empty():\n"
        "    assert convert([], Rates({})) == []\n"
        "def test_total():\n"
        "    rates = Rates({'mon': {'EUR': 10, 'GBP': 12}})\n"
        "    lines = [('mon', 100, 'EUR'), ('mon', 50, 'GBP')]\n"
        "    assert sum(convert(lines, rates)) == 1600\n"
    ))  # fmt: skip
    cause = answer(whet, "-m", "pytest", "-q", "-p", "no:cacheprovider")["cause"]
    assert cause["path"] == str(whet.folder / "rates.py")
    assert (cause["line"], cause["sureness"]) == (7, "shown")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=pytest.mark.long if number else ())
        for number, each in enumerate(RIGHT)
    ],
)
def test_a_key_that_rightly_lacks_something_is_no_cause(name: str, whet: Whet) -> None:
    whet.write("main.py", RIGHT[name])
    found = answer(whet, "main.py")
    assert found["cause"] is None
    assert "the key lacks" not in json.dumps(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", OUT_OF_DATE)
def test_a_result_that_is_kept_for_too_long_has_a_whole_key(name: str, whet: Whet) -> None:
    program, says = OUT_OF_DATE[name]
    whet.write("main.py", program)
    cause = answer(whet, "main.py")["cause"]
    assert says in cause["says"]
    assert cause["sureness"] == "shown"
    assert "the key lacks" not in cause["says"]
