"""What a full disk and a read-only folder do to the record: a clear error, nothing lost."""

from pathlib import Path

import pytest
from namespaces import run_with_mounts
from record_builder import a_trial, failing, same

from whet.core.errors import CannotWrite, DiskFull
from whet.notebook.database import Database
from whet.notebook.notebook import FILE_NAME, Notebook

SMALL_DISK = 'mkdir -p "$1/small"; mount -t tmpfs -o size=1m none "$1/small"'
READ_ONLY = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"'


def test_a_place_where_nobody_may_make_a_folder_is_named() -> None:
    with pytest.raises(CannotWrite, match="`/sys/whet`") as caught:
        Notebook.open(Path("/sys/whet"))

    assert "WHET_DIR" in caught.value.hint


def test_a_folder_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=str(tmp_path / "gone")):
        Database(tmp_path / "gone" / "notebook.db")


def test_a_file_that_may_not_grow_keeps_what_it_has(tmp_path: Path) -> None:
    with Notebook.open(tmp_path) as notebook:
        number = notebook.begin(a_trial(), verb="run")
        notebook.finish(number, failing())
        notebook._database.query("PRAGMA max_page_count = 1")  # SQLite's own full disk

        def fill() -> None:
            for _ in range(100):
                notebook.begin(a_trial(), verb="run", note="x" * 1000)

        with pytest.raises(DiskFull, match=FILE_NAME) as caught:
            fill()

        assert "WHET_DIR" in caught.value.hint
        before = notebook.find(None).number
        notebook._database.query("PRAGMA max_page_count = 100000")
        assert notebook.begin(a_trial(), verb="run") == before + 1
        assert same(failing(), notebook.trial(number).outcome)


@pytest.mark.slow
def test_a_disk_that_fills_up_while_trials_are_recorded_takes_none_of_them(tmp_path: Path) -> None:
    said = run_with_mounts(
        SMALL_DISK,
        """
        import os
        from record_builder import a_trial, failing, same
        from whet.core.errors import DiskFull
        from whet.notebook.notebook import Notebook

        state = folder / "small" / ".whet"
        ended, begun = {}, set()
        notebook = Notebook.open(state)
        fillers = []
        # Turn after turn at another distance from the end of the disk, in steps of a page.
        for turn in range(60):
            free = os.statvfs(state).f_bavail * 4096
            filler = folder / "small" / f"filler-{turn}"
            filler.write_bytes(bytes(max(0, free - turn * 4096)))
            try:
                for step in range(100):
                    number = notebook.begin(a_trial(str(turn)), verb="run")
                    begun.add(number)
                    outcome = failing(os.urandom(2000 * (step % 4)))
                    notebook.finish(number, outcome)
                    ended[number] = outcome
            except DiskFull as error:
                assert str(folder) in str(error), error
                assert "WHET_DIR" in error.hint
            else:
                raise AssertionError("the disk never filled up")
            filler.unlink()
            if turn % 3 == 0:
                notebook.close()
                notebook = Notebook.open(state)
            if os.statvfs(state).f_bavail < 100:
                break

        found = {entry.number: entry.outcome for entry in notebook.entries()}
        assert set(found) == begun
        assert {number for number in found if found[number] is not None} == set(ended)
        assert all(same(ended[number], found[number]) for number in ended)
        check = notebook._database.query("PRAGMA integrity_check")
        assert [row["integrity_check"] for row in check] == ["ok"]
        print(turn + 1, len(ended) > 0)
        """,
        tmp_path,
    )

    turns, any_ended = said.split()
    assert int(turns) >= 10
    assert any_ended == "True"


@pytest.mark.slow
def test_a_notebook_that_has_no_space_to_begin_with_can_be_made_later(tmp_path: Path) -> None:
    said = run_with_mounts(
        SMALL_DISK,
        """
        import os
        from record_builder import a_trial, failing, same
        from whet.core.errors import DiskFull
        from whet.host.code.project import Project
        from whet.notebook.notebook import Notebook

        small = folder / "small"
        filler = small / "filler"
        refused = 0
        for pages in range(80):
            free = os.statvfs(small).f_bavail * 4096
            filler.write_bytes(bytes(free - pages * 4096))
            try:
                project = Project.find(small, {"WHET_DIR": f"state-{pages}"})
                project.prepare()
                with Notebook.open(project.state):
                    pass
            except DiskFull as error:
                refused += 1
                assert str(project.state) in str(error)
            filler.unlink()
            with Notebook.open(project.state) as notebook:
                number = notebook.begin(a_trial(), verb="run")
                notebook.finish(number, failing())
                assert same(failing(), notebook.trial(number).outcome)
            import shutil
            shutil.rmtree(project.state)
        print(refused)
        """,
        tmp_path,
    )

    assert 5 <= int(said) < 80


@pytest.mark.slow
def test_a_read_only_project_is_named_with_the_next_step(tmp_path: Path) -> None:
    run_with_mounts(
        READ_ONLY,
        """
        from whet.core.errors import CannotWrite
        from whet.host.code.project import Project

        named = {"XDG_STATE_HOME": str(folder.parent / "xdg"), "WHET_DIR": str(folder / "kept")}
        project = Project.find(folder, named)
        try:
            project.prepare()
        except CannotWrite as error:
            assert str(project.state) in str(error), error
            assert "WHET_DIR" in error.hint
        else:
            raise AssertionError("it was written")
        """,
        tmp_path,
    )


@pytest.mark.slow
def test_a_notebook_that_became_read_only_refuses_new_trials_and_keeps_the_old(
    tmp_path: Path,
) -> None:
    with Notebook.open(tmp_path) as notebook:
        notebook.finish(notebook.begin(a_trial(), verb="run"), failing())
    run_with_mounts(
        READ_ONLY,
        """
        from record_builder import a_trial
        from whet.core.errors import CannotWrite
        from whet.notebook.notebook import Notebook

        try:
            with Notebook.open(folder) as notebook:
                notebook.begin(a_trial(), verb="run")
        except CannotWrite as error:
            assert str(folder) in str(error), error
            assert "WHET_DIR" in error.hint
        else:
            raise AssertionError("it was written")
        """,
        tmp_path,
    )

    with Notebook.open(tmp_path) as notebook:
        assert same(failing(), notebook.trial(1).outcome)
        assert notebook.begin(a_trial(), verb="run") == 2
