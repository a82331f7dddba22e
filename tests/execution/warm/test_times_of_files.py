"""Runs from copies on file systems that tell changes apart less well than others."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from laboratory import Laboratory
from workshop import SLOW, Workshop, opened

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")


@contextmanager
def working_in(folder: Path) -> Iterator[Workshop]:
    laboratory = Laboratory(folder)
    try:
        with opened(laboratory) as workshop:
            yield workshop
    finally:
        laboratory.cleanup_journal.discard_all()


@pytest.mark.slow
@NEEDS_ROOT
@pytest.mark.parametrize(
    ("mounted", "name"),
    [
        ("ticks", "main.py"),
        ("whole seconds", "data"),
        ("ticks", "module.py"),
        pytest.param("whole seconds", "main.py", marks=pytest.mark.long),
        pytest.param("ticks", "data", marks=pytest.mark.long),
        pytest.param("whole seconds", "module.py", marks=pytest.mark.long),
    ],
    indirect=["mounted"],
)
def test_files_of_one_size_that_are_saved_in_place_one_after_the_other_are_told_apart(
    mounted: Path, name: str
) -> None:
    texts = {
        "data": "{}",
        "module.py": "number = {}\n",
        "main.py": f"import module\ntext = open('data').read()\n{SLOW}print(module.number, text, {{}})\n",
    }
    with working_in(mounted) as workshop:
        for each, text in texts.items():
            (workshop.folder / each).write_text(text.format(0))
        for number in range(1, 6):
            workshop.run()  # compares with a cold run
            with (workshop.folder / name).open("r+") as file:
                file.write(texts[name].format(number))
        workshop.run()


@pytest.mark.slow
def test_a_file_that_appears_in_a_folder_whose_time_is_set_back_is_seen(tmp_path: Path) -> None:
    """As `tar` and `rsync` do."""
    with working_in(tmp_path) as workshop:
        folder = workshop.folder / "listed"
        workshop.write(
            {"main.py": f"import os\nfound = os.listdir('listed')\n{SLOW}print(found)\n"}
        )
        workshop.write({"listed/one": "1"})
        workshop.run()
        workshop.run()
        then = folder.stat()
        (folder / "two").write_text("2")
        os.utime(folder, ns=(then.st_atime_ns, then.st_mtime_ns))

        workshop.run()  # compares with a cold run


@pytest.mark.slow
def test_a_pipe_that_takes_the_place_of_a_file_in_a_listed_folder_is_seen(tmp_path: Path) -> None:
    with working_in(tmp_path) as workshop:
        place = workshop.folder / "listed" / "one"
        main = "import os\nfound = [each.is_file() for each in os.scandir('listed')]\n"
        workshop.write({"main.py": f"{main}{SLOW}print(found)\n", "listed/one": "1"})
        workshop.run()
        workshop.run()
        place.unlink()
        os.mkfifo(place)

        outcome = workshop.warm.submit(workshop.trial()).result()

    assert outcome.stdout.head(99) == b"[False]\n"


@pytest.mark.slow
@NEEDS_ROOT
def test_a_folder_that_is_given_to_another_user_is_seen(tmp_path: Path) -> None:
    with working_in(tmp_path) as workshop:
        main = f"import os\nfound = os.stat('folder').st_uid\n{SLOW}print(found)\n"
        workshop.write({"main.py": main, "folder/one": "1"})
        workshop.run()
        workshop.run()
        os.chown(workshop.folder / "folder", 1, 1)

        workshop.run()  # compares with a cold run
