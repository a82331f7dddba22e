"""Two texts of a script judge alike if they compare, assert and raise the same."""

import pytest

from whet.bisection.judgements import judgements_in

SCRIPT = """
import shop
MOST = 6
PRICES = [1, 2, 3]
def main():
    total = shop.add(PRICES)
    if total > MOST:
        raise SystemExit("too much")
main()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import shop", "import sys\nsys.path.insert(0, 'tools')\nimport shop"),
        ("shop.add(PRICES)", "shop.add(sorted(PRICES))"),
        ("[1, 2, 3]", "[1, 2, 4]"),
        ("main()\n", "main()  # all\n"),
    ],
)
def test_a_change_of_what_is_done_asks_the_same(old: str, new: str) -> None:
    assert judgements_in(SCRIPT.replace(old, new)) == judgements_in(SCRIPT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MOST = 6", "MOST = 5"),
        ("total > MOST", "total >= MOST"),
        ("    if total", "    assert total\n    if total"),
        ("too much", "far too much"),
    ],
)
def test_a_change_of_the_check_or_of_its_limit_asks_for_something_else(old: str, new: str) -> None:
    assert judgements_in(SCRIPT.replace(old, new)) != judgements_in(SCRIPT)


def test_a_script_in_another_language_asks_for_what_is_unknown() -> None:
    assert judgements_in("if [ $1 -gt 6 ]; then exit 1; fi") is None
