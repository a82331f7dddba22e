"""Which line of a project's files asks for a module."""

import os
from pathlib import Path

import pytest

from whet.workbench.investigate.steps.missing_modules import declared_in


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("requirements.txt", "soup"),
        ("requirements-dev.txt", "Soup>=2  # hot"),
        ("requirements.txt", "soup[extra]==1.0; python_version > '3.8'"),
        ("pyproject.toml", "    'soup',"),
        ("pyproject.toml", 'dependencies = ["soup>=2"]'),
        ("pyproject.toml", 'soup = "^2"'),
        ("setup.cfg", "    soup"),
        ("environment.yml", "  - soup=2"),
    ],
)
def test_a_line_that_asks_for_a_module_is_found(tmp_path: Path, file: str, line: str) -> None:
    (tmp_path / file).write_text(f"spoon\n{line}\n")
    assert declared_in(tmp_path, "soup") == (tmp_path / file, 2)


@pytest.mark.parametrize(
    "line",
    ["# soup", "soups==1", "spoon==1  # for soup", "pea-soup==1", "soup-bowl", "name = soup"],
)
def test_a_line_that_names_another_or_only_mentions_it_is_not_found(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    assert declared_in(tmp_path, "soup") is None


def test_a_pipe_and_a_link_to_nowhere_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "requirements-a.txt")
    (tmp_path / "requirements-b.txt").symlink_to("nowhere")
    (tmp_path / "requirements.txt").write_text("soup\n")
    assert declared_in(tmp_path, "soup") == (tmp_path / "requirements.txt", 1)


def test_a_dash_an_underline_and_a_dot_are_alike(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("Hot.Soup-Bowl\n")
    assert declared_in(tmp_path, "hot_soup_bowl") is not None
