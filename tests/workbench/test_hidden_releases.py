from pathlib import Path

import pytest

from whet.core.trial import Trial
from whet.workbench.versions.releases import hidden_by


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("my_tool/__init__.py", ("python", "-m", "my_tool")),
        ("my_tool.py", ("python", "-c", "import my_tool")),
        ("scripts/my_tool/__init__.py", ("python", "scripts/try.py")),
    ],
)
def test_a_checkout_of_the_package_that_hides_its_releases_is_named(
    tmp_path: Path, place: str, command: tuple[str, ...]
) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")

    (warning,) = hidden_by(Trial(command=command, cwd=str(tmp_path)), "My-Tool")

    assert str(file).removesuffix("/__init__.py") in warning
    assert "--cwd" in warning


def test_a_folder_of_data_of_that_name_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "my_tool").mkdir()

    assert hidden_by(Trial(command=("python", "-m", "x"), cwd=str(tmp_path)), "my-tool") == ()
