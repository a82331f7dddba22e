"""What reads a file and isn't installed is offered once, on a terminal alone."""

import os
import pty
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from whet_command import Whet

FAILS = "import sys; sys.exit(b'b' in open(sys.argv[1], 'rb').read())"
QUESTION = "Install it with `"


@pytest.fixture
def lacks_yaml(whet: Whet, tmp_path: Path) -> Whet:
    broken = tmp_path / "broken" / "yaml.py"
    broken.parent.mkdir()
    broken.write_text("raise ImportError('not installed')")
    whet.write("a.yaml", "a: 1\nb: 2\n")
    path = f"{broken.parent}:{os.environ.get('PYTHONPATH', '')}"
    return Whet(whet.folder, {**whet.environment, "PYTHONPATH": path, "CI": ""})


def on_a_terminal(
    whet: Whet, answer: str, verb: Sequence[str] = ("shrink", "a.yaml"), **environment: str
) -> str:
    words = [sys.executable, "-m", "whet", *verb, "--", sys.executable, "-c", FAILS]
    whole = {**os.environ, **whet.environment, **environment}
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(whet.folder)
        os.execve(sys.executable, [*words, "a.yaml"], whole)
    os.write(screen, answer.encode())
    said = b""
    while True:
        try:
            part = os.read(screen, 4096)
        except OSError:  # the terminal has closed: whet has ended
            break
        if not part:
            break
        said += part
    os.waitpid(pid, 0)
    os.close(screen)
    return said.decode("utf-8", "replace")


def test_on_a_terminal_it_is_asked_once_and_enter_means_no(lacks_yaml: Whet) -> None:
    said = on_a_terminal(lacks_yaml, "\n")

    assert "yaml, which reads `a.yaml`, isn't installed" in said
    assert said.count(QUESTION) == 1
    assert "-m pip install 'whet[formats]'`? [y/N]" in said
    assert (lacks_yaml.folder / "a.shrunk.yaml").read_text().strip() == "b"


def test_an_installation_that_fails_is_told_and_the_search_goes_on(lacks_yaml: Whet) -> None:
    said = on_a_terminal(lacks_yaml, "y\n", PIP_REQUIRE_VIRTUALENV="not a truth value")

    assert "that failed, so the file is shrunk without it: " in said
    assert (lacks_yaml.folder / "a.shrunk.yaml").read_text().strip() == "b"


def test_in_ci_and_where_nobody_sits_nothing_is_asked(lacks_yaml: Whet) -> None:
    assert QUESTION not in on_a_terminal(lacks_yaml, "", CI="true")
    command = ("--", sys.executable, "-c", FAILS, "a.yaml")
    said = lacks_yaml("shrink", "a.yaml", *command)
    assert QUESTION not in said.stdout + said.stderr
    assert "-m pip install 'whet[formats]'`" in said.stderr


@pytest.mark.long
def test_an_investigation_asks_first_and_says_it_where_nobody_is_asked(lacks_yaml: Whet) -> None:
    verb = ("investigate", "--budget", "20", "--output", "report")
    asked = on_a_terminal(lacks_yaml, "\n", verb)
    told = lacks_yaml(*verb, "--", sys.executable, "-c", FAILS, "a.yaml")

    assert asked.count(QUESTION) == 1
    assert asked.index(QUESTION) < asked.index("Reproduce")
    assert QUESTION not in told.stderr
    first, second, *_ = told.stderr.splitlines()
    assert first.startswith("whet: yaml, which reads `a.yaml`, isn't installed")
    assert second.startswith("whet: to install it: `")
    assert second.endswith("'whet[formats]'`")
