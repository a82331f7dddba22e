"""What is told of a path that a system call failed on."""

import os
from pathlib import Path

import pytest

from whet.host.files.path_facts import facts_on


@pytest.mark.parametrize(
    ("there", "near"),
    [
        (["b.txt", "a.txt"], ()),
        (["C.txt"], ("C.txt",)),
        (["c1.txt", "notes.txt"], ("c1.txt",)),
    ],
)
def test_a_name_that_only_ends_like_the_missing_one_is_not_near_it(
    there: list[str], near: tuple[str, ...], tmp_path: Path
) -> None:
    for name in there:
        (tmp_path / name).touch()
    facts = facts_on(os.getpid(), str(tmp_path / "c.txt"), looks_beside=True)
    assert facts is not None
    assert facts.near == near
