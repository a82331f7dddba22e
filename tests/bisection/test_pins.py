"""Sets of packages: `pip freeze`, requirements and lock files."""

import pytest

from whet.bisection.pins import NoPinsError, read_pins
from whet.host.python.python_interpreter import PythonFacts

PYTHON = PythonFacts(path="/usr/bin/python3", version="3.11.7", implementation="cpython")

REQUIREMENTS = b"""
--index-url https://example.org/simple
# what is pinned
six==1.16.0   # it is
Foo_Bar[extra]==2.0 ; python_version >= "3.8"
old==1.0 ; python_version < "3.8"
attrs==23.1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
loose>=2
any==2.*
mine @ file:///home/me/mine
-e git+https://example.org/it#egg=it
"""

UV = b"""
version = 1
[[package]]
name = "me"
version = "0.1"
source = { editable = "." }
[[package]]
name = "six"
version = "1.16.0"
source = { registry = "https://pypi.org/simple" }
wheels = [{ url = "https://example.org/six-1.16.0-py2.py3-none-any.whl" }]
[[package]]
name = "pywin32"
version = "306"
source = { registry = "https://pypi.org/simple" }
wheels = [{ url = "https://example.org/pywin32-306-cp311-cp311-win_amd64.whl" }]
[[package]]
name = "numpy"
version = "1.24.4"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version < '3.9'"]
[[package]]
name = "numpy"
version = "2.0.0"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version >= '3.9'"]
"""

POETRY = b"""
[[package]]
name = "Six"
version = "1.16.0"
files = [{file = "six-1.16.0-py2.py3-none-any.whl", hash = "sha256:aa"}]
[[package]]
name = "mine"
version = "1.0"
[package.source]
type = "git"
url = "https://example.org/mine"
[metadata]
lock-version = "2.0"
"""

PYLOCK = b"""
lock-version = "1.0"
[[packages]]
name = "six"
version = "1.16.0"
wheels = [{ name = "six-1.16.0-py2.py3-none-any.whl" }]
[[packages]]
name = "colorama"
version = "0.4.6"
marker = "sys_platform == 'win32'"
[[packages]]
name = "local"
directory = { path = "." }
"""


def test_requirements_are_pins_where_they_name_one_release() -> None:
    pins = read_pins(REQUIREMENTS, PYTHON)

    assert pins.versions == {"attrs": "23.1.0", "foo-bar": "2.0", "six": "1.16.0"}
    left_out = "\n".join(pins.left_out)
    for named in ("--index-url", "loose", "any", "mine", "-e git"):
        assert named in left_out
    assert "old" not in left_out


@pytest.mark.parametrize(
    ("lock", "versions", "left_out"),
    [
        (UV, {"six": "1.16.0", "numpy": "2.0.0"}, ["me: it does not come", "pywin32: it has only"]),
        (POETRY, {"six": "1.16.0"}, ["mine: it does not come"]),
        (PYLOCK, {"six": "1.16.0"}, ["local: it does not come"]),
    ],
    ids=["uv.lock", "poetry.lock", "pylock.toml"],
)
def test_a_lock_file_pins_what_is_for_this_machine_and_on_an_index(
    lock: bytes, versions: dict[str, str], left_out: list[str]
) -> None:
    pins = read_pins(lock, PYTHON)

    assert pins.versions == versions
    assert [told.startswith(start) for told, start in zip(pins.left_out, left_out, strict=True)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"a": 1}',
        b"[[package]]\nname =",
        b"requests\n",
        b"a==1; python_version > '%s'" % (b"9" * 5000),
    ],
)
def test_what_pins_nothing_says_why(content: bytes) -> None:
    with pytest.raises(NoPinsError, match=r"."):
        read_pins(content, PYTHON)


def test_a_requirement_of_a_thousand_brackets_is_none() -> None:
    deep = "six==1.0; " + "(" * 5000 + 'os_name == "a"' + ")" * 5000

    pins = read_pins(f"attrs==1.0\n{deep}\n".encode(), PYTHON)

    assert list(pins.versions) == ["attrs"]
    assert "isn't a requirement" in pins.left_out[0]
