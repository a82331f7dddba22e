"""What is Python alone says so where it is installed."""

import sysconfig

import pytest

from whet.host.python.installed_packages import is_pure

FOLDERS = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


@pytest.mark.parametrize("name", ["pytest", "click", "Jinja2"])
def test_a_package_without_compiled_parts_is_pure(name: str) -> None:
    assert is_pure(name, FOLDERS)


@pytest.mark.parametrize("name", ["numpy", "psutil"])
def test_a_package_with_compiled_parts_is_not(name: str) -> None:
    pytest.importorskip(name)
    assert not is_pure(name, FOLDERS)


def test_what_is_not_installed_is_not(tmp_path: object) -> None:
    assert not is_pure("pytest", [str(tmp_path)])
