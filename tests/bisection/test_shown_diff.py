"""What is shown of a commit's changes."""

import pytest
from history_builder import build_history

from whet.bisection.shown_diff import shown_diff
from whet.host.process.git import Repository

CODE = "".join(f"line {number}\n" for number in range(60))
FILES = {
    0: {"a.py": CODE, "lib/b.py": CODE, "README.md": CODE, "tests/test_a.py": CODE, "ü.py": "x\n"},
    1: {
        "a.py": CODE.replace("line 30", "LINE 30"),
        "lib/b.py": CODE.replace("line 5\n", "LINE 5\n").replace("line 50", "LINE 50"),
        "README.md": CODE.replace("line 7\n", "LINE 7\n"),
        "tests/test_a.py": CODE.replace("line 9\n", "LINE 9\n"),
        "ü.py": "y\n",
    },
    2: {"new.py": CODE},
}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    place = tmp_path_factory.mktemp("diff")
    return Repository(place), build_history(place, [(), (0,), (1,)], files=FILES)


def paths_in(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line[:1] not in {"@", "+", "-", " ", "."}]


def test_code_comes_before_tests_and_tests_before_documents(
    history: tuple[Repository, list[str]],
) -> None:
    repository, commits = history

    shown = shown_diff(repository, commits[1])

    assert paths_in(shown) == ["a.py", "lib/b.py", "ü.py", "tests/test_a.py", "README.md"]
    assert "-line 30" in shown
    assert "+LINE 50" in shown


def test_files_that_the_failure_named_come_first(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history

    shown = shown_diff(repository, commits[1], ["/tmp/checkout/lib/b.py", "/usr/lib/a/a.pyc"])

    assert paths_in(shown)[0] == "lib/b.py"


def test_what_is_too_long_is_counted(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history

    shown = shown_diff(repository, commits[2])

    assert "... 41 lines more" in shown
    assert len(shown.splitlines()) < 45


def test_the_first_commit_of_all_is_shown_as_new(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history

    assert "+line 0" in shown_diff(repository, commits[0])
