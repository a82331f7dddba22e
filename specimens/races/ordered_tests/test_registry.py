"""Tests of which the second leans on what the first leaves behind."""

import registry


def test_a_reader_is_registered() -> None:
    registry.register("csv", "read_csv")
    assert registry.READERS


def test_a_reader_is_found() -> None:
    assert registry.reader_of("csv") == "read_csv"


def test_names_are_lower_case() -> None:
    assert all(kind.islower() for kind in registry.READERS)
