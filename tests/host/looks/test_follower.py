"""Following real programs from system call to system call: nothing is lost, and nothing changes."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import pytest

from whet.core.observations.system_call import FailedCall, SystemCalls
from whet.evidence.calls.usual_calls import is_usual
from whet.host.inspect.followed_calls import filter_program
from whet.host.inspect.follower import Follower
from whet.host.kernel.ptrace import Tracer
from whet.host.kernel.seccomp import Filter, why_not

SPECIMENS = Path(__file__).parents[3] / "specimens" / "system_calls"
SITE = Path(__file__).parents[3] / "src" / "whet" / "agent" / "site"
MANY_WAYS = SPECIMENS / "many_ways.py"

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Noting(Tracer):
    """A tracer that notes the last status of each thread."""

    def wait(self) -> tuple[int, int] | None:
        told = super().wait()
        if told is not None:
            self.last[told[0]] = told[1]
        return told

    @cached_property
    def last(self) -> dict[int, int]:
        return {}


def followed(
    command: list[str], agent_folder: Path, *, is_filtered: bool = True, by_info: bool = False
) -> tuple[SystemCalls, int]:
    """Run a program with its calls followed, by a thread of the test; return how it ended too.

    By one that has no other children: it waits for all of its own.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(
            _followed, command, agent_folder, is_filtered=is_filtered, by_info=by_info
        ).result()


def _followed(
    command: list[str], agent_folder: Path, *, is_filtered: bool, by_info: bool
) -> tuple[SystemCalls, int]:
    tracer = Noting(
        is_filtered=is_filtered, kills_at_end=True, reads_registers=False if by_info else None
    )
    follower = Follower(is_usual, tracer, agent_folder=agent_folder)
    ready, seized = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(ready, 1)
            if is_filtered:
                Filter(filter_program()).install(asks=False)
            environment = {**os.environ, "PYTHONPATH": str(SITE), "WHET_AGENT": str(agent_folder)}
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    follower.seize(pid)
    os.write(seized, b"!")
    for descriptor in (ready, seized):
        os.close(descriptor)
    follower.follow()
    follower.close()
    return follower.groups.calls(), os.waitstatus_to_exitcode(tracer.last[pid])


@pytest.fixture(scope="module", params=["filtered", "every call", "by info"])
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SystemCalls, Path]:
    folder, agent = tmp_path_factory.mktemp("many"), tmp_path_factory.mktemp("agent")
    calls, code = followed(
        [sys.executable, str(MANY_WAYS), str(folder)], agent,
        is_filtered=request.param != "every call", by_info=request.param == "by info",
    )  # fmt: skip
    assert code == 0
    return calls, folder


def failure(seen: tuple[SystemCalls, Path], path: str) -> FailedCall:
    calls, folder = seen
    found = [each for each in calls.failures if each.path == str(folder / path)]
    assert len(found) == 1, [each.path for each in calls.failures]
    return found[0]


def line_of(text: str) -> int:
    lines = MANY_WAYS.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def place(call: FailedCall) -> tuple[str, int]:
    own = [each for each in call.frames if each.in_user_code]
    return own[-1].function, own[-1].line


def test_a_relative_path_is_resolved_and_shown_as_written(
    seen: tuple[SystemCalls, Path],
) -> None:
    call = failure(seen, "no/where.txt")

    assert (call.call, call.error, call.given) == ("openat", "ENOENT", "no/where.txt")
    assert place(call) == ("relative", line_of("no/where.txt"))
    assert call.facts is not None
    assert call.facts.existing == str(seen[1])


def test_both_threads_that_fail_alike_count(seen: tuple[SystemCalls, Path]) -> None:
    assert failure(seen, "no/where.txt").count == 2


def test_a_path_below_a_descriptor_is_resolved(seen: tuple[SystemCalls, Path]) -> None:
    call = failure(seen, "absent")

    assert (call.call, call.given) == ("openat", "absent")
    assert place(call) == ("below_a_descriptor", line_of('"absent"'))


def test_a_descriptor_is_told_by_its_file(seen: tuple[SystemCalls, Path]) -> None:
    call = failure(seen, "read_only_descriptor")

    assert (call.call, call.error, call.detail) == ("write", "EBADF", "5 B")
    assert place(call)[0] == "on_a_descriptor"


def test_of_two_paths_both_are_told(seen: tuple[SystemCalls, Path]) -> None:
    call = failure(seen, f"from → {seen[1]}/to")

    assert (call.call, call.error) == ("rename", "ENOENT")


def test_a_forked_child_tells_its_own_line(seen: tuple[SystemCalls, Path]) -> None:
    call = failure(seen, "of_the_child")

    assert place(call) == ("in_a_forked_child", line_of("of_the_child"))
    assert call.pid != failure(seen, "absent").pid


def test_a_program_that_is_no_python_tells_the_line_that_started_it(
    seen: tuple[SystemCalls, Path],
) -> None:
    call = failure(seen, "for_cat")

    assert call.process.startswith("cat ")
    assert call.frames == ()
    own = [each for each in call.started_by if each.in_user_code]
    assert (own[-1].function, own[-1].line) == ("in_a_program", line_of("for_cat"))


def test_a_path_that_is_no_text_is_kept_as_it_is(seen: tuple[SystemCalls, Path]) -> None:
    assert failure(seen, os.fsdecode(b"\xff\xfe")).error == "ENOENT"


def test_addresses_are_told_with_what_came_of_them(seen: tuple[SystemCalls, Path]) -> None:
    (refused,) = [each for each in seen[0].addresses if each.call == "connect"]

    assert refused.address.startswith("127.0.0.1:")
    assert refused.error == "ECONNREFUSED"


def test_what_took_long_is_told_with_its_line(seen: tuple[SystemCalls, Path]) -> None:
    sleeps = [each for each in seen[0].waits if "sleep" in each.call]

    # It sleeps until a time, which Python looks up before it makes the call.
    assert sum(each.seconds for each in sleeps) >= 0.1
    assert {each.frames[-1].function for each in sleeps} == {"waits"}


def test_files_are_told_by_how_they_were_used(seen: tuple[SystemCalls, Path]) -> None:
    calls, folder = seen
    files = {each.path: each for each in calls.files}

    assert files[str(folder / "written")].is_written
    assert not files[str(folder / "written")].is_read
    assert files[str(folder / "renamed")].is_read
    assert files[str(folder / "renamed")].is_written
    assert not [path for path in files if "/lib/python" in path or path.startswith("/usr")]


def test_every_process_is_followed(seen: tuple[SystemCalls, Path]) -> None:
    assert seen[0].processes == 3


def test_searches_are_counted_and_not_told(seen: tuple[SystemCalls, Path]) -> None:
    calls = seen[0]

    assert calls.usual > 10
    assert calls.failed == calls.usual + sum(each.count for each in calls.failures)


@pytest.mark.parametrize("is_filtered", [True, False], ids=["filtered", "every call"])
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 7", 7),
        ("kill -TERM $$", -15),
        ("trap 'exit 4' USR1; kill -USR1 $$; sleep 9", 4),
        (
            "(until [ -e on ]; do kill -CONT $$; sleep 0.01; done) & kill -STOP $$; >on; wait; exit 6",
            6,
        ),
        ("(exec sh -c 'kill -CONT $PPID') ; exit 3", 3),
        ("sleep 0.05 & wait $!; exit 5", 5),
    ],
)
def test_a_program_ends_as_it_does_unfollowed(
    script: str, code: int, tmp_path: Path, *, is_filtered: bool
) -> None:
    script = f"cd {tmp_path}; {script}"
    _, ended = followed(["sh", "-c", script], tmp_path, is_filtered=is_filtered)

    assert ended == code


def test_a_thread_that_becomes_another_program_is_followed_on(tmp_path: Path) -> None:
    script = (
        "import os, threading\n"
        "def go(): os.execvp('sh', ['sh', '-c', 'cat /nowhere/after_exec 2>/dev/null; exit 9'])\n"
        "threading.Thread(target=go).start()\n"
        "threading.Event().wait()\n"
    )
    calls, code = followed([sys.executable, "-c", script], tmp_path)

    assert code == 9
    assert "/nowhere/after_exec" in {each.path for each in calls.failures}


def test_a_static_program_is_followed(tmp_path: Path) -> None:
    commands = (
        ["/bin/busybox", "cat", "/nowhere/static"],
        ["/usr/bin/busybox", "cat", "/nowhere/static"],
        # `-p`: it only prints. Without, as root, it writes what each warm run depends on.
        ["/sbin/ldconfig", "-p", "-C", "/nowhere/static"],
    )
    command = next((each for each in commands if Path(each[0]).exists()), None)
    if command is None:
        pytest.skip("needs a static program: apt-get install busybox-static")
    calls, _ = followed(command, tmp_path)

    assert "/nowhere/static" in {each.path for each in calls.failures}
    assert calls.processes == 1


def test_what_fails_a_thousand_times_has_few_stacks_and_is_counted(tmp_path: Path) -> None:
    script = (
        "import os\n"
        "for number in range(1000):\n"
        "    try: os.open(f'/nowhere/{number}', 0)\n"
        "    except OSError: pass\n"
    )
    calls, _ = followed([sys.executable, "-c", script], tmp_path)

    mine = [each for each in calls.failures if each.path.startswith("/nowhere/")]
    assert sum(each.count for each in mine) == 1000
    assert 3 <= sum(bool(each.frames) for each in mine) <= 100


def test_what_is_looked_for_again_and_again_and_found_is_counted(tmp_path: Path) -> None:
    often, once = tmp_path / "often", tmp_path / "once"
    often.write_text("")
    once.write_text("")
    script = (
        "import os\n"
        f"for number in range(20): os.stat({str(often)!r}); os.access({str(often)!r}, 4)\n"
        f"os.stat({str(once)!r})\n"
    )
    calls, _ = followed([sys.executable, "-c", script], tmp_path / "agents")

    counts = {each.path: each.count for each in calls.looks}
    assert counts[str(often)] == 40
    assert str(once) not in counts


def test_threads_that_fail_at_the_same_time_each_tell_their_own_line(tmp_path: Path) -> None:
    script = (
        "import os, threading\n"
        "gate = threading.Barrier(6)\n"
        "def work(number):\n"
        "    gate.wait()\n"
        "    for _ in range(3):\n"
        "        try: os.open(f'/nowhere/{number}', 0)\n"
        "        except OSError: pass\n"
        "for number in range(6):\n"
        "    threading.Thread(target=work, args=(number,)).start()\n"
    )
    calls, code = followed([sys.executable, "-c", script], tmp_path)

    mine = [each for each in calls.failures if each.path.startswith("/nowhere/")]
    assert code == 0
    assert len(mine) == 6
    assert [[frame.function for frame in each.frames][-1] for each in mine] == ["work"] * 6


def test_what_a_line_of_the_user_s_own_asks_for_is_told_whatever_its_path(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import pathlib\n"
        "for name in ('/proc/x/y', '/nowhere/tls/key.pem'):\n"
        "    try: open(name, 'w')\n"
        "    except OSError: pass\n"
        "try: pathlib.Path('/sys/x/y').read_text()\n"
        "except OSError: pass\n"
    )
    calls, _ = followed([sys.executable, str(tmp_path / "main.py")], tmp_path)

    told = {each.path: each.frames for each in calls.failures}
    assert {"/proc/x/y", "/nowhere/tls/key.pem", "/sys/x/y"} <= told.keys()
    assert told["/proc/x/y"][-1].line == 3
    assert calls.failed == calls.usual + sum(each.count for each in calls.failures)
    assert not [path for path in told if path.endswith(".so")]
