"""Each program of `specimens/failures`, really run, is said to fail in its own way."""

import sys

import pytest
from failed_runs import failure_of, run, trial_of

from whet.core.failure import FailureKind
from whet.evidence.signature.classify import classify, headline

EXCEPTION, EXIT = FailureKind.EXCEPTION, FailureKind.EXIT

# program, kind, exception, user_function (without the program's name), message
RAISED = [
    ("key_error", EXCEPTION, "KeyError", "price_of", "'price'"),
    ("attribute_of_none", EXCEPTION, "AttributeError", "first_word", "has no attribute 'group'"),
    ("misspelt_attribute", EXCEPTION, "AttributeError", "show", "has no attribute 'custumer'"),
    ("undefined_name", EXCEPTION, "NameError", "total", "name 'offest' is not defined"),
    ("unbound_local", EXCEPTION, "UnboundLocalError", "last", "local variable 'found'"),
    ("missing_argument", EXCEPTION, "TypeError", "<module>", "positional argument: 'labels'"),
    ("unexpected_keyword", EXCEPTION, "TypeError", "<module>", "keyword argument 'epoch'"),
    ("divide_by_zero", EXCEPTION, "ZeroDivisionError", "mean", "division by zero"),
    ("float_modulo", EXCEPTION, "ZeroDivisionError", "phase", "division by zero"),
    ("not_a_number", EXCEPTION, "ValueError", "parse", "with base <n>: <str>"),
    ("unpack", EXCEPTION, "ValueError", "read", "too many values to unpack (expected <n>)"),
    ("add_text_and_number", EXCEPTION, "TypeError", "label", 'str (not "int") to str'),
    ("read_only_property", EXCEPTION, "AttributeError", "grow", "can't set attribute"),
    ("abstract_class", EXCEPTION, "TypeError", "<module>", "Shape with abstract method area"),
    ("undecodable", EXCEPTION, "UnicodeDecodeError", "read", "'utf-8' codec can't decode"),
    ("missing_file", EXCEPTION, "FileNotFoundError", "load", "No such file or directory: <str>"),
    ("assertion", FailureKind.ASSERTION, "AssertionError", "check", ""),
    ("assertion_with_message", FailureKind.ASSERTION, "AssertionError", "check", "shape <data>"),
    ("missing_module", FailureKind.BROKEN_IMPORT, "ModuleNotFoundError", "<module>", "'no_such_"),
    ("missing_name_in_module", FailureKind.BROKEN_IMPORT, "ImportError", "<module>", "from 'json'"),
    ("retried", EXCEPTION, "ConnectionError", "fetch", "refused"),
    ("with_note", EXCEPTION, "ValueError", "parse", "could not convert string to float: <str>"),
    ("several_lines", EXCEPTION, "SchemaError", "check", "bad rows: row <n>: no 'id'"),
    ("syntax_error", EXCEPTION, "SyntaxError", "<module>", "invalid syntax"),
    ("indentation_error", EXCEPTION, "IndentationError", "<module>", "an indented block"),
    ("eval_of_data", EXCEPTION, "SyntaxError", "compute", "invalid syntax"),
    ("endless_recursion", EXCEPTION, "RecursionError", "depth", "recursion depth exceeded"),
    ("comprehension", EXCEPTION, "ZeroDivisionError", "invert", "division by zero"),
    ("sort_key", EXCEPTION, "KeyError", "<lambda>", "'age'"),
    ("generator", EXCEPTION, "KeyError", "<genexpr>", "'n'"),
    ("pool_worker", EXCEPTION, "ValueError", "work", "cannot do <n>"),
    ("executor_worker", EXCEPTION, "ValueError", "work", "cannot do <n>"),
    ("only_a_thread", EXCEPTION, "ValueError", "work", "in a thread"),
    ("logged_then_raised", EXCEPTION, "IndexError", "compute", "list index out of range"),
    ("ignored_at_exit", EXCEPTION, "KeyError", "main", "'a'"),
    ("warning_as_error", EXCEPTION, "DeprecationWarning", "old", "old() goes away"),
    ("out_of_memory", FailureKind.OUT_OF_MEMORY, "MemoryError", "allocate", ""),
    ("disk_full", FailureKind.NO_SPACE_LEFT, "OSError", "save", "No space left on device"),
    ("interrupted", EXCEPTION, "KeyboardInterrupt", "work", ""),
]


@pytest.mark.parametrize(
    ("program", "kind", "exception", "function", "message"), RAISED, ids=[row[0] for row in RAISED]
)
def test_an_exception_is_signed_by_its_type_its_place_and_its_words(
    program: str, kind: FailureKind, exception: str, function: str, message: str
) -> None:
    signature = failure_of(f"{program}.py").signature

    assert signature.kind is kind
    assert signature.exception == exception
    assert signature.user_function == f"{program}.py:{function}"
    assert message in signature.message
    assert signature.library_function == ""


@pytest.mark.parametrize(
    ("program", "library_function"),
    [
        ("in_library.py", "json/decoder.py:raw_decode"),
        ("bad_pattern.py", "sre_parser.py:_parse"),
        ("called_program.py", "subprocess.py:run"),
        ("recursion_in_library.py", "copy.py:_deepcopy_list copy.py:deepcopy"),
        ("segfault.py", "ctypes/__init__.py:string_at"),
    ],
)
def test_the_innermost_function_of_a_library_counts(program: str, library_function: str) -> None:
    assert failure_of(program).signature.library_function == library_function


@pytest.mark.parametrize(
    ("program", "causes"),
    [
        ("caused.py", ("KeyError",)),
        ("while_handling.py", ("KeyError",)),
        ("retried.py", ("ConnectionError",)),
        ("group.py", ("TypeError", "ValueError")),
        ("nested_group.py", ("KeyError", "OSError", "ValueError")),
        ("called_program.py", ("LookupError",)),
        ("key_error.py", ()),
        ("pool_worker.py", ()),
    ],
)
def test_what_an_exception_came_from_is_part_of_its_signature(
    program: str, causes: tuple[str, ...]
) -> None:
    assert failure_of(program).signature.causes == causes


@pytest.mark.parametrize(
    ("program", "kind", "exit_code", "message"),
    [
        ("thread_then_exit.py", EXIT, 1, "giving up: no result"),
        ("logged_then_exit.py", EXIT, 1, "fatal: <n> of <n> file could not be read"),
        ("exit_with_words.py", EXIT, 1, "<path>: unknown table <str> in line <n>"),
        ("exit_silently.py", EXIT, 7, ""),
        ("usage.py", FailureKind.USAGE_ERROR, None,
         "argument --mode: invalid choice: <str> (choose from ...)"),
    ],
)  # fmt: skip
def test_an_exit_is_signed_by_its_code_and_the_last_words(
    program: str, kind: FailureKind, exit_code: int | None, message: str
) -> None:
    signature = failure_of(program).signature

    assert (signature.kind, signature.exit_code) == (kind, exit_code)
    assert signature.message == message
    assert signature.exception == ""


@pytest.mark.parametrize(
    ("program", "signal", "function"),
    [
        ("segfault.py", "SIGSEGV", "segfault.py:read"),
        ("abort.py", "SIGABRT", "abort.py:give_up"),
        ("silent_segfault.py", "SIGSEGV", ""),
    ],
)
def test_a_crash_is_signed_by_its_signal_and_the_stack_of_faulthandler(
    program: str, signal: str, function: str
) -> None:
    signature = failure_of(program).signature

    assert signature.kind is FailureKind.SIGNAL
    assert (signature.signal, signature.user_function) == (signal, function)
    assert signature.exit_code is None


def test_a_traceback_that_is_only_printed_is_no_failure() -> None:
    command = (sys.executable, "prints_a_traceback_and_succeeds.py")

    assert classify(trial_of(*command), run(command)) is None


def test_the_file_that_cannot_be_parsed_is_where_an_import_fails() -> None:
    failure = failure_of("import_of_syntax_error.py")

    assert failure.signature.user_function == "syntax_error.py:<module>"
    assert [frame.function for frame in failure.frames] == ["<module>", "load", "<module>"]


def test_mutual_recursion_is_signed_by_its_cycle() -> None:
    assert failure_of("mutual_recursion.py").signature.user_function == (
        "mutual_recursion.py:walk_item mutual_recursion.py:walk_list"
    )


def test_the_only_exception_of_a_group_says_where_it_was_raised() -> None:
    signature = failure_of("task_group.py").signature

    assert signature.exception == "ExceptionGroup"
    assert signature.user_function == "task_group.py:fetch"
    assert signature.message == "unhandled errors in a TaskGroup ValueError: no page <n>"


def test_a_failure_shows_real_lines_with_the_innermost_frame_last() -> None:
    failure = failure_of("in_library.py")

    assert failure.summary == (
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes:"
        " line 1 column 9 (char 8)"
    )
    assert [(frame.function, frame.in_user_code) for frame in failure.frames[:3]] == [
        ("<module>", True),
        ("load", True),
        ("loads", False),
    ]
    assert failure.frames[-1].function == "raw_decode"
    assert failure.place is not None
    assert failure.place.line == 7


def test_both_ends_of_a_very_deep_stack_are_shown() -> None:
    frames = failure_of("recursion_in_library.py").frames

    assert len(frames) == 200
    assert [frame.function for frame in frames[:3]] == ["<module>", "clone", "deepcopy"]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("key_error.py", "KeyError in key_error.py:price_of (line 5)"),
        ("segfault.py", "SIGSEGV in segfault.py:read (line 8)"),
        ("recursion_in_library.py", "RecursionError in recursion_in_library.py:clone (line 5)"),
        ("exit_silently.py", "exit code 7"),
        ("out_of_memory.py", "out of memory: MemoryError in out_of_memory.py:allocate (line 2)"),
        ("usage.py", "usage error"),
    ],
)
def test_a_failure_is_told_in_one_line(program: str, words: str) -> None:
    assert headline(failure_of(program)) == words
