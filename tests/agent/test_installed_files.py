"""A file is a library's where an installer lists it, wherever that is; all others are the user's."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.agent.site import whet_installed
from whet.agent.site.whet_installed import is_library
from whet.host.inspect.stacks import is_user_code

SITE = Path(whet_installed.__file__).parent


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return a folder as `pip install --target` leaves it, with a program of the user's beside."""
    folder = tmp_path / "vendor"
    listed = (
        "one_file.py", "pack/__init__.py", "pack/deep/inner.py", "shared/theirs.py",
        "../../bin/pack", "pack-1.0.dist-info/RECORD",
    )  # fmt: skip
    mine = ("handler.py", "shared/mine.py", "own/__init__.py", "own/one_file.py")
    for name in (*listed[:4], *mine):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    info = folder / "pack-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("".join(f"{name},sha256=x,1\n" for name in listed))
    return folder


@pytest.mark.parametrize("name", ["one_file.py", "pack/deep/inner.py", "shared/theirs.py"])
def test_what_an_installer_lists_is_a_librarys(target: Path, name: str) -> None:
    assert is_library(str(target / name))
    assert not is_user_code(str(target / name))


@pytest.mark.parametrize("name", ["handler.py", "shared/mine.py", "own/one_file.py"])
def test_what_lies_beside_installed_packages_is_the_users(target: Path, name: str) -> None:
    assert not is_library(str(target / name))
    assert is_user_code(str(target / name))


@pytest.mark.parametrize("name", ["pyarrow/array.pxi", "pandas/_libs/hashtable.pyx"])
def test_the_source_that_an_extension_module_names_is_a_librarys_unless_it_is_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_library(name)
    (tmp_path / "own.pyx").write_text("")
    assert is_user_code("own.pyx")


def test_an_editable_installation_stays_the_users(tmp_path: Path) -> None:
    info = tmp_path / "src" / "mine.egg-info"
    info.mkdir(parents=True)
    (info / "SOURCES.txt").write_text("mine/__init__.py\n")
    (info / "top_level.txt").write_text("mine\n")
    assert not is_library(str(tmp_path / "src" / "mine" / "__init__.py"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/.venv/lib/python3.12/site-packages/torch/nn.py", True),
        ("/usr/lib/python3/dist-packages/apt.py", True),
        ("/opt/lib64/python3.13t/json/decoder.py", True),
        ("/x/lib/pypy3.10/abc.py", True),
        ("/usr/lib/python311.zip/abc.py", True),
        ("/x/foo-1.0-py3.12.egg/foo/a.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("/home/me/lib/python/mine.py", False),
        ("/home/me/python-3/mine.py", False),
        ("mine.py", False),
        ("<string>", False),
    ],
)
def test_the_usual_places_are_known_by_their_names(path: str, *, expected: bool) -> None:
    assert is_library(path) is expected


def test_packages_in_an_archive_are_known_by_its_list(tmp_path: Path) -> None:
    archive = tmp_path / "app.pyz"
    program = (
        "import sys\n"
        f"sys.path.append({str(SITE)!r})\n"
        "import pack, mine\n"
        "from whet_installed import is_library\n"
        "print(is_library(pack.__file__), is_library(mine.__file__))\n"
    )
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("__main__.py", program)
        file.writestr("mine.py", "")
        file.writestr("pack/__init__.py", "")
        file.writestr("pack-1.0.dist-info/RECORD", "pack/__init__.py,sha256=x,0\n")

    said = subprocess.run([sys.executable, archive], check=True, capture_output=True, text=True)

    assert said.stdout == "True False\n"


LOADER = """\
class DataLoader:
    def __init__(self, rows, num_workers=0):
        self.num_workers = num_workers
"""


@pytest.mark.parametrize(("is_listed", "expected"), [(True, "0\n"), (False, "4\n")])
def test_a_switch_is_turned_inside_a_library_wherever_it_is_installed(
    tmp_path: Path, *, is_listed: bool, expected: str
) -> None:
    package = tmp_path / "vendor" / "torch"
    (package / "utils" / "data").mkdir(parents=True)
    for folder in (package, package / "utils", package / "utils" / "data"):
        (folder / "__init__.py").write_text("")
    (package / "utils" / "data" / "dataloader.py").write_text(LOADER)
    info = tmp_path / "vendor" / "torch-2.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("torch/__init__.py,sha256=x,0\n" if is_listed else "")
    told = tmp_path / "told"
    told.mkdir()
    program = tmp_path / "use.py"
    program.write_text(
        "from torch.utils.data.dataloader import DataLoader\n"
        "print(DataLoader([], num_workers=4).num_workers)\n"
    )
    variables = {
        "PYTHONPATH": f"{SITE}{os.pathsep}{tmp_path / 'vendor'}", "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(tmp_path / "cache"), "WHET_TOGGLES": "no-workers",
    }  # fmt: skip

    said = subprocess.run(
        [sys.executable, program], check=True, capture_output=True, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip

    assert said.stdout == expected


def test_a_folder_is_looked_at_once(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    entries: Callable[[str], list[str]] = vars(whet_installed)["_entries"]

    def counted(folder: str) -> list[str]:
        looked.append(folder)
        return entries(folder)

    monkeypatch.setattr(whet_installed, "_entries", counted)
    for number in range(50):
        is_library(str(target / "pack" / f"module_{number}.py"))
    assert len(looked) == len(set(looked))
