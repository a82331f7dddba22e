"""What decides, where a program left more than one thing behind; and the laws of it all."""

import re
import sys

import pytest
from failed_runs import PROJECT, failure_in, outcome_of, run, signature_in, transcript, trial_of
from hypothesis import example, given
from hypothesis import strategies as st

from whet.core.failure import FailureKind, FailureSignature
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify, headline

TRIAL = trial_of("python", "x.py", cwd=PROJECT)
# What ended with an exception, by the program's name.
RAISED = {
    name: outcome.stderr.tail(1 << 20).decode()
    for name, outcome in transcript("3.12").items()
    if (failure := classify(TRIAL, outcome)) is not None and failure.signature.exception
}
raised = st.sampled_from(sorted(RAISED))

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/user/project/load.py", line 12, in load
    raise ValueError("bad row 7")
ValueError: bad row 7
"""


@given(raised, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b")))
@example("key_error.py", "x = 3")
def test_what_was_printed_before_a_traceback_does_not_count(name: str, before: str) -> None:
    alone = signature_in(RAISED[name])

    # One line more, so that nothing stands right above the traceback, where a log record would.
    assert signature_in(f"{before}\ndone\n{RAISED[name]}") == alone


@given(raised, st.integers(1, 10_000))
def test_the_lines_at_which_it_failed_do_not_count(name: str, shift: int) -> None:
    shifted = re.sub(r"(?<=, line )\d+", lambda found: str(int(found[0]) + shift), RAISED[name])

    assert shifted != RAISED[name]
    assert signature_in(shifted) == signature_in(RAISED[name])


@given(raised, st.lists(st.text("abcd_", min_size=1), min_size=1, max_size=4).map("/".join))
def test_the_folder_that_the_project_stands_in_does_not_count(name: str, folder: str) -> None:
    moved = RAISED[name].replace(PROJECT, f"/srv/{folder}")
    failure = classify(trial_of("python", "x.py", cwd=f"/srv/{folder}"), outcome_of(moved))

    assert failure is not None
    assert failure.signature == signature_in(RAISED[name])


@pytest.mark.parametrize("message", ["z " * 300_000, "bad row\rabc", "bad\rrow\rabc"])
def test_a_message_does_not_hide_its_exception(message: str) -> None:
    stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
    noise = "50%|##  |\r99%|####|\n"

    for name in ("ValueError", "LookupError"):
        failure = failure_in(f"{noise}{stack}{name}: {message}\n")
        assert failure.signature.exception == name
        assert failure.signature == signature_in(f"{stack}{name}: {message}\n")


def test_an_old_traceback_is_not_why_a_talkative_program_failed() -> None:
    stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
    talk = "step\n" * 100_000

    assert signature_in(f"{stack}KeyError: 1\n\n{talk}fatal: no\n").exception == ""


@given(raised)
def test_colours_and_progress_bars_do_not_count(name: str) -> None:
    coloured = "".join(
        f"\x1b[1;35m{line}\x1b[0m\n" for line in RAISED[name].removesuffix("\n").split("\n")
    )

    assert signature_in(f"10%|#  |\r99%|###|\n{coloured}") == signature_in(RAISED[name])


@given(raised)
def test_the_rank_that_torchrun_puts_before_each_line_does_not_count(name: str) -> None:
    ranked = "".join(f"[rank1]: {line}\n" for line in RAISED[name].split("\n"))

    assert signature_in(ranked) == signature_in(RAISED[name])


@given(raised)
def test_a_traceback_that_a_terminal_shows_on_stdout_counts(name: str) -> None:
    failure = classify(TRIAL, outcome_of(stdout=RAISED[name].replace("\n", "\r\n")))

    assert failure is not None
    assert failure.signature == signature_in(RAISED[name])


@given(
    stderr=st.binary(),
    stdout=st.binary(),
    code=st.one_of(st.integers(0, 255), st.integers(-64, -1)),
    timed_out=st.booleans(),
)
def test_any_bytes_are_classified_and_always_alike(
    stderr: bytes, stdout: bytes, code: int, *, timed_out: bool
) -> None:
    outcome = Outcome(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        stderr=outcome_of(stderr).stderr,
        stdout=outcome_of(stdout).stderr,
    )
    failure = classify(TRIAL, outcome)

    assert failure == classify(TRIAL, outcome)
    assert (failure is None) == (code == 0 and not timed_out)
    if failure is not None:
        assert len(failure.summary) <= 200
        assert headline(failure)


GROUP = "  + Exception Group Traceback (most recent call last):"
FRAGMENTS = [
    "Traceback (most recent call last):", '  File "x.py", line 3, in f', "    return g()",
    '  File "x.py", line 3', "ValueError: no", GROUP,
    "  | ExceptionGroup: x (1 sub-exception)", "  +-+---------------- 1 ----------------",
    "    | Traceback (most recent call last):", "    +------------------------------------",
    "The above exception was the direct cause of the following exception:", "", '"""',
    "Original Traceback (most recent call last):", "Fatal Python error: Aborted",
    "Current thread 0x1 (most recent call first):", '  File "x.py", line 3 in f', "usage: x",
    "=" * 70, "FAIL: t (m.C)", "FAILED (failures=1)", "panic: x", "goroutine 1 [running]:",
    'Exception in thread "main" a.B: c', "\tat a.B.c(D.java:1)", "    at f (/x.js:1:2)",
    "ImportError while loading conftest '/x/conftest.py'.", "E   ValueError: x", "x.py:1: in f",
    "x.py:1: ValueError", "1 failed in 0.03s", "FAILED a.py::b - ValueError: x", "____ b ____",
    "def f():", "KeyError: 'x'", '    raise KeyError("x")', "thread 'main' panicked at x.rs:1:2:",
    "-- Process 1 terminated with the following error:", "x.ProcessRaisedException: ",
    "╭─ Traceback (most recent call last) ─╮", "│ /x.py:1 in f │", "╰─────────────────────────────╯",
    "  [Previous line repeated 9 more times]", "terminate called after throwing an instance of 'X'",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30), st.sampled_from([1, 2, 4, 134, 139]))
def test_pieces_of_reports_in_any_order_are_classified(lines: list[str], code: int) -> None:
    text = "\n".join(lines)
    failure = classify(TRIAL, outcome_of(text, stdout=text, exit_code=code))

    assert failure is not None
    assert failure == classify(TRIAL, outcome_of(text, stdout=text, exit_code=code))


@pytest.mark.parametrize("line", [*FRAGMENTS, "'", "(", " ", "\t|", "a" * 70, "1 | x", "\x1b["])
def test_the_work_grows_no_faster_than_the_output(line: str) -> None:
    short, long = (calls_to_classify(f"{line}\n" * count) for count in (100, 1000))

    assert long <= 25 * short


def calls_to_classify(text: str) -> int:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    outcome = outcome_of(text, stdout=text, exit_code=1)
    classify(TRIAL, outcome)  # imports are paid for once
    sys.setprofile(count)
    try:
        classify(TRIAL, outcome)
    finally:
        sys.setprofile(None)
    return calls


def test_a_program_that_ends_well_has_not_failed_whatever_it_printed() -> None:
    assert classify(TRIAL, outcome_of(TRACEBACK, exit_code=0)) is None


def test_a_trial_that_was_given_up_has_not_failed() -> None:
    assert classify(TRIAL, Outcome(exit_code=None, signal=15, interrupted=True)) is None


def test_a_failed_reset_is_signed_by_its_step() -> None:
    failure = classify(TRIAL, Outcome(exit_code=3, failed_reset="rm  -r build"))

    assert failure is not None
    assert failure.kind is FailureKind.RESET
    assert failure.signature.message == "rm -r build"
    assert failure.summary == "reset step failed: rm -r build"


KEY = """\
Traceback (most recent call last):
  File "/home/user/project/load.py", line 12, in load
    {source}
{error}
"""


def key_error(source: str, error: str) -> FailureSignature:
    return signature_in(KEY.format(source=source, error=error))


def test_a_key_that_stands_in_the_source_is_the_programmers_own() -> None:
    price = key_error('return row["price"]', "KeyError: 'price'")

    assert price.message == "'price'"
    assert price != key_error('return row["cost"]', "KeyError: 'cost'")
    assert key_error("return row[key]", "KeyError: 'price'") == (
        key_error("return row[key]", "KeyError: 'cost'")
    )


def test_a_sentence_in_a_key_error_is_a_message_and_no_key() -> None:
    written = key_error('raise KeyError(f"no row {row}")', "KeyError: 'no row 3'")

    assert written.message == "no row <n>"
    assert key_error("raise KeyError(key)", "KeyError: 'no row 3'").message == "<str>"


def test_a_key_that_a_library_looks_up_for_the_user_is_the_users_own() -> None:
    """As pandas does, in code whose source is not there."""
    looked_up = (
        '    raise KeyError(key) from err\n  File "pandas/_libs/index.pyx", line 7, in get_loc'
    )

    signature = signature_in(
        KEY.format(source=f"frame['price']\n{looked_up}", error="KeyError: 'price'")
    )
    assert signature.message == "'price'"
    assert signature.library_function == "pandas/_libs/index.pyx:get_loc"


def test_what_a_validator_says_counts_and_where_it_says_it_does_not() -> None:
    def said(error: str) -> str:
        return key_error("schema.load(row)", f"marshmallow.ValidationError: {error}").message

    missing = said("{'age': ['Missing data for required field.']}")
    assert missing == "Missing data for required field."
    assert missing == said("{'rows': {3: {'id': ['Missing data for required field.']}}}")
    assert missing != said("{'age': ['Not a valid integer.']}")
    assert said("{'age': 3}") == "<data>"


BOX = """\
╭─────────── Traceback (most recent call last) ────────────╮
│ /home/user/project/a_rather_long_folder/another_one/     │
│ tool.py:7 in main                                        │
│                                                          │
│   6 def main(path:str):                                  │
│ ❱ 7 │   load(path)                                       │
│   8 app()                                                │
│                                                          │
│ /home/user/project/tool.py:4 in load                     │
│                                                          │
│ ❱ 4 │   return row["price"]                              │
│                                                          │
│ ╭──────── locals ────────╮                               │
│ │ path = '/tmp/x'        │                               │
│ ╰────────────────────────╯                               │
╰──────────────────────────────────────────────────────────╯
KeyError: 'price'
"""


def test_a_traceback_in_a_box_of_rich_is_a_traceback() -> None:
    failure = failure_in(BOX)

    assert failure.signature.exception == "KeyError"
    assert failure.signature.message == "'price'"
    assert failure.signature.user_function == "tool.py:load"
    assert [(frame.path, frame.line) for frame in failure.frames] == [
        ("/home/user/project/a_rather_long_folder/another_one/tool.py", 7),
        ("/home/user/project/tool.py", 4),
    ]


def test_a_complaint_in_a_box_of_typer_is_a_complaint() -> None:
    said = (
        "Usage: tool.py [OPTIONS]\nTry 'tool.py --help' for help.\n"
        "╭─ Error ────────────────────╮\n│ No such option: --nope     │\n"
        "╰────────────────────────────╯\n"
    )

    assert signature_in(said, exit_code=2) == FailureSignature(
        kind=FailureKind.USAGE_ERROR, message="No such option: --nope"
    )


def test_the_last_traceback_counts() -> None:
    other = TRACEBACK.replace("load", "save").replace("ValueError", "OSError")

    assert signature_in(TRACEBACK + other).user_function == "save.py:save"


@pytest.mark.parametrize(
    "introduction",
    [
        "Exception in thread Thread-1 (work):",
        "Exception ignored in: <function Handle.__del__ at 0x7f3b>",
        "Exception ignored in atexit callback: <function f at 0x7f3b>",
        "Task exception was never retrieved\nfuture: <Task finished name='Task-2'>",
        "Process SpawnPoolWorker-3:",
    ],
)
def test_a_traceback_that_did_not_end_the_program_gives_way_to_its_last_words(
    introduction: str,
) -> None:
    aside = f"{introduction}\n{TRACEBACK}"
    other = TRACEBACK.replace("load", "save").replace("ValueError", "OSError")

    assert signature_in(aside + "fatal: giving up\n").message == "fatal: giving up"
    assert signature_in(aside + "\nfatal: giving up\n").message == "fatal: giving up"
    assert signature_in(aside).exception == "ValueError"
    assert signature_in(other + aside).exception == "OSError"


@pytest.mark.parametrize("introduction", ["ERROR:root:cannot load", "--- Logging error ---"])
def test_a_logged_traceback_gives_way_to_what_comes_after_it(introduction: str) -> None:
    aside = f"{introduction}\n{TRACEBACK}"
    other = TRACEBACK.replace("load", "save").replace("ValueError", "OSError")

    assert signature_in(aside + "fatal: giving up\n").message == "fatal: giving up"
    assert signature_in(aside + other).exception == "OSError"
    assert signature_in(aside).exception == "ValueError"


def test_an_exit_code_that_python_does_not_give_needs_another_reason() -> None:
    said = TRACEBACK + "\nfatal: giving up\n"

    assert signature_in(said, exit_code=1).exception == "ValueError"
    assert signature_in(said, exit_code=3).message == "fatal: giving up"
    assert signature_in(TRACEBACK, exit_code=3).exception == "ValueError"


@pytest.mark.parametrize(
    "line",
    ["make: *** [Makefile:2: train] Error 1", "srun: error: node7: task 0: Exited with exit code 1",
     "sys:1: RuntimeWarning: coroutine 'f' was never awaited",
     "/usr/lib/python3.11/tempfile.py:9: ResourceWarning: Implicitly cleaning up",
     "[W1121 01:02:03.4 ProcessGroupNCCL.cpp:1] Warning: destroy_process_group() was not called"],
)  # fmt: skip
def test_what_a_launcher_adds_below_a_traceback_does_not_count(line: str) -> None:
    for exit_code in (1, 2):
        assert signature_in(f"{TRACEBACK}{line}\n", exit_code=exit_code) == signature_in(TRACEBACK)


def test_the_first_worker_to_fail_counts_and_not_its_launcher() -> None:
    failed = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/user/project/train.py", line 3, in step
[rank0]: ValueError: bad row
[rank1]: Traceback (most recent call last):
[rank1]:   File "/x/site-packages/torch/distributed/c10d.py", line 9, in wait
[rank1]: RuntimeError: connection closed by peer
Traceback (most recent call last):
  File "/x/site-packages/torch/distributed/run.py", line 8, in main
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
"""
    assert signature_in(failed).user_function == "train.py:step"
    assert signature_in(failed).exception == "ValueError"


def test_a_traceback_whose_start_is_cut_off_still_counts() -> None:
    deep = "".join(
        f'  File "/home/user/project/deep.py", line {line}, in go\n    go()\n'
        for line in range(5000)
    )
    text = f"Traceback (most recent call last):\n{deep}RecursionError: maximum recursion depth\n"

    assert len(text) > 256 * 1024
    failure = failure_in(text)
    assert failure.signature.exception == "RecursionError"
    assert failure.signature.user_function == "deep.py:go"
    assert len(failure.frames) <= 200


def test_a_traceback_that_breaks_off_still_has_a_place() -> None:
    broken = TRACEBACK.rsplit("ValueError", 1)[0]
    signature = signature_in(broken)

    assert signature.kind is FailureKind.EXCEPTION
    assert (signature.exception, signature.user_function) == ("", "load.py:load")


@pytest.mark.parametrize(
    ("last_line", "kind"),
    [
        ("MemoryError", FailureKind.OUT_OF_MEMORY),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array",
         FailureKind.OUT_OF_MEMORY),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",
         FailureKind.OUT_OF_MEMORY),
        ("RuntimeError: CUDA out of memory. Tried to allocate 2 MiB", FailureKind.OUT_OF_MEMORY),
        ("RuntimeError: [enforce fail at x.cpp:1] DefaultCPUAllocator: can't allocate memory: you",
         FailureKind.OUT_OF_MEMORY),
        ("jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.",
         FailureKind.OUT_OF_MEMORY),
        ("OSError: [Errno 12] Cannot allocate memory", FailureKind.OUT_OF_MEMORY),
        ("OSError: [Errno 28] No space left on device: '/x'", FailureKind.NO_SPACE_LEFT),
        ("OSError: [Errno 122] Disk quota exceeded: '/x'", FailureKind.NO_SPACE_LEFT),
        ("sqlite3.OperationalError: database or disk is full", FailureKind.NO_SPACE_LEFT),
        ("AssertionError", FailureKind.ASSERTION),
        ("ImportError: libcudart.so.12: cannot open shared object file", FailureKind.BROKEN_IMPORT),
        ("app.errors.MemoryLeakError: x", FailureKind.EXCEPTION),
    ],
)  # fmt: skip
def test_a_shortage_is_told_from_other_exceptions(last_line: str, kind: FailureKind) -> None:
    assert signature_in(TRACEBACK.rsplit("ValueError", 1)[0] + last_line + "\n").kind is kind


def test_a_shortage_is_told_in_two_sentences_without_the_numbers_of_the_moment() -> None:
    end = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB."
    failure = failure_in(TRACEBACK.rsplit("ValueError", 1)[0] + end + "\n")

    assert (
        failure.summary == "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB"
    )


def test_how_much_memory_was_asked_for_does_not_count() -> None:
    start = TRACEBACK.rsplit("ValueError", 1)[0] + "torch.OutOfMemoryError: CUDA out of memory. "
    one = start + "Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB.\n"
    other = start + "Tried to allocate 2 GiB. Of the allocated memory 70 GiB is allocated by x.\n"

    assert signature_in(one) == signature_in(other)


@pytest.mark.parametrize(
    ("stderr", "exit_code", "kind", "message"),
    [
        ("ls: unrecognized option '--x'\nTry 'ls --help' for more information.\n", 2,
         FailureKind.USAGE_ERROR, "unrecognized option '--x'"),
        ("Usage: cli [OPTIONS]\nTry 'cli --help' for help.\n\nError: No such option: --x\n", 2,
         FailureKind.USAGE_ERROR, "No such option: --x"),
        ("Usage: x.py [options]\n\nx.py: error: no such option: --x\n", 2,
         FailureKind.USAGE_ERROR, "no such option: --x"),
        ("usage: tool.py FILE\n", 1, FailureKind.USAGE_ERROR, "usage: <path> FILE"),
        ("Usage:\n  ship new NAME\nunknown command\n", 1, FailureKind.USAGE_ERROR, "unknown command"),
        ("usage: counter went back by 47.16 kWh at noon\n", 1, FailureKind.EXIT,
         "usage: counter went back by <n> kWh at noon"),
        ("usage: 3.4 GB is too much\n", 2, FailureKind.EXIT, "usage: <n> byte is too much"),
        ("usage: it grew\nmake: *** [Makefile:4: report] Error 1\n", 2, FailureKind.EXIT, "usage: it grew"),
        ("usage: x\nerror: y\n", 3, FailureKind.EXIT, "error: y"),
        ("cp: error writing '/x/y': No space left on device\n", 1,
         FailureKind.NO_SPACE_LEFT, "cp: error writing <str>: No space left on device"),
        ("bash: fork: Cannot allocate memory\n", 254,
         FailureKind.OUT_OF_MEMORY, "bash: fork: Cannot allocate memory"),
        ("reading a.csv\nread 7 rows\nwrote 3 rows\n", 9,
         FailureKind.EXIT, "reading <path> read <n> row wrote <n> row"),
        ("a.c:3:5: error: expected ';' before 'x'\n    3 | int x\n      |     ^\n", 1,
         FailureKind.EXIT, "<path>:<n>: error: expected ';' before <str>"),
        ("", 1, FailureKind.EXIT, ""),
    ],
)  # fmt: skip
def test_a_program_of_any_language_is_signed_by_its_last_words(
    stderr: str, exit_code: int, kind: FailureKind, message: str
) -> None:
    signature = signature_in(stderr, exit_code=exit_code)

    assert signature.kind is kind
    assert signature.message == message
    assert signature.exit_code == (exit_code if kind is FailureKind.EXIT else None)


def test_the_same_code_that_a_terminal_shows_counts_only_where_it_tells_of_an_error() -> None:
    said = classify(TRIAL, outcome_of(stdout="error: no such row\n"))
    result = classify(TRIAL, outcome_of(stdout="row 1\nrow 2\n"))

    assert said is not None
    assert result is not None
    assert said.signature.message == "error: no such row"
    assert result.signature.message == ""


def test_a_kill_without_words_says_what_may_be_behind_it() -> None:
    failure = classify(TRIAL, Outcome(exit_code=None, signal=9))

    assert failure is not None
    assert (failure.kind, failure.signature.signal) == (FailureKind.SIGNAL, "SIGKILL")
    assert "memory" in failure.summary


def test_a_signal_without_a_name_is_still_told() -> None:
    failure = classify(TRIAL, Outcome(exit_code=None, signal=40))

    assert failure is not None
    assert failure.signature.signal == "signal 40"


def test_an_interrupt_is_one_failure_with_and_without_a_shell_between() -> None:
    text = TRACEBACK.rsplit("ValueError", 1)[0] + "KeyboardInterrupt\n"
    direct = classify(TRIAL, outcome_of(text, signal=2))

    assert direct is not None
    assert direct.signature == signature_in(text, exit_code=130)
    assert direct.signature.exception == "KeyboardInterrupt"


def test_an_interrupt_without_a_traceback_is_a_signal() -> None:
    direct = classify(TRIAL, outcome_of("", signal=2))

    assert direct is not None
    assert (direct.kind, direct.signature.signal) == (FailureKind.SIGNAL, "SIGINT")
    assert signature_in("", exit_code=130).kind is FailureKind.EXIT


def test_a_dataloader_fails_as_it_does_without_workers() -> None:
    """The text of torch 2.13, from a Dataset whose `__getitem__` raises."""
    inner = """\
  File "/home/user/project/train.py", line 9, in __getitem__
    raise KeyError("no row 3")
"""
    fetch = (
        '  File "/x/site-packages/torch/utils/data/_utils/fetch.py", line 54, in fetch\n'
        "    data = [self.dataset[idx] for idx in possibly_batched_index]\n"
    )
    start = (
        'Traceback (most recent call last):\n  File "/home/user/project/train.py", line 20, in'
        " <module>\n    for batch in loader:\n"
    )
    alone = f"{start}{fetch}{inner}KeyError: 'no row 3'\n"
    with_workers = (
        f'{start}  File "/x/site-packages/torch/_utils.py", line 7, in reraise\n    raise\n'
        "KeyError: Caught KeyError in DataLoader worker process 0.\n"
        f"Original Traceback (most recent call last):\n{fetch}{inner}KeyError: 'no row 3'\n\n"
    )

    assert signature_in(with_workers) == signature_in(alone)
    assert signature_in(alone).user_function == "train.py:__getitem__"


def test_a_spawned_process_of_torch_fails_as_it_would_alone() -> None:
    spawned = (
        "Traceback (most recent call last):\n"
        '  File "/home/user/project/main.py", line 9, in <module>\n    mp.spawn(work)\n'
        '  File "/x/site-packages/torch/multiprocessing/spawn.py", line 7, in join\n'
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
        f"-- Process 1 terminated with the following error:\n{TRACEBACK}\n"
    )

    assert signature_in(spawned).exception == "ValueError"
    assert signature_in(spawned).user_function == "load.py:load"


def test_a_worktree_that_is_named_is_the_project() -> None:
    moved = outcome_of(TRACEBACK.replace(PROJECT, "/data/trees/a1"))
    failure = classify(TRIAL, moved, roots=["/data/trees/a1"])

    assert failure is not None
    assert failure.signature == signature_in(TRACEBACK)


def test_classifying_a_success_imports_nothing_that_reads_tracebacks() -> None:
    script = (
        "import sys\n"
        "from whet.core.outcome import Outcome\nfrom whet.core.trial import Trial\n"
        "from whet.evidence.signature.classify import classify\n"
        "classify(Trial(command=('true',), cwd='/'), Outcome())\n"
        "sys.exit('whet.evidence.signature.diagnosis' in sys.modules)\n"
    )

    assert run((sys.executable, "-c", script)).exit_code == 0


def test_a_trial_need_not_name_a_program_of_python() -> None:
    trial = Trial(command=("make",), cwd="/")

    assert classify(trial, outcome_of(TRACEBACK)) is not None


def test_a_file_whose_name_is_not_utf_8_is_the_projects_as_python_prints_it() -> None:
    folder = "/home/user/f\udcf6lder"
    printed = TRACEBACK.replace("/home/user/project/load", r"/home/user/f\udcf6lder/l\udce9ad")

    failure = classify(trial_of("python", "x.py", cwd=folder), outcome_of(printed))

    assert failure is not None
    assert failure.signature.user_function == "l\udce9ad.py:load"
