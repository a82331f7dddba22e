"""Documents of settings: known by what they hold, read as they were written, said in one another."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.settings.assignments import read_env_file, write_env_file
from whet.reduction.settings.conversion import said_in
from whet.reduction.settings.documents import DocumentKind, UnreadableError, document_in
from whet.reduction.settings.environments import is_whole, read_environment


@pytest.mark.parametrize(
    ("content", "language", "data"),
    [
        (b'{"a": 1}', "JSON", {"a": 1}),
        (b"{'a': (1, None)}  ", "a Python literal", {"a": (1, None)}),
        (b"A=1\nexport B='x y'\n", "an environment file", {"A": "1", "B": "x y"}),
        (b"# c\na = 1\n[b]\nc = 'x'\n", "TOML", {"a": 1, "b": {"c": "x"}}),
        (b"; c\n[s]\nName = foo bar\n", "INI", {"s": {"Name": "foo bar"}}),
        (b'"""D."""\nLR = 0.1\nN: dict = {"a": 1}\n', "a module of Python literals",
         {"LR": 0.1, "N": {"a": 1}}),
        (b'[{"a": 1}]', "JSON", [{"a": 1}]),
    ],
)  # fmt: skip
def test_a_file_without_a_telling_name_is_known_by_its_content(
    content: bytes, language: str, data: object
) -> None:
    kind, found = document_in("config", content)

    assert kind is not None
    assert (kind.name, found) == (language, data)
    assert document_in("config", kind.write(found).encode()) == (kind, data)


def test_yaml_is_known_by_its_content_too() -> None:
    pytest.importorskip("yaml")

    kind, found = document_in("config", b"a: 1\nb:\n - x\n")

    assert kind is not None
    assert (kind.name, found) == ("YAML", {"a": 1, "b": ["x"]})


@pytest.mark.parametrize("content", [b"", b"hello world\n", b"\xff\xfe\0", b"print(1)\n"])
def test_all_else_is_taken_as_lines(content: bytes) -> None:
    assert document_in("config", content) == (None, None)


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", b"{'a': 1}"), (".env", b"what\n"), ("a.toml", b"a: 1")]
)
def test_a_file_that_is_not_what_its_name_says_is_refused(name: str, content: bytes) -> None:
    with pytest.raises(UnreadableError):
        document_in(name, content)


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
TEXTS = st.text(st.characters(codec="ascii", exclude_characters="\0\r"), max_size=8)


@given(st.dictionaries(NAMES, TEXTS, max_size=4))
def test_an_environment_file_reads_as_it_was_written(variables: dict[str, str]) -> None:
    assert read_env_file(write_env_file(variables)) == variables


def test_a_shell_reads_what_was_written_as_it_is_read_here(tmp_path: Path) -> None:
    odd = {
        "A": "it's $HOME",
        "B": 'a "b" \\',
        "C": "two\nlines",
        "D": "`x` # no",
        "E": "",
        "F": "é=~",
    }
    file = tmp_path / "odd.env"
    file.write_text(write_env_file(odd))

    done = subprocess.run(
        ["sh", "-c", f'set -a; . "{file}"; exec env -0'], capture_output=True, check=True, env={}
    )

    seen = read_environment(done.stdout)
    assert {name: seen[name] for name in odd} == odd


def test_what_env_prints_is_read_as_what_it_is(tmp_path: Path) -> None:
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "X": 'a "b"\nc d', "Y": "'q'"}
    for words in (["env"], ["env", "-0"]):
        done = subprocess.run(words, capture_output=True, check=True, env=own)

        found = read_environment(done.stdout)

        assert {name: found[name] for name in own} == own
        assert is_whole(found)


def test_variables_that_a_shell_exports_are_read() -> None:
    text = b"export PATH=\"/bin\"\ndeclare -x HOME='/root'\ndeclare -x OLDPWD\n"

    assert read_environment(text) == {"PATH": "/bin", "HOME": "/root"}


def kind_of(name: str, content: bytes) -> tuple[DocumentKind, object]:
    kind, data = document_in(name, content)
    assert kind is not None
    return kind, data


def test_a_text_becomes_the_number_that_it_stands_for_in_a_language_with_numbers() -> None:
    kind, like = kind_of("bad.json", b'{"s": {"n": 4, "on": true, "name": "7"}}')
    _, data = kind_of("good.ini", b"[s]\nn = 4\non = True\nname = 7\nlr = 0.5\n")

    said = said_in(kind, data, like, was_text=True)

    assert said == {"s": {"n": 4, "on": True, "name": "7", "lr": 0.5}}


def test_a_number_becomes_its_text_in_a_language_without_numbers() -> None:
    kind, like = kind_of("bad.ini", b"[s]\non = TRUE\n")

    assert said_in(kind, {"s": {"on": True, "n": 4}}, like, was_text=False) == {
        "s": {"on": "TRUE", "n": "4"}
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("bad.toml", b"[a]\nb = 1\n", None),
        ("bad.json", b'{"a": {"b": 1}}', 1j),
        ("bad.yaml", b"a:\n  b: 1\n", 1j),
    ],
)
def test_a_value_for_which_a_language_has_no_word_is_named(
    name: str, text: bytes, value: object
) -> None:
    kind, like = kind_of(name, text)

    with pytest.raises(UnreadableError) as error:
        said_in(kind, {"a": {"b": value, "c": 1}}, like, was_text=False)

    assert str(error.value) == f"`a.b`, which is {value!r}, cannot be written in {kind.name}"
