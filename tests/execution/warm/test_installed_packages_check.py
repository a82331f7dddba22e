"""Laws of looking at what is installed ahead of a run: no change is missed by it."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from laboratory import Laboratory
from test_warm_search import Search, search
from workshop import SLOW, Workshop, opened

from whet.execution.installed_packages_check import InstalledPackagesCheck
from whet.host.files import file_times
from whet.host.trial.process_snapshots import Snapshot

__all__ = ["search"]

PATIENCE_SECONDS = 60.0
MAIN = f"""import sys
sys.path.insert(0, 'lib/python3/site-packages')
import package
{SLOW}print(package.number, open('data').read())
"""
OTHER = "number = 2\n"
START = {"lib/python3/site-packages/package.py": "number = 1\n", "data": "1"}


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture
def early() -> Iterator[InstalledPackagesCheck]:
    with InstalledPackagesCheck(longest_seconds=PATIENCE_SECONDS) as early:
        yield early


def _prepare(workshop: Workshop, early: InstalledPackagesCheck, main: str = MAIN) -> None:
    """Run a program, save its next text, and have what is installed looked at."""
    workshop.write({**START, "main.py": main, "lib2/python3/site-packages/package.py": OTHER})
    workshop.run()
    workshop.run()  # the first one has made a folder for byte code
    _save_again(workshop, early, main)


def _save_again(workshop: Workshop, early: InstalledPackagesCheck, main: str = MAIN) -> None:
    _wait_until(lambda: early.is_ready)
    workshop.write({"main.py": f"{main}print('end')\n"})
    _wait_until(lambda: early.has_looked)


@pytest.fixture
def looked(laboratory: Laboratory, early: InstalledPackagesCheck) -> Iterator[Workshop]:
    """A program that has run, whose next text is saved, with what is installed looked at."""
    with opened(laboratory, early) as workshop:
        _prepare(workshop, early)
        yield workshop


@pytest.mark.slow
def test_a_save_has_what_is_installed_looked_at_before_the_run(
    looked: Workshop, early: InstalledPackagesCheck
) -> None:
    looked.run()

    assert looked.starts[-1].place
    assert early.times_used == 1


def _edited(folder: Path) -> None:
    (folder / "package.py").write_text(OTHER)


def _shadowed(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text(OTHER)


def _touched(folder: Path) -> None:
    (folder / "package.py").chmod(0o600)


def _moved_away(folder: Path) -> None:
    library = folder.parents[1]
    library.rename(library.with_name("lib1"))
    library.with_name("lib2").rename(library)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_edited, marks=pytest.mark.long),
        pytest.param(_shadowed, marks=pytest.mark.long),
        _touched,
        _moved_away,
    ],
)
def test_what_changes_among_the_installed_files_after_that_look_is_seen(
    looked: Workshop, early: InstalledPackagesCheck, change: Callable[[Path], None]
) -> None:
    change(looked.folder / "lib/python3/site-packages")

    looked.run()  # compares with a cold run

    assert early.times_used == 0


@pytest.mark.slow
def test_a_link_above_the_installed_files_that_is_switched_after_that_look_is_seen(
    laboratory: Laboratory, early: InstalledPackagesCheck
) -> None:
    with opened(laboratory, early) as workshop:
        link = workshop.folder / "current"
        link.symlink_to("lib")
        _prepare(workshop, early, MAIN.replace("'lib/", "'current/"))
        link.with_name("next").symlink_to("lib2")
        link.with_name("next").replace(link)

        workshop.run()

        assert early.times_used == 0


@pytest.mark.slow
def test_a_file_that_an_installed_link_leads_to_and_that_changes_after_that_look_is_seen(
    laboratory: Laboratory, early: InstalledPackagesCheck
) -> None:
    with opened(laboratory, early) as workshop:
        main = MAIN.replace("import package\n", "import package, linked\n")
        workshop.write({"cache/linked.py": "number = 1\n", **START})
        target = workshop.folder / "cache/linked.py"
        (workshop.folder / "lib/python3/site-packages/linked.py").symlink_to(target)
        _prepare(workshop, early, main.replace("package.number", "linked.number"))
        target.write_text(OTHER)

        workshop.run()

        assert early.times_used == 0


@pytest.mark.slow
def test_what_changes_in_a_package_that_was_installed_again_is_seen(
    laboratory: Laboratory, early: InstalledPackagesCheck
) -> None:
    with opened(laboratory, early) as workshop:
        main = MAIN.replace("import package\n", "import whole.package as package\n")
        package = workshop.folder / "lib/python3/site-packages/whole"
        workshop.write({"lib/python3/site-packages/whole/package.py": "number = 1\n"})
        _prepare(workshop, early, main)
        workshop.run()
        package.rename(workshop.folder / "old")
        workshop.write({"lib/python3/site-packages/whole/package.py": "number = 1\n"})
        _prepare(workshop, early, main)
        used = early.times_used
        (package / "package.py").write_text(OTHER)

        workshop.run()

        assert early.times_used == used


@pytest.mark.slow
def test_what_appears_in_an_installed_folder_that_has_appeared_itself_is_seen(
    laboratory: Laboratory, early: InstalledPackagesCheck
) -> None:
    with opened(laboratory, early) as workshop:
        folder = workshop.folder / "lib/python3/site-packages/extra"
        main = MAIN.replace(
            "import package\n",
            f"import package, os.path\nfound = os.path.exists({str(folder / 'data')!r})\n",
        )
        main += "print(found)\n"
        _prepare(workshop, early, main)
        folder.mkdir()
        workshop.run()  # is no other for it, and what it goes on from is the same
        assert workshop.starts[-1].place
        _save_again(workshop, early, main)
        used = early.times_used
        (folder / "data").touch()

        workshop.run()

        assert early.times_used == used


@pytest.mark.slow
def test_what_is_not_installed_is_looked_at_when_the_copy_is_ready(
    looked: Workshop, early: InstalledPackagesCheck
) -> None:
    looked.write({"data": "2"})

    looked.run()

    assert early.times_used == 1


@pytest.mark.slow
def test_a_look_of_before_the_last_run_is_of_no_use(
    looked: Workshop, early: InstalledPackagesCheck
) -> None:
    looked.run()
    looked.run()

    assert early.times_used == 1


@pytest.mark.slow
def test_a_look_that_is_too_old_is_made_again(laboratory: Laboratory) -> None:
    with InstalledPackagesCheck(longest_seconds=0) as early, opened(laboratory, early) as workshop:
        _prepare(workshop, early)
        workshop.run()

        assert workshop.starts[-1].place
        assert early.times_used == 0


# ---- ahead of a save ----


def _look_ahead(workshop: Workshop, early: InstalledPackagesCheck, main: str = MAIN) -> None:
    """Run a program, and have what is installed looked at for the next run."""
    workshop.write({**START, "main.py": main, "lib2/python3/site-packages/package.py": OTHER})
    workshop.run()
    workshop.run()  # the first one has made a folder for byte code
    _wait_until(lambda: early.is_ready)
    early.look_ahead()
    _wait_until(lambda: early.has_looked)


@pytest.fixture
def ahead(laboratory: Laboratory) -> Iterator[tuple[Workshop, InstalledPackagesCheck]]:
    """A program that has run, with what is installed looked at; a look at a save is too old."""
    with InstalledPackagesCheck(longest_seconds=0) as early, opened(laboratory, early) as workshop:
        _look_ahead(workshop, early)
        yield workshop, early


@pytest.mark.slow
def test_a_look_ahead_serves_runs_until_something_changes(
    ahead: tuple[Workshop, InstalledPackagesCheck],
) -> None:
    workshop, early = ahead
    for number in range(3):
        workshop.write({"main.py": f"{MAIN}print({number})\n"})
        workshop.run()
        assert workshop.starts[-1].place
        assert early.times_used == number + 1
        early.look_ahead()
        _wait_until(lambda: early.has_looked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        _edited,
        _shadowed,
        pytest.param(_touched, marks=pytest.mark.long),
        pytest.param(_moved_away, marks=pytest.mark.long),
    ],
)
def test_what_changes_among_the_installed_files_after_a_look_ahead_is_seen(
    ahead: tuple[Workshop, InstalledPackagesCheck], change: Callable[[Path], None]
) -> None:
    workshop, early = ahead
    change(workshop.folder / "lib/python3/site-packages")
    workshop.write({"main.py": f"{MAIN}print('end')\n"})

    workshop.run()

    assert early.times_used == 0


@pytest.mark.slow
def test_a_copy_that_has_seen_less_is_served_by_the_look_of_one_that_has_seen_more(
    laboratory: Laboratory,
) -> None:
    main = f"{MAIN}import other\n{SLOW}print(other.number)\n"
    with InstalledPackagesCheck(longest_seconds=0) as early, opened(laboratory, early) as workshop:
        workshop.write({"lib/python3/site-packages/other.py": OTHER})
        _look_ahead(workshop, early, main)
        workshop.write({"main.py": main.replace("import other\n", "import other as other\n")})

        workshop.run()

        assert workshop.starts[-1].place
        assert early.times_used > 1


@pytest.mark.slow
def test_a_file_that_is_changed_by_another_name_is_seen_after_a_look_ahead(
    laboratory: Laboratory,
) -> None:
    with InstalledPackagesCheck(longest_seconds=0) as early, opened(laboratory, early) as workshop:
        workshop.write(START)
        package = workshop.folder / "lib/python3/site-packages/package.py"
        other = workshop.folder / "cached"
        other.hardlink_to(package)
        workshop.write({"main.py": MAIN})
        workshop.run()
        workshop.run()
        _wait_until(lambda: early.is_ready)
        early.look_ahead()
        _wait_until(lambda: early.has_looked)
        other.write_text(OTHER)
        workshop.write({"main.py": f"{MAIN}print('end')\n"})

        workshop.run()

        assert package.samefile(other)
        assert early.times_used == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
def test_what_is_mounted_over_an_installed_folder_is_seen_after_a_look_ahead(
    ahead: tuple[Workshop, InstalledPackagesCheck],
) -> None:
    workshop, early = ahead
    here, other = (str(workshop.folder / lib / "python3") for lib in ("lib", "lib2"))
    if subprocess.run(["mount", "--bind", other, here], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        workshop.write({"main.py": f"{MAIN}print('end')\n"})

        workshop.run()

        assert early.times_used == 0
    finally:
        subprocess.run(["umount", here], check=True)


@pytest.mark.slow
def test_nothing_is_looked_at_ahead_that_another_machine_may_change(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_times, "_mount_of", lambda _: ("nfs4", "unknown"))
    with InstalledPackagesCheck() as early, opened(laboratory, early) as workshop:
        workshop.write({**START, "main.py": MAIN})
        workshop.run()
        workshop.run()
        _wait_until(lambda: early.is_ready)
        early.look_ahead()
        is_over = threading.Event()
        early._folder_watch.do_soon(is_over.set)
        assert is_over.wait(PATIENCE_SECONDS)

        assert not early.has_looked


SEARCHED = """import sys
sys.path.insert(0, 'lib/python3/site-packages')
import package
text = open(sys.argv[1]).read()
if 'change' in text:
    open(package.__file__, 'w').write('number = 2\\n')
print(package.number, text)
"""


@pytest.fixture
def shared(search: Search) -> Search:
    """A search of which one trial has looked at what is installed for others."""
    for name, text in {**START, "lib2/python3/site-packages/package.py": OTHER}.items():
        (search.folder / name).parent.mkdir(parents=True, exist_ok=True)
        search.write(text, name)
    search.write(SEARCHED)
    deadline, number = time.monotonic() + PATIENCE_SECONDS, 0
    while not search.search.looks_shared:
        assert time.monotonic() < deadline
        search.warm.submit(search.on(f"fine {number}")).result(PATIENCE_SECONDS)
        number += 1
    return search


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_edited, marks=pytest.mark.long),
        _shadowed,
        pytest.param(_touched, marks=pytest.mark.long),
        _moved_away,
    ],
)
def test_what_changes_among_the_installed_files_between_two_trials_is_seen(
    shared: Search, change: Callable[[Path], None]
) -> None:
    count = shared.search.looks_shared
    change(shared.folder / "lib/python3/site-packages")

    (outcome,) = shared.run("other")

    assert not outcome.resumed_from
    assert shared.search.looks_shared == count


@pytest.mark.slow
def test_what_a_trial_changes_among_the_installed_files_is_seen_by_the_next(
    shared: Search,
) -> None:
    shared.warm.submit(shared.on("change")).result(PATIENCE_SECONDS)

    assert shared.run("after")[0].stdout.head(99) == b"2 after\n"


class _KnownMeanwhile:
    """A snapshot whose folders are found while it is being looked at."""

    def __init__(self, early: InstalledPackagesCheck) -> None:
        self.seen: tuple[object, ...] = ()
        self.sources: dict[str, bytes] = {}
        self._early = early

    def spoilt_by(self, **_: object) -> str:
        self._early.expect(cast("Snapshot", self))
        _wait_until(lambda: self._early.is_ready)
        return ""


def test_a_look_that_began_before_changes_could_be_heard_serves_no_other_trial() -> None:
    with InstalledPackagesCheck(longest_seconds=PATIENCE_SECONDS, is_kept=True) as early:
        snapshot = cast("Snapshot", _KnownMeanwhile(early))

        early.spoilt_by(snapshot)
        is_kept_of_before = early.has_looked
        early.spoilt_by(snapshot)

        assert not is_kept_of_before
        assert early.has_looked
