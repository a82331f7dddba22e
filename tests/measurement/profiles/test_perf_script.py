"""What `perf script` prints is read: stacks of programs that aren't Python."""

from whet.core.observations.profile import CPU_SECONDS, Recording
from whet.measurement.profiles.perf_script import read_perf

SCRIPT = b"""\
c 7134/7134   1563.170532: cpu-clock:
\t           702db __sin_fma (/usr/lib/x86_64-linux-gnu/libm.so.6)
\t            1228 main+0x18 (/home/ada/c)
\t           2724a __libc_start_call_main (/usr/lib/x86_64-linux-gnu/libc.so.6)

c 7134/7140   1563.203152: cpu-clock:
\tffffffff8161165b __mmap_region ([kernel.kallsyms])
\t            1190 py::load:/home/ada/load.py (/tmp/perf-7134.map)

"""


def test_the_innermost_frame_comes_last_and_own_files_are_told_from_the_systems() -> None:
    profile = read_perf(Recording(engine="perf 6.1", rate=100, running=SCRIPT))
    first, second = profile.stacks
    names = [(each.function, each.in_user_code) for each in profile.lines_of(first)]
    assert names == [
        ("__libc_start_call_main", False), ("main", True), ("__sin_fma", False),
    ]  # fmt: skip
    assert first.numbers == {CPU_SECONDS: 0.01}
    assert (first.thread, second.thread) == ("", "thread 7140")
    python = profile.lines_of(second)[0]
    assert (python.function, python.path) == ("load", "/home/ada/load.py")
    assert python.in_user_code
    assert profile.samples == 2


def test_a_name_with_brackets_and_a_file_that_was_deleted_are_read() -> None:
    script = (
        b"c 7/7   1.5:\n\t  1190 std::function<void ()>::operator()() const+0x1f (/home/ada/c (deleted))\n"
        b"\t  1191 broken line\n\t  zz11 no_address (/home/ada/c)\n"
    )
    (stack,) = (profile := read_perf(Recording(engine="perf 6.1", rate=100, running=script))).stacks
    (frame,) = profile.lines_of(stack)
    assert (frame.function, frame.path) == (
        "std::function<void ()>::operator()() const",
        "/home/ada/c",
    )
