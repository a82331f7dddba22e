"""Each verb takes a folder, files and an argument whose names aren't UTF-8, and shows no secret."""

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest
from every_verb import Call, Names, calls, make_project
from whet_command import Whet

from whet.cli.main import VERBS

SECRET = os.fsdecode(b"tok-81k!2h\xe9S_x92")
NAMES = replace(
    Names(**{each.name: os.fsdecode(b"\xe9-") + str(each.default) for each in fields(Names)}),
    argument=f"--password={SECRET}",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Whet:
    """Return a project in which no name is UTF-8."""
    place = tmp_path_factory.mktemp("bytes")
    folder, temporary = Path(os.fsdecode(os.fsencode(place) + b"/f\xf6lder")), place / "tmp"
    for each in (folder, temporary):
        each.mkdir()
    whet = Whet(folder, {"TMPDIR": str(temporary)})
    make_project(whet, NAMES)
    return whet


REFUSED = {"profile": Call((), "take only names that are UTF-8", 66)}
"""What works only with names that are UTF-8, as the programs that do the work refuse others."""


def test_each_verb_is_called_below() -> None:
    assert set(calls(NAMES)) == set(VERBS)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "call"), calls(NAMES).items(), ids=calls(NAMES))
def test_each_verb_takes_names_that_are_not_utf_8_and_shows_no_secret(
    verb: str, call: Call, project: Whet
) -> None:
    said = project(verb, *call.words)
    call = REFUSED.get(verb, call)

    assert "whet itself failed" not in said.stderr
    assert call.says in said.stdout + said.stderr, said
    assert call.code in {None, said.code}, said
    for shown in ("tok-81k", "S_x92"):
        assert shown not in said.stdout + said.stderr
    assert list(Path(project.environment["TMPDIR"]).iterdir()) == []
