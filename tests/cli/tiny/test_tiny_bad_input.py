"""What `whet tiny` says of bad input, without any library of models."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from whet_command import Whet


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python without libraries."""
    venv.create(tmp_path / "bare", with_pip=False)
    return str(tmp_path / "bare" / "bin" / "python")


def test_a_python_without_the_library_is_named(whet: Whet, bare: str) -> None:
    said = whet("tiny", "LlamaConfig", "--python", bare)

    assert said.code == 69
    assert f"`{bare}` has no t" in said.stderr
    assert "--python PATH" in said.stderr
    assert list(whet.folder.iterdir()) == []


def test_a_python_that_is_none_is_named(whet: Whet) -> None:
    said = whet("tiny", "LlamaConfig", "--python", "/nowhere/python")

    assert said.code == 66
    assert "`/nowhere/python`" in said.stderr


@pytest.mark.parametrize("params", ["0", "many", "10kk", "-3"])
def test_no_number_of_parameters(whet: Whet, params: str) -> None:
    said = whet("tiny", "LlamaConfig", f"--params={params}")

    assert said.code == 64
    assert "write 10k or 125M" in said.stderr


def test_a_setting_without_a_value(whet: Whet) -> None:
    said = whet("tiny", "LlamaConfig", "--set", "hidden_size")

    assert said.code == 64
    assert "--set NAME=VALUE" in said.stderr


def test_a_folder_with_files_of_the_users_is_not_written_over(whet: Whet) -> None:
    (whet.folder / "mine").mkdir()
    (whet.folder / "mine" / "notes.txt").write_text("mine")

    said = whet("tiny", "LlamaConfig", "-o", "mine", "--python", sys.executable)

    assert said.code == 64
    assert "`-o mine` exists already" in said.stderr
    assert (whet.folder / "mine" / "notes.txt").read_text() == "mine"


def test_a_folder_in_no_folder(whet: Whet) -> None:
    said = whet("tiny", "LlamaConfig", "-o", "no/where", "--python", sys.executable)

    assert said.code == 64
    assert "mkdir -p" in said.stderr


def test_an_error_is_json_if_asked(whet: Whet, bare: str) -> None:
    said = whet("tiny", "LlamaConfig", "--python", bare, "--json")

    assert json.loads(said.stdout)["error"]["slug"] == "library-missing"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--layers", "2"], "add `--keep-weights`"),
        (["--layers", "two", "--keep-weights"], "write 2, or 0,5,11"),
        (["--layers", "0", "--keep-weights"], "write 2, or 0,5,11"),
        (["--layers", ",", "--keep-weights"], "write 2, or 0,5,11"),
        (["--params", "10k", "--keep-weights"], "`--keep-weights` changes no dimension"),
        (["--set", "n_layer=2", "--keep-weights"], "`--keep-weights` changes no dimension"),
        (["--keep-weights"], "needs a folder with weights, and `LlamaConfig` is none"),
        (["--tokenizer", "many"], "write `whet tiny MODEL --tokenizer 300`"),
    ],
)
def test_options_that_say_nothing_together(whet: Whet, words: list[str], says: str) -> None:
    said = whet("tiny", "LlamaConfig", *words, "--python", sys.executable)

    assert said.code == 64
    assert says in said.stderr
    assert list(whet.folder.iterdir()) == []


def test_nothing_in_the_folder_runs_to_read_a_model_of_it(whet: Whet, bare: str) -> None:
    whet.write("model/config.json", '{"model_type": "gpt2"}')
    for name in ("torch", "transformers", "struct", "inspect"):
        whet.write(f"{name}.py", "open('canary', 'w')")

    said = whet("tiny", "model", "--python", bare)

    assert (said.code, f"`{bare}` has no t" in said.stderr) == (69, True)
    assert not (whet.folder / "canary").exists()


def test_a_system_without_nameless_files_is_no_fault_of_whets(whet: Whet, bare: str) -> None:
    forbid = Path(__file__).parents[1] / "forbidden_call.py"

    done = subprocess.run(
        [sys.executable, str(forbid), "O_TMPFILE", "EOPNOTSUPP",
         sys.executable, "-m", "whet", "tiny", "LlamaConfig", "--python", bare],
        cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert (done.returncode, f"`{bare}` has no t" in done.stderr) == (69, True)
