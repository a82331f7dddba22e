"""What stays of a message, and what does not count."""

import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.signature.message import MESSAGE_CHARACTERS, normalise

words = st.sampled_from(["cannot", "read", "row", "of", "the table", "can't", "bad:", "(got"])
hexadecimal = st.integers(0, 2**64).map(hex)
plain_text = st.text(string.ascii_letters + string.digits + " .,:;-_/!?%$[](){}éü")
# What a repr quotes: quotes inside are escaped or the others are used.
quoted = st.one_of(
    plain_text.map(lambda text: f"'{text}'"),
    plain_text.map(lambda text: f'"{text}"'),
    st.text(max_size=20).map(repr),
)
numbers = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
)
paths = st.lists(
    st.text(string.ascii_lowercase + "_", min_size=1, max_size=8), min_size=1, max_size=5
).map(lambda parts: "/" + "/".join(parts) + ".csv")
# Atoms that a repr shows; a short dict or list of them is what ends up in a message.
data = st.recursive(
    st.one_of(
        st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), plain_text, st.binary()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(plain_text, inner, max_size=4)
    ),
    max_leaves=12,
)
containers = st.one_of(st.lists(data, max_size=5), st.dictionaries(plain_text, data, max_size=5))


@given(st.one_of(st.text(), st.lists(st.one_of(words, numbers, quoted, paths)).map(" ".join)))
def test_normalising_twice_changes_nothing(message: str) -> None:
    once = normalise(message)

    assert normalise(once) == once
    assert len(once) <= MESSAGE_CHARACTERS
    assert "\n" not in once


@given(st.lists(words, min_size=1, max_size=4), st.data())
def test_other_data_in_a_message_change_nothing(said: list[str], drawn: st.DataObject) -> None:
    kinds = [
        drawn.draw(st.sampled_from([numbers, quoted, paths, hexadecimal]), label="kind")
        for _ in said
    ]

    def message() -> str:
        return " ".join(
            f"{word} {drawn.draw(kind)}," for word, kind in zip(said, kinds, strict=True)
        )

    assert normalise(message()) == normalise(message())


@given(containers, containers)
def test_a_container_of_any_size_and_depth_is_one_piece_of_data(one: object, other: object) -> None:
    assert normalise(f"cannot use {one!r} here") == normalise(f"cannot use {other!r} here")


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_the_address_of_an_object_does_not_count(one: int, other: int) -> None:
    assert normalise(f"<app.Row object at {one:#x}> is odd") == (
        normalise(f"<app.Row object at {other:#x}> is odd")
    )


@pytest.mark.parametrize(
    ("message", "normalised"),
    [
        ("'price'", "<str>"),
        ("b'\\x00'", "<bytes>"),
        ("[Errno 2] No such file or directory: 'a.csv'",
         "[Errno <n>] No such file or directory: <str>"),
        ("can't convert 'can't' to a number", "can't convert <str> to a number"),
        ("the users' rows aren't sorted", "the users' rows aren't sorted"),
        ("cannot parse 'abc and then the line was cut", "cannot parse <str>"),
        ("`weight` of 3 layers", "<str> of <n> layer"),
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
         "mat1 and mat2 shapes cannot be multiplied (<n>)"),
        ("shapes (3,4) (5,) () do not match", "shapes <data> do not match"),
        ("expected torch.Size([2, 3]), f() gave float32",
         "expected torch.Size(<data>), f() gave float32"),
        ("at 2024-01-02T03:04:05.123Z on 10.0.0.1:8080", "at <n> on <n>"),
        ("on Tue, 2 Jan 2024 03:04:05", "on <n>"),
        ("job 123e4567-e89b-12d3-a456-426614174000", "job <n>"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit <n>"),
        ("cannot get https://example.org/a?b=c today", "cannot get <url> today"),
        ("/home/user/x.py:12: bad </div>, 3/4 and/or m/s",
         "<path>:<n>: bad </div>, <n> and/or m/s"),
        (r"cannot open C:\Users\me\x.txt", "cannot open <path>"),
        ("Unable to allocate 7.45 GiB for it", "Unable to allocate <n> byte for it"),
        ("2 validation errors for Row\na\n  not an int [x=1]\na\n  not an int [x=22]", "<n> validation error for Row a not an int [x=<n>]"),
        ('no mapping here\n  in "<file>", line 1, column 5:\n    a: b: c\n        ^',
         "no mapping here in <str>, line <n>, column <n>:"),
        ("Command '['a', 'b c']' returned non-zero exit status 3.",
         "Command <str> returned non-zero exit status 3."),
        ("Opening and ending tag mismatch: b line 1 and a, line 1, column 11",
         "Opening and ending tag mismatch: <str> line <n> and <str>, line <n>, column <n>"),
        ("Attribute yy redefined, line 1, column 9", "Attribute <str> redefined, line <n>, column <n>"),
        ("Unknown string format: foo bar", "Unknown string format: <str>"),
        ("unconverted data remains: x y", "unconverted data remains: <str>"),
        ("month must be in 1..12: 2020-13-45", "month must be in <n>"),
        ("Unexpected token Token('$END', '') at line 1, column 3.\nExpected one of: \n\t* NAME\n\t* STAR\n",
         "Unexpected token Token(<data>) at line <n>, column <n>. Expected one of:"),
        ("(sqlite3.OperationalError) no such table: t\n[SQL: select a[1] from t]\n(Background on x)",
         "(sqlite3.OperationalError) no such table: t [SQL: ...] (Background on x)"),
        ("While reading from '<string>' [line  3]: option 'b' in section 'a' already exists",
         "While reading from <str> [line <n>]: option <str> in section <str> already exists"),
        ("Invalid value for 'X': 'a' is not a valid integer.",
         "Invalid value for 'X': <str> is not a valid integer."),
        ("Sympify of expression 'could not parse 'x)'' failed", "Sympify of expression <str> failed"),
        ("{'a': 1, 'b': [2]}", "<data>"),
        ("bad (unclosed [1, 2", "bad (unclosed [<n>"),
        ("mismatched ) ] } (1, 2]", "mismatched ) ] } (<n>]"),
        (r"no d\udce4ta.txt in /home/u/d\udce4ta.txt", "no <path> in <path>"),
        ("no d\ufffdta.txt in d\ufffd/ta.txt", "no <path> in <path>"),
        ("line contains\ttabs\n\nand   spaces", "line contains tabs and spaces"),
    ],
)  # fmt: skip
def test_data_have_a_sign_in_their_place(message: str, normalised: str) -> None:
    assert normalise(message) == normalised


@pytest.mark.parametrize(
    "message",
    [
        "'NoneType' object has no attribute 'foo1'",
        "module 'a2' has no attribute 'b'",
        "type object 'Row' has no attribute 'of'",
        "name 'x' is not defined",
        "No module named 'a.b'; 'a' is not a package",
        "cannot import name 'x' from 'y'",
        "f() got an unexpected keyword argument 'z'",
        "unsupported operand type(s) for +: 'int' and 'str'",
        "'<' not supported between instances of 'str' and 'int'",
        'can only concatenate str (not "int") to str',
        "unhashable type: 'list'",
        "a bytes-like object is required, not 'str'",
        "'int' object is not iterable",
        "cannot pickle '_thread.lock' object",
        "<class 'int'> is no row",
        "'(' was never closed",
        "Expecting ',' delimiter",
        "expected ',' or ']'",
        "closing parenthesis ']' does not match opening parenthesis '('",
    ],
)
def test_the_names_in_messages_of_cpython_tell_the_bug_and_stay(message: str) -> None:
    assert normalise(message) == message


IN_ENCLOSING_SCOPE = (
    "cannot access free variable 'x' where it is not associated with a value in enclosing scope"
)
CIRCULAR_IMPORT = (
    "cannot import name 'x' from partially initialized module 'y' (most likely due to a circular"
    " import) (/a/y.py)"
)
SHADOWED_IMPORT = (
    "cannot import name 'x' from 'y' (consider renaming '/a/y.py' since it has the same name as the"
    " standard library module named 'y' and the import system gives it precedence)"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("local variable 'x' referenced before assignment",
         "cannot access local variable 'x' where it is not associated with a value"),
        ("free variable 'x' referenced before assignment in enclosing scope",
         IN_ENCLOSING_SCOPE),
        ("fit() takes 1 positional argument but 2 were given",
         "Model.fit() takes 1 positional argument but 2 were given"),
        ("f() takes 0 positional arguments but 1 was given",
         "f() takes 1 positional argument but 2 were given"),
        ("name 'maht' is not defined", "name 'maht' is not defined. Did you mean: 'math'?"),
        ("name 'sys' is not defined",
         "name 'sys' is not defined. Did you forget to import 'sys'?"),
        ("f() got an unexpected keyword argument 'z'",
         "f() got an unexpected keyword argument 'z'. Did you mean 'zz'?"),
        ("cannot import name 'x' from 'y' (/a/b c/y.py)",
         "cannot import name 'x' from 'y' (unknown location)"),
        (CIRCULAR_IMPORT, SHADOWED_IMPORT),
        ("can't pickle _thread.lock objects", "cannot pickle '_thread.lock' object"),
        ("Can't pickle local object 'f.<locals>.g'", "Can't get local object 'f.<locals>.g'"),
        ("too many values to unpack (expected 2)", "too many values to unpack (expected 2, got 9)"),
        ("maximum recursion depth exceeded while calling a Python object",
         "maximum recursion depth exceeded in comparison"),
        ("integer division or modulo by zero", "division by zero"),
        ("float floor division by zero", "division by zero"),
        ("int() argument must be a string, a bytes-like object or a number, not 'NoneType'",
         "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"),
        ("'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
         "'utf-8' codec can't decode bytes in position 7-8: invalid start byte"),
        ("'ascii' codec can't encode character '\\xe9' in position 3: ordinal not in range(128)",
         "'ascii' codec can't encode characters in position 3-5: ordinal not in range(128)"),
        ("Invalid value (at line 3, column 1)", "Invalid value (at end of document)"),
    ],
)  # fmt: skip
def test_what_versions_of_python_word_in_another_way_is_one_message(old: str, new: str) -> None:
    assert normalise(old) == normalise(new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'A' object has no attribute 'x'", "'A' object has no attribute 'y'"),
        ("No module named 'a'", "No module named 'b'"),
        ("Expecting ',' delimiter: line 1 column 2 (char 1)",
         "Expecting ':' delimiter: line 1 column 2 (char 1)"),
        ("Command 'a' returned non-zero exit status 1.",
         "Command 'a' returned non-zero exit status 2."),
        ("Command 'a' died with <Signals.SIGSEGV: 11>.",
         "Command 'a' died with <Signals.SIGKILL: 9>."),
        ("expected float32 but got int64", "expected float32 but got float64"),
        ("unsupported operand type(s) for +: 'int' and 'str'",
         "unsupported operand type(s) for -: 'int' and 'str'"),
        ("bad row", "bad column"),
    ],
)  # fmt: skip
def test_two_bugs_keep_two_messages(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_what_follows_long_data_still_counts() -> None:
    start, end = "cannot use '", "' as a key"

    assert normalise(start + "x" * 100_000 + end) == normalise(start + "x" + end)
    assert normalise(start + "x" * 100_000 + end) != normalise(start + "x" + "' as a row")


@pytest.mark.parametrize(
    "piece",
    ["'", '"', "`", "(", "((", "[1,", "a'b`", "\\'", "b'", "' object", "name '", "0x", "/a", "a.b/",
     "1", "1 ", "1x", "<n>, ", "deadbeef", "a b ", "~", "^\n", "\n", " \n", "x.", "<", "e1.", "-",
     "Command '[", "expected '", "cannot import name "],
)  # fmt: skip
def test_no_text_takes_more_than_a_few_passes(piece: str) -> None:
    """Count the work in calls, not in seconds: ten times the text may cost ten times the calls."""
    short, long = (calls_to_normalise(piece * count) for count in (200, 2000))

    assert long <= 20 * short


def calls_to_normalise(message: str) -> int:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        normalise(message)
    finally:
        sys.setprofile(None)
    return calls
