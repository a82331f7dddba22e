"""Modules that are used before they are complete, and some that merely have such a name."""

from pathlib import Path

from recorded_runs import clues


def test_what_a_module_lacks_that_is_still_imported_is_led_back_to_the_import(
    tmp_path: Path,
) -> None:
    found = clues(
        tmp_path,
        "import prices\n\nprint(prices.TOTAL)\n",
        prices_py="import taxes\n\nRATE = 0.2\nTOTAL = taxes.with_tax(100)\n",
        taxes_py="import prices\n\nTAX = prices.RATE * 2\n\n\ndef with_tax(amount):\n    return amount\n",
    )

    (told,) = [each for each in found if "half loaded" in each.says]
    assert told.says.startswith("prices.py:1 (`import taxes`) starts an import that leads back")


def test_a_program_with_the_name_of_a_module_it_uses_does_not_load_that_module(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "main.py").write_text("def total():\n    return 2\n")

    found = clues(
        tmp_path, "import shop.main as shop\n\nwanted = 1\nassert shop.total() == wanted\n"
    )

    assert not [each for each in found if "half loaded" in each.says]


def test_a_complete_module_is_not_half_loaded_because_another_of_its_name_is(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "prices.py").write_text("def total():\n    return 2\n")

    found = clues(
        tmp_path,
        "import prices\n",
        prices_py="import shop.prices as shop\n\nwanted = 1\nassert shop.total() == wanted\n",
    )

    assert not [each for each in found if "half loaded" in each.says]


def test_a_function_that_a_half_loaded_module_has_is_not_missing_from_it(tmp_path: Path) -> None:
    found = clues(
        tmp_path,
        "import prices\n",
        prices_py="def total():\n    return 2\n\n\nimport check\n",
        check_py="import prices\n\nwanted = 1\nassert prices.total() == wanted\n",
    )

    assert not [each for each in found if "half loaded" in each.says]
