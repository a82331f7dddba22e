"""A program that is run live cannot tell whet from the user's own shell."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from laboratory import Fifo, Laboratory, fifo, specimen
from screens import PATIENCE_SECONDS, Screen, in_terminal, resize

_LIVE = str(Path(__file__).parents[1] / "live_whet.py")

pytestmark = pytest.mark.slow


@dataclass
class Desk:
    """Starts whets in a terminal, or with pipes."""

    laboratory: Laboratory
    screens: list[Screen] = field(default_factory=list[Screen])

    def in_terminal(  # noqa: PLR0913 - each test says the one thing that is special
        self,
        command: Sequence[str],
        *,
        limit: float = 0,
        columns: int = 91,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        reset: str | None = None,
    ) -> Screen:
        facts = self.laboratory.folder / f"facts-{len(self.screens)}"
        inner = self.laboratory.folder / f"inner-{len(self.screens)}"
        inner.mkdir()
        screen = in_terminal(
            [sys.executable, _LIVE, str(inner), str(facts), str(limit), *command],
            environment={} if reset is None else {"RESET": reset},
            columns=columns,
            streams=(stdin, stdout, stderr),
        )
        screen.facts_file = facts
        self.screens.append(screen)
        return self.screens[-1]

    def with_pipes(self, command: Sequence[str], *, limit: float = 0, redirect: str = "") -> Screen:
        facts = self.laboratory.folder / f"facts-{len(self.screens)}"
        inner = self.laboratory.folder / f"inner-{len(self.screens)}"
        inner.mkdir()
        live = (sys.executable, _LIVE, str(inner), str(facts), str(limit), *command)
        reader, writer = os.pipe()
        whet = subprocess.Popen(
            ["sh", "-c", f'exec "$@" {redirect}', "sh", *live],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        os.close(writer)
        self.screens.append(Screen(reader, whet, facts))
        return self.screens[-1]


@pytest.fixture
def desk(laboratory: Laboratory) -> Iterator[Desk]:
    desk = Desk(laboratory)
    yield desk
    for screen in desk.screens:
        screen.whet.kill()
        screen.whet.wait()
        for stream in (screen.whet.stdin, screen.whet.stdout, screen.whet.stderr):
            if stream is not None:
                stream.close()
        os.close(screen.master)


@pytest.fixture
def held(laboratory: Laboratory) -> Iterator[Fifo]:
    with fifo(laboratory.folder) as held:
        yield held


def _shell(text: str) -> tuple[str, ...]:
    return ("sh", "-c", text)


def test_in_a_terminal_the_program_has_one_of_its_own(desk: Desk) -> None:
    screen = desk.in_terminal(specimen("terminal_facts.py"))

    facts = screen.facts()

    assert facts["out"] == "tty True True True\nsize 91x33\ncontrolling terminal: yes\n"
    assert facts["err"] == "to stderr\n", "the two stay apart"
    assert b"tty True True True\r\nsize 91x33\r\n" in screen.shown
    assert b"to stderr\r\n" in screen.shown
    assert screen.is_as_it_was


def test_with_pipes_the_program_has_pipes(desk: Desk) -> None:
    facts = desk.with_pipes(specimen("terminal_facts.py")).facts()

    assert facts["out"] == "tty False False False\nsize None\ncontrolling terminal: no\n"


def test_input_that_is_no_terminal_is_handed_on_as_it_is(desk: Desk, tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.write_bytes(b"first\nsecond\n")
    with source.open("rb") as stdin:
        facts = desk.in_terminal(_shell("read line; echo $line"), stdin=stdin.fileno()).facts()
        assert facts["out"] == "first\n"
        os.lseek(stdin.fileno(), 0, os.SEEK_SET)
        desk.in_terminal(("true",), stdin=stdin.fileno()).facts()
        assert stdin.read() == b"first\nsecond\n", "a program that does not read leaves all"


def test_standard_error_can_be_a_file_while_output_is_a_terminal(
    desk: Desk, tmp_path: Path
) -> None:
    with (tmp_path / "errors").open("wb") as errors:
        facts = desk.in_terminal(specimen("terminal_facts.py"), stderr=errors.fileno()).facts()

    assert str(facts["out"]).startswith("tty True True False\n")
    assert (tmp_path / "errors").read_bytes() == b"to stderr\n"


def test_keys_reach_the_program_and_its_echo_the_screen(desk: Desk) -> None:
    screen = desk.in_terminal(_shell("echo ready; read word; echo got $word; read rest; echo $?"))
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    screen.type(b"hello\r")
    screen.wait_for(b"got hello")
    screen.type(b"\x04")

    facts = screen.facts()

    assert facts["out"] == "ready\nhello\ngot hello\n1\n"


@pytest.mark.parametrize("reads", ["at once", "when the program has ended"])
def test_the_end_of_a_long_output_to_a_terminal_is_shown_whole(desk: Desk, reads: str) -> None:
    screen = desk.in_terminal(_shell("seq 60000"))
    if reads == "when the program has ended":
        screen.until_without_reading(lambda: screen.is_raw_but_for_signals)

    facts = screen.facts()

    assert facts["out"] == "".join(f"{number}\n" for number in range(1, 60001))
    assert screen.shown == b"".join(b"%d\r\n" % number for number in range(1, 60001))


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_from_the_start_is_no_other_file(desk: Desk, closed: str) -> None:
    screen = desk.with_pipes(_shell("echo out; echo err >&2; cat"), redirect=closed)

    facts = screen.facts()

    assert (facts["out"], facts["err"], facts["exit_code"]) == ("out\n", "err\n", 0)


def test_a_password_is_not_shown(desk: Desk) -> None:
    python = "import getpass; print('got', getpass.getpass('Password: '))"
    screen = desk.in_terminal((sys.executable, "-c", python))
    screen.wait_for(b"Password: ")
    screen.type(b"secret\r")

    screen.facts()

    assert screen.shown.count(b"secret") == 1
    assert b"got secret" in screen.shown


def test_ctrl_c_goes_to_the_program(desk: Desk) -> None:
    screen = desk.in_terminal(
        _shell("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.01; done")
    )
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    screen.type(b"\x03")

    facts = screen.facts()

    assert (facts["exit_code"], facts["interrupted"]) == (3, False)
    assert b"caught" in screen.shown
    assert screen.is_as_it_was


def test_a_second_ctrl_c_at_once_kills(desk: Desk, held: Fifo) -> None:
    screen = desk.in_terminal(specimen("stubborn.py", held.path))
    held.wait_for_a_word()
    screen.until(lambda: screen.is_raw)
    screen.type(b"\x03")
    screen.wait_for(b"^C")
    screen.type(b"\x03")

    facts = screen.facts()

    assert facts["interrupted"] is True
    held.wait_until_all_are_dead()
    assert screen.is_as_it_was


def test_another_window_size_is_passed_on(desk: Desk) -> None:
    program = (
        "import os, signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])\n"  # it waits for who waits for it
        "print('ready', flush=True)\n"
        "signal.sigwait([signal.SIGWINCH])\n"
        "print('now', os.get_terminal_size().columns, flush=True)\n"
    )
    screen = desk.in_terminal((sys.executable, "-c", program))
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    resize(screen.master, 10, 47)

    assert str(screen.facts()["out"]).endswith("now 47\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_to_whet_go_to_the_program_and_its_outcome_is_told(
    desk: Desk, number: signal.Signals
) -> None:
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo caught; exit 4' {name}; echo ready; while :; do sleep 0.01; done"
    screen = desk.with_pipes(_shell(script))
    screen.wait_for(b"ready")
    screen.whet.send_signal(number)

    facts = screen.facts()

    assert (facts["out"], facts["exit_code"], facts["interrupted"]) == ("ready\ncaught\n", 4, False)


def test_a_second_sigint_kills_what_ignores_it(desk: Desk, held: Fifo) -> None:
    screen = desk.with_pipes(specimen("stubborn.py", held.path))
    held.wait_for_a_word()
    screen.whet.send_signal(signal.SIGINT)
    time.sleep(0.05)  # two signals that wait at the same time are one to the kernel
    screen.whet.send_signal(signal.SIGINT)

    assert screen.facts()["interrupted"] is True
    held.wait_until_all_are_dead()


def test_sigterm_kills_what_ignores_it_after_a_while(desk: Desk, held: Fifo) -> None:
    screen = desk.with_pipes(specimen("stubborn.py", held.path))
    held.wait_for_a_word()
    screen.whet.send_signal(signal.SIGTERM)

    assert screen.facts()["interrupted"] is True
    held.wait_until_all_are_dead()


def test_sigterm_to_whet_in_a_terminal_gives_the_terminal_back(desk: Desk) -> None:
    screen = desk.in_terminal(_shell("echo ready; sleep 1000"))
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    screen.whet.send_signal(signal.SIGTERM)

    assert screen.facts()["signal"] == signal.SIGTERM
    assert screen.is_as_it_was


def _under_a_shell(desk: Desk, script: str, words: str) -> Screen:
    """Run a program from a shell with job control: without one nobody could continue whet."""
    inner = desk.laboratory.folder / "inner"
    inner.mkdir()
    facts_file = desk.laboratory.folder / "facts"
    live = (sys.executable, _LIVE, str(inner), str(facts_file), "0", *_shell(words))
    master, slave = pty.openpty()
    bash = subprocess.Popen(
        ["bash", "-c", script, "bash", *live],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads
    )
    os.close(slave)
    desk.screens.append(Screen(master, bash, facts_file))
    return desk.screens[-1]


@pytest.mark.parametrize("how", ["the key", "the signal"])
def test_whet_that_is_stopped_stops_the_program_and_gives_the_terminal_back(
    desk: Desk, how: str
) -> None:
    script = 'set -m; "$@"; echo back $(jobs | grep -c Stopped); read line; fg >/dev/null; exit 0'
    screen = _under_a_shell(desk, script, "echo ready; read word; echo got $word")
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    if how == "the key":
        screen.type(b"\x1a")
    else:
        os.kill(os.tcgetpgrp(screen.master), signal.SIGTSTP)
    screen.wait_for(b"back 1")
    assert screen.is_as_it_was
    screen.type(b"\r")
    screen.until(lambda: screen.is_raw)
    screen.type(b"word\r")

    assert "got word" in str(screen.facts()["out"])
    assert screen.is_as_it_was


def test_in_the_background_whet_leaves_the_keys_to_the_shell(desk: Desk) -> None:
    script = (
        'set -m; "$@"; bg >/dev/null; echo back; read line; sleep 0.3;'
        " echo $line, $(jobs -s | grep -c .) stopped; fg >/dev/null; exit 0"
    )
    screen = _under_a_shell(desk, script, "echo ready; read word; echo got $word")
    screen.wait_for(b"ready")
    screen.until(lambda: screen.is_raw)
    screen.type(b"\x1a")
    screen.wait_for(b"back")
    screen.type(b"typed\r")
    screen.wait_for(b"typed, 0 stopped")
    screen.until(lambda: screen.is_raw)
    screen.type(b"word\r")

    assert "got word" in str(screen.facts()["out"])
    assert screen.is_as_it_was


def test_a_timeout_in_a_terminal_gives_it_back(desk: Desk) -> None:
    screen = desk.in_terminal(("sleep", "1000"), limit=0.2)

    assert screen.facts()["timed_out"] is True
    assert screen.is_as_it_was


def test_the_reader_of_whets_output_may_leave_and_the_program_hears_of_it(desk: Desk) -> None:
    screen = desk.with_pipes(("yes",))
    assert os.read(screen.master, 10)
    os.close(screen.master)
    screen.master = os.open(os.devnull, os.O_RDONLY)

    facts = screen.facts()

    assert facts["signal"] == signal.SIGPIPE
    assert str(facts["out"]).startswith("y\ny\n")
    assert "the reader of standard output closed it" in str(facts["notes"])


def test_a_stream_that_is_closed_from_the_start_does_not_end_the_program(desk: Desk) -> None:
    screen = desk.with_pipes(specimen("talker.py", 3_000_000), redirect=">&-")

    facts = screen.facts()

    assert facts["exit_code"] == 0
    assert facts["stdout"] == {**_record(facts["stdout"]), "size_bytes": 3_000_000}
    assert facts["err"] == "3000000"


def _record(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def test_a_reader_that_stands_still_holds_the_program_up_but_not_its_timeout(desk: Desk) -> None:
    screen = desk.with_pipes(("yes",), limit=0.3)
    deadline = time.monotonic() + PATIENCE_SECONDS
    children = Path(f"/proc/{screen.whet.pid}/task/{screen.whet.pid}/children")
    while not _has_descendant(children, b"yes"):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    while _has_descendant(children, b"yes"):
        assert time.monotonic() < deadline, "the timeout did not come"
        time.sleep(0.005)
    facts = screen.facts()

    assert facts["timed_out"] is True
    assert screen.shown.decode() == facts["out"] or len(screen.shown) > 10**6


def _has_descendant(children: Path, name: bytes) -> bool:
    try:
        for pid in children.read_text().split():
            below = Path(f"/proc/{pid}/task/{pid}/children")
            if Path(f"/proc/{pid}/comm").read_bytes().strip() == name:
                return True
            if _has_descendant(below, name):
                return True
    except OSError:
        return False
    return False


def test_reset_steps_are_shown_on_standard_error_and_cannot_steal_input(desk: Desk) -> None:
    screen = desk.in_terminal(_shell("read word; echo got $word"), reset="cat; echo reset done")
    screen.wait_for(b"reset done")
    screen.until(lambda: screen.is_raw)
    screen.type(b"mine\r")

    assert screen.facts()["out"] == "mine\ngot mine\n"
