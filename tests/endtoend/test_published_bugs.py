"""Published bugs of packages: the release that fixed each is named, and a function that the fix changed."""

import shutil
from pathlib import Path

import pytest
from benchmarks.evidence.published import NoIndexError, bugs, investigate

BUGS = bugs()


def test_there_are_twelve_of_them() -> None:
    assert len(BUGS) == 12


@pytest.mark.network
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(BUGS))
def test_the_release_that_fixed_a_published_bug_and_its_function_are_named(
    name: str, tmp_path: Path
) -> None:
    try:
        answer = investigate(BUGS[name], tmp_path / "bug")
    except NoIndexError as error:
        pytest.skip(f"the release cannot be installed: {error}")
    finally:
        shutil.rmtree(tmp_path / "bug")

    assert answer.says_fixed, answer.said
    assert answer.found in {"first", "later"}, answer.said
