"""What a setup reads, as far as its command tells."""

import pytest

from whet.workbench.versions.setups import READS, Setup, leaves_code


@pytest.mark.parametrize(
    "command",
    [
        "pip install -e .",
        "pip install -q -e .[test] -r requirements/dev.txt",
        "python -m pip install --editable ./core",
        "uv pip install --editable . && uv pip install pytest",
        "uv sync --extra test",
        "poetry install",
        "pip install -r requirements.txt; pip install numpy==1.26",
    ],
)
def test_an_installation_that_leaves_the_code_reads_what_packages_are_made_of(command: str) -> None:
    assert leaves_code(command)
    assert Setup(command=command).patterns == READS


@pytest.mark.parametrize(
    "command",
    [
        "pip install .",
        "pip install -r requirements.txt .",
        "pip install ./core[test]",
        "pip install -e . && make",
        "make",
        "cp -r src build",
        "uv sync --no-editable",
        "python setup.py build_ext --inplace",
        "./configure -e",
        "pip install -e . | tee log; cp -r a b",
    ],
)
def test_a_setup_that_may_copy_the_code_reads_every_file(command: str) -> None:
    assert not leaves_code(command)
    assert Setup(command=command).patterns == ()


def test_what_somebody_says_that_it_reads_is_believed() -> None:
    assert Setup(command="make", reads=("*.c",)).patterns == ("*.c",)
