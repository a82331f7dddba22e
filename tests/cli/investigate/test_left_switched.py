"""What a function switches and leaves so: that line is the cause if it passes when it is put back."""

import json
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

MONEY = """\
from decimal import Decimal, getcontext

def share(amount, people):
    getcontext().prec = 4
    return Decimal(amount) / people

def total(amounts):
    return sum((Decimal(each) for each in amounts), Decimal(0))
"""
LEDGER = """\
from money import share, total

entries = ["125.40", "20480.15"]
print(share(entries[0], 3))
balance = str(total(entries))
assert balance == "20605.55", balance
"""


def cause(whet: Whet, money: str) -> dict[str, object] | None:
    whet.write("money.py", money)
    whet.write("ledger.py", LEDGER)
    whet("investigate", "--budget", "2m", "--", sys.executable, "ledger.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, object] | None = report["answer"]["cause"]
    return found


def test_a_precision_that_a_function_sets_for_all_is_the_cause(whet: Whet) -> None:
    found = cause(whet, MONEY)
    assert found is not None
    assert (found["line"], found["sureness"]) == (4, "shown")
    assert "what `getcontext().prec = 4` sets stays so after `share` has returned" in str(
        found["says"]
    )


def test_a_precision_that_is_put_back_is_no_cause(whet: Whet) -> None:
    money = MONEY.replace(
        "    getcontext().prec = 4\n", "    before = getcontext().prec\n    getcontext().prec = 4\n"
    )
    money = money.replace(
        "    return Decimal(amount) / people",
        "    part = Decimal(amount) / people\n    getcontext().prec = before\n    return part",
    )
    found = cause(whet, money.replace("Decimal(0))", "Decimal(1))"))
    assert "stays so" not in str(found)
