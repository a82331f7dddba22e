"""Which failing system calls tell something, and which of them first."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.system_call import FailedCall, OpenFiles, PathFacts
from whet.core.text.shown_text import visible_line
from whet.evidence.calls.call_words import error_words, failed_lines, failed_words
from whet.evidence.calls.telling_calls import errors_of, explains, ranked
from whet.evidence.calls.usual_calls import folded, is_usual, learnt, telling

names = st.sampled_from(["a", "b7", "data.csv", "tmpabcd1234", "x.y"])
folders = st.sampled_from(["/data", "/home/ada/.config", "/tmp/tmpx1y2z3w4"])
calls = st.builds(
    FailedCall,
    call=st.sampled_from(["openat", "newfstatat", "write"]),
    error=st.sampled_from(["ENOENT", "EACCES", "ENOSPC"]),
    path=st.builds("{}/{}".format, folders, names),
    pid=st.integers(1, 3),
    count=st.integers(1, 9),
    order=st.integers(0, 1000),
)


def frame(path: str, line: int, function: str = "f") -> Frame:
    return Frame(path=path, line=line, function=function, in_user_code=True)


def failure(summary: str, *frames: Frame, kind: FailureKind = FailureKind.EXCEPTION) -> Failure:
    return Failure(signature=FailureSignature(kind=kind), summary=summary, frames=frames)


@given(st.lists(calls, max_size=40))
def test_folding_counts_every_call_once(failures: list[FailedCall]) -> None:
    assert sum(each.count for each in folded(failures)) == sum(each.count for each in failures)


def test_a_name_that_was_looked_for_in_many_folders_is_known_in_each_of_them() -> None:
    failures = [
        FailedCall(call="write", error="EACCES", path=f"{folder}/data.csv", pid=1, order=number)
        for number, folder in enumerate(("/data", "/home/ada/.config", "/etc/app", "/opt/app"))
    ]

    assert telling(failures, learnt(telling(failures))) == ()


@given(st.lists(calls, max_size=40))
def test_nothing_is_left_of_what_also_fails_in_a_run_that_passes(
    failures: list[FailedCall],
) -> None:
    assert telling(failures, learnt(failures)) == ()
    assert telling(failures, learnt(telling(failures))) == ()


@given(st.lists(calls, max_size=40))
def test_ranking_loses_nothing_and_invents_nothing(failures: list[FailedCall]) -> None:
    told = ranked(failures, failure("[Errno 2] No such file"))

    assert sorted(map(repr, told)) == sorted(map(repr, failures))


@given(st.lists(calls, min_size=1, max_size=9))
def test_without_a_failure_of_two_alike_the_later_one_is_first(failures: list[FailedCall]) -> None:
    same = [
        replace(each, call="openat", error="ENOENT", order=number)
        for number, each in enumerate(failures)
    ]

    assert [each.order for each in ranked(same, None)] == [*range(len(same) - 1, -1, -1)]


def test_numbers_and_names_made_up_do_not_tell_two_runs_apart() -> None:
    before = FailedCall(call="openat", error="ENOENT", path="/tmp/tmpab12cd34/part-17.pt")
    now = replace(before, path="/tmp/tmpzz98yy76/part-18.pt")

    assert telling([now], learnt([before])) == ()
    assert telling([replace(now, error="EACCES")], learnt([before])) != ()


def test_a_name_looked_for_in_many_folders_is_told_once() -> None:
    search = [
        FailedCall(call="newfstatat", error="ENOENT", path=f"/opt/{n}/bin/tool", pid=7, order=n)
        for n in range(5)
    ]

    (told,) = telling(search)

    assert (told.looked_in, told.count) == (5, 5)
    assert failed_lines(told)[0].endswith("looked for in 5 folders")
    # A traceback looks for its sources, and of too many open files it finds none.
    assert failed_lines(replace(told, error="EMFILE"))[0].endswith("(EMFILE)")


def test_of_a_thousand_names_in_one_folder_the_last_one_stays() -> None:
    search = [
        FailedCall(call="openat", error="ENOENT", path=f"/data/{n}", pid=7, order=n)
        for n in range(1000)
    ]

    others, last = sorted(telling(search), key=lambda each: each.order)

    assert last.path == "/data/999"
    assert (others.names, others.count) == (999, 999)


@pytest.mark.parametrize(
    ("call", "error", "path"),
    [
        ("newfstatat", "ENOENT", "/venv/lib/python3.12/site-packages/rich/__init__.abi3.so"),
        ("openat", "ENOENT", "/usr/lib/python3.11/__pycache__/x.cpython-311.pyc"),
        ("openat", "ENOENT", "/opt/lib/glibc-hwcaps/x86-64-v3/libz.so.1"),
        ("openat", "ENOENT", "/usr/share/locale/C.utf8/LC_MESSAGES/git.mo"),
        ("access", "ENOENT", "/etc/ld.so.preload"),
        ("openat", "ENOENT", "/home/ada/<string>"),
        ("ioctl", "ENOTTY", "/home/ada/data.csv"),
        ("readlink", "EINVAL", "/home/ada"),
        ("wait4", "ECHILD", ""),
        ("newfstatat", "ENOENT", "/home/ada/.local/lib/python3.13/site-packages"),
    ],
)
def test_what_nearly_every_program_meets_is_usual(call: str, error: str, path: str) -> None:
    assert is_usual(call, error, path)


@pytest.mark.parametrize(
    ("call", "error", "path"),
    [
        ("openat", "ENOENT", "/home/ada/data.csv"),
        ("openat", "ENOENT", "/home/ada/weights.so.txt"),
        ("openat", "ENOENT", "/home/ada/mylib.so"),
        ("openat", "ENOENT", "/venv/lib/python3.12/site-packages/pkg/model.bin"),
        ("openat", "EACCES", "/etc/ld.so.preload"),
        ("mkdir", "ENOENT", "/proc/x"),
        ("write", "ENOSPC", "/tmp/x"),
        ("openat", "ENOENT", "/dev/nvidia0"),
    ],
)
def test_what_may_be_the_cause_is_not_usual(call: str, error: str, path: str) -> None:
    assert not is_usual(call, error, path)


@pytest.mark.parametrize(
    ("call", "error", "path"),
    [
        ("openat", "ENOENT", "/proc/x/y"),
        ("openat", "ENOENT", "/srv/app/tls/key.pem"),
        ("openat", "ENOENT", "/srv/app/locale/de.json"),
        ("newfstatat", "ENOENT", "/home/ada/python3/settings.py"),
        ("kill", "ESRCH", ""),
    ],
)
def test_what_a_line_of_the_user_s_own_asks_for_is_never_usual(
    call: str, error: str, path: str
) -> None:
    own, foreign = frame("main.py", 3), frame("/usr/lib/python3.11/locale.py", 9)

    assert not is_usual(call, error, path, (own,))
    assert not is_usual(call, error, path, None)  # nothing is said before the line is known
    assert is_usual(call, error, path, (own, replace(foreign, in_user_code=False)))


def test_what_the_standard_library_opens_for_the_user_is_asked_for_by_the_user() -> None:
    own = frame("main.py", 3)
    opens = replace(frame("/usr/lib/python3.11/pathlib.py", 1044), in_user_code=False)

    assert not is_usual("openat", "ENOENT", "/proc/x/y", (own, opens))
    assert is_usual("openat", "ENOENT", "/proc/x/y", (opens,))


def test_what_the_c_library_looks_for_by_itself_is_usual_on_any_line() -> None:
    own = frame("main.py", 3)

    assert is_usual("openat", "ENOENT", "/etc/localtime", (own,))
    assert is_usual("ioctl", "ENOTTY", "/home/ada/data.csv", (own,))
    assert is_usual("openat", "ENOENT", "/etc/localtime", None)
    assert is_usual("newfstatat", "ENOENT", "/lib/x.abi3.so", None)


def test_the_search_for_a_module_is_told_by_who_makes_it() -> None:
    search = FailedCall(
        call="newfstatat", error="ENOENT", path="/home/ada/yaml",
        frames=(frame("main.py", 1), frame("<frozen importlib._bootstrap_external>", 147)),
    )  # fmt: skip

    assert telling([search]) == ()
    assert telling([replace(search, frames=(frame("main.py", 1),))]) != ()


def test_the_error_that_the_failure_speaks_of_comes_first() -> None:
    full = FailedCall(call="write", error="ENOSPC", path="/mnt/x", order=1)
    later = FailedCall(call="openat", error="EACCES", path="/etc/shadow", order=2)

    assert ranked([full, later], failure("OSError: [Errno 28] No space left on device"))[0] is full
    assert ranked([full, later], None, "sh: cannot open: Permission denied")[0] is later


def test_the_line_that_failed_comes_before_another_with_the_same_error() -> None:
    here = FailedCall(call="openat", error="ENOENT", path="/a", order=1, frames=(frame("m.py", 3),))
    there = replace(here, path="/b", order=2, frames=(frame("m.py", 9),))
    raised = failure("FileNotFoundError: [Errno 2]", frame("m.py", 3))

    assert ranked([there, here], raised)[0] is here
    assert explains(here, raised)
    assert not explains(there, raised)


def test_a_question_comes_after_what_was_meant_to_work() -> None:
    asked = FailedCall(
        call="newfstatat", error="ENOENT", path="/a", order=2,
        frames=(frame("m.py", 3), frame("<frozen genericpath>", 19, "exists")),
    )  # fmt: skip
    meant = replace(asked, path="/b", order=1, frames=(frame("m.py", 3),))

    assert ranked([asked, meant], None)[0] is meant


def test_errors_are_read_from_numbers_and_from_words() -> None:
    assert errors_of(None, "PermissionError: [Errno 13] x") == {"EACCES"}
    assert "ENOENT" in errors_of(None, "cat: x: No such file or directory")
    assert errors_of(failure("full", kind=FailureKind.NO_SPACE_LEFT), "") >= {"ENOSPC"}
    assert errors_of(None, "[Errno 999999]") == frozenset()


def test_a_full_disk_is_told_with_how_full_it_was_and_whose_it_is() -> None:
    facts = PathFacts(
        existing="/mnt/x/out.bin", owner="ada", file_system="tmpfs", mount_point="/mnt/x",
        total_bytes=1_000_000, free_bytes=0, free_files=12,
    )  # fmt: skip
    call = FailedCall(
        call="write", error="ENOSPC", path="/mnt/x/out.bin", detail="65.5 kB", facts=facts,
        frames=(frame("train.py", 12, "save"),),
    )  # fmt: skip

    assert failed_words(call) == (
        "write /mnt/x/out.bin (65.5 kB): No space left on device (ENOSPC), at train.py:12 in save,"
        " on tmpfs mounted at /mnt/x, with 0 B and 12 files free of 1.0 MB at that moment;"
        " /mnt/x/out.bin belongs to ada"
    )


def test_too_many_open_files_are_told_by_kind() -> None:
    held = OpenFiles(held=64, most=64, kinds=(("/data/part-*.pt", 60), ("pipe", 3)))
    call = FailedCall(call="openat", error="EMFILE", path="/data/part-61.pt", open_files=held)

    assert (
        "it held 64 descriptors, 64 is its limit: 60 of /data/part-*.pt, 3 of pipe"
        in failed_lines(call)
    )


@given(st.binary(min_size=1, max_size=600), st.sampled_from(["ENOENT", "EACCES", "E?"]))
def test_any_path_is_shown_in_one_line_of_text(path: bytes, error: str) -> None:
    name = "/" + path.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    call = FailedCall(call="openat", error=error, path=name, process=name)

    for line in failed_lines(call):
        assert visible_line(line) == line
        assert len(line) < 3000


def test_an_error_that_nobody_knows_is_its_name() -> None:
    assert error_words("ENOSUCHERROR") == "ENOSUCHERROR"
