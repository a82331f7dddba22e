"""What is kept of projects is listed, and goes for those that are gone when the user says so."""

import json
import shutil
from pathlib import Path

from whet_command import Whet


def test_what_is_kept_of_projects_that_are_gone_is_removed_when_the_user_says_so(
    whet: Whet, tmp_path: Path
) -> None:
    environment = {**whet.environment, "XDG_STATE_HOME": str(tmp_path / "state")}
    here = Whet(whet.folder, environment)
    places = [Whet(tmp_path / name, environment) for name in ("one", "two")]
    for each in (here, *places):
        each.folder.mkdir(exist_ok=True)
        assert each("run", "--", "true").code == 0
    states = [each.state for each in (here, *places)]
    shutil.rmtree(tmp_path / "two")

    listed = json.loads(here("notebook", "list", "--json").stdout)["projects"]
    assert {(each["project"], each["is_gone"]) for each in listed} == {
        (str(here.folder), False), (str(tmp_path / "one"), False), (str(tmp_path / "two"), True),
    }  # fmt: skip
    assert all(each["bytes"] > 10_000 for each in listed)
    assert f"{tmp_path / 'two'}  (gone)" in here("notebook", "list").stdout

    assert here("notebook", "prune").code == 64
    assert all(state.exists() for state in states)
    assert "1 project" in here("notebook", "prune", "--yes").stdout
    assert [state.exists() for state in states] == [True, True, False]
    assert "every project with recorded trials still exists" in here("notebook", "prune").stderr
