"""Programs in other languages, really built and run; and what others are known to print."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from failed_runs import SPECIMENS, outcome_of, run, trial_of

from whet.core.failure import Failure, FailureKind
from whet.core.outcome import Outcome
from whet.evidence.signature.classify import classify

NATIVE = SPECIMENS / "native"
# The C library writes its last words to the terminal, unless it is told otherwise.
ENVIRONMENT = {**os.environ, "LIBC_FATAL_STDERR_": "1", "MALLOC_CHECK_": "3", "RUST_BACKTRACE": "0"}


def failure_in(outcome: Outcome) -> Failure:
    failure = classify(trial_of("program", cwd=NATIVE), outcome)
    assert failure is not None
    return failure


def build(compiler: Sequence[str], source: str, folder: Path) -> str:
    program = str(folder / "program")
    built = run([*compiler, str(NATIVE / source), "-o", program], folder)
    assert built.exit_code == 0, built.stderr.tail(2000)
    return program


@pytest.mark.slow
@pytest.mark.needs("gcc")
def test_a_failed_c_assertion_is_signed_by_its_claim_and_function(tmp_path: Path) -> None:
    program = build(["gcc"], "assertion.c", tmp_path)
    failure = failure_in(run([program]))
    by_a_shell = failure_in(run(["sh", "-c", f"{program}; exit $?"]))

    assert failure.signature.signal == "SIGABRT"
    assert failure.signature.message == "Assertion size > <n> failed"
    assert failure.signature.user_function == "assertion.c:check"
    assert by_a_shell.signature == failure.signature


@pytest.mark.slow
@pytest.mark.needs("gcc")
def test_a_corrupted_heap_is_signed_by_what_the_c_library_says(tmp_path: Path) -> None:
    failure = failure_in(run([build(["gcc"], "double_free.c", tmp_path)], environment=ENVIRONMENT))

    assert failure.signature.signal == "SIGABRT"
    assert failure.signature.message.startswith("double free")


@pytest.mark.slow
@pytest.mark.needs("g++")
def test_an_uncaught_cpp_exception_is_signed_by_its_type_and_words(tmp_path: Path) -> None:
    failure = failure_in(run([build(["g++"], "uncaught.cpp", tmp_path)]))

    assert failure.kind is FailureKind.SIGNAL
    assert failure.signature.exception == "std::runtime_error"
    assert failure.signature.message == "no device <n>"
    assert failure.summary == "std::runtime_error: no device 3"


@pytest.mark.slow
@pytest.mark.needs("g++")
def test_a_cpp_program_that_gets_no_memory_is_out_of_memory(tmp_path: Path) -> None:
    failure = failure_in(run([build(["g++"], "bad_alloc.cpp", tmp_path)]))

    assert failure.kind is FailureKind.OUT_OF_MEMORY
    assert failure.signature.exception in {"std::bad_alloc", "std::length_error"}


@pytest.mark.slow
@pytest.mark.needs("rustc")
def test_a_rust_panic_is_signed_by_its_message_and_file(tmp_path: Path) -> None:
    failure = failure_in(run([build(["rustc"], "panic.rs", tmp_path)], environment=ENVIRONMENT))

    assert (failure.kind, failure.signature.exit_code) == (FailureKind.EXIT, 101)
    assert failure.signature.exception == "panic"
    assert failure.signature.message == ("index out of bounds: the len is <n> but the index is <n>")
    assert failure.signature.user_function == "panic.rs"


@pytest.mark.slow
@pytest.mark.needs("node")
def test_an_uncaught_error_of_node_is_signed_by_its_function() -> None:
    failure = failure_in(run(["node", str(NATIVE / "uncaught.js")]))

    assert failure.signature.exception == "TypeError"
    assert failure.signature.message == ("Cannot read properties of undefined (reading 'amount')")
    assert failure.signature.user_function == "uncaught.js:parse"


def test_an_uncaught_java_exception_is_signed_by_its_own_method() -> None:
    """The words of OpenJDK 17 for `native/Uncaught.java`."""
    failure = failure_in(
        outcome_of(
            'Exception in thread "main" java.lang.NumberFormatException: For input string: "twelve"\n'
            "\tat java.base/java.lang.NumberFormatException.forInputString(NumberFormatException.java:67)\n"
            "\tat java.base/java.lang.Integer.parseInt(Integer.java:668)\n"
            "\tat Uncaught.parse(Uncaught.java:3)\n"
            "\tat Uncaught.main(Uncaught.java:7)\n"
            "Caused by: java.io.IOException: closed\n"
        )
    )

    assert failure.signature.exception == "java.lang.NumberFormatException"
    assert failure.signature.message == "For input string: <str>"
    assert failure.signature.user_function == "Uncaught.parse"
    assert failure.signature.causes == ("java.io.IOException",)


def test_a_go_panic_is_signed_by_its_own_function() -> None:
    """The words of Go 1.22."""
    failure = failure_in(
        outcome_of(
            "panic: runtime error: index out of range [5] with length 2\n\n"
            "goroutine 1 [running]:\n"
            "main.pick(...)\n\t/home/user/project/main.go:4\n"
            "main.main()\n\t/home/user/project/main.go:8 +0x1d\nexit status 2\n",
            exit_code=2,
        )
    )

    assert failure.signature.exception == "panic"
    assert failure.signature.message == ("runtime error: index out of range <data> with length <n>")
    assert failure.signature.user_function == "main.pick"


BAD_ALLOC = (
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
)


@pytest.mark.parametrize(
    ("stderr", "exit_code", "signal"),
    [
        ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
         None, 6),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n', 1, None),
        ("fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.f()\n", 2, None),
        ("memory allocation of 1152921504606846976 bytes failed\n", None, 6),
        (BAD_ALLOC, None, 6),
        (f"{BAD_ALLOC}Aborted (core dumped)\n", 134, None),
    ],
)  # fmt: skip
def test_any_language_that_runs_out_of_memory_is_out_of_memory(
    stderr: str, exit_code: int | None, signal: int | None
) -> None:
    failure = failure_in(outcome_of(stderr, exit_code=exit_code, signal=signal))

    assert failure.kind is FailureKind.OUT_OF_MEMORY
    assert failure.signature.signal == ""


@pytest.mark.parametrize(
    ("exit_code", "words", "signal"),
    [
        (139, "Segmentation fault", "SIGSEGV"),
        (139, "Segmentation fault (core dumped)", "SIGSEGV"),
        (139, "run.sh: line 3: 12345 Segmentation fault      (core dumped) ./a.out x", "SIGSEGV"),
        (134, "Aborted", "SIGABRT"),
        (137, "Killed", "SIGKILL"),
        (136, "Floating point exception", "SIGFPE"),
        (143, "Terminated", "SIGTERM"),
        (138, "Bus error", "SIGUSR1 is 10, SIGBUS 7: no match"),
    ],
)
def test_a_shell_tells_the_signal_by_its_code_and_its_words(
    exit_code: int, words: str, signal: str
) -> None:
    failure = failure_in(outcome_of(f"{words}\n", exit_code=exit_code))

    if signal.startswith("SIGUSR1 "):
        assert failure.kind is FailureKind.EXIT
    else:
        assert (failure.kind, failure.signature.signal) == (FailureKind.SIGNAL, signal)
        direct = failure_in(outcome_of("", signal=exit_code - 128))
        assert failure.signature == direct.signature


@pytest.mark.slow
def test_a_shell_between_does_not_change_the_signature_of_a_crash() -> None:
    command = f"{sys.executable} {SPECIMENS / 'segfault.py'}"
    direct = failure_in(run(["sh", "-c", f"exec {command}"]))

    assert direct.signature == failure_in(run(["sh", "-c", f"{command}; exit $?"])).signature
    if shutil.which("bash"):
        assert direct.signature == failure_in(run(["bash", "-c", f"{command}; exit $?"])).signature


def test_an_address_sanitizer_is_signed_by_what_it_found_and_where() -> None:
    failure = failure_in(
        outcome_of(
            "==71==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014\n"
            "    #0 0x55 in pick /home/user/project/pick.c:4:12\n"
            "SUMMARY: AddressSanitizer: heap-buffer-overflow /home/user/project/pick.c:4:12 in pick\n"
            "Shadow bytes around the buggy address:\n"
        )
    )

    assert failure.signature.exception == "AddressSanitizer"
    assert failure.signature.message == "heap-buffer-overflow"
    assert failure.signature.user_function == "pick.c:pick"


def test_a_fatal_error_of_python_that_is_no_signal_is_told_in_its_words() -> None:
    failure = failure_in(
        outcome_of(
            "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem"
            " encoding\nPython runtime state: core initialized\n"
        )
    )

    assert failure.kind is FailureKind.EXIT
    assert failure.signature.message.startswith("init_fs_encoding: failed")


def test_the_stack_of_another_thread_does_not_count() -> None:
    failure = failure_in(
        outcome_of(
            "Fatal Python error: Segmentation fault\n\n"
            "Thread 0x00007f01 (most recent call first):\n"
            '  File "other.py", line 3 in wait\n\n'
            "Current thread 0x00007f02 (most recent call first):\n"
            '  File "main.py", line ??? in inner\n  File "main.py", line 9 in <module>\n\n'
            "Thread 0x00007f03 (most recent call first):\n"
            '  File "other.py", line 3 in wait\n',
            signal=11,
        )
    )

    assert failure.signature.user_function == "main.py:inner"
    assert [frame.line for frame in failure.frames] == [9, 0]


@pytest.mark.parametrize("depth", [90, 91, 100])
def test_a_stack_overflow_is_signed_by_its_cycle(depth: int) -> None:
    frames = "".join(
        f'  File "main.py", line 3 in {"even" if level % 2 else "odd"}\n' for level in range(depth)
    )
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n"
        f"{frames}  ...\n"
    )

    signature = failure_in(outcome_of(text, signal=11)).signature
    assert signature.user_function == "main.py:even main.py:odd"
