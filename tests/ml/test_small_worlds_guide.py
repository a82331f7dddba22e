"""The guide `Small worlds`: from a failing script with a large model to a small folder, as its page shows it."""

import os
import random
import re
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

for library in ("transformers", "pandas"):
    if find_spec(library) is None:
        pytest.skip(f"`make test-ml` brings {library}", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "small-worlds.md"
SECTION = PAGE.read_text("utf-8").partition("\n## From 125 million parameters")[2]
BLOCKS = re.findall(r"^```console\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
SCRIPT = re.findall(r"^```py\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)[0]
FAILURE = "IndexError: index out of range in self at train.py:14"
ROWS, LONG = 200_000, 123_456
PATIENCE_SECONDS = 300
SAVES = 3

_WORDS = [
    "the",
    "a",
    "this",
    "that",
    "film",
    "story",
    "music",
    "end",
    "was",
    "is",
    "felt",
    "good",
    "bad",
    "slow",
    "long",
    "short",
    "never",
    "always",
    "my",
    "we",
]
_VARIES = re.compile(r"[\d.,]+( ?(ms|s|B|kB|MB|GB))?\b")


def write_table(path: Path) -> list[str]:
    """Write many reviews, of which one is far too long for the model."""
    choose = random.Random(0)
    texts = [" ".join(choose.choices(_WORDS, k=choose.randint(3, 40))) for _ in range(ROWS)]
    texts[LONG] = " ".join(choose.choices(_WORDS, k=1500))
    lines = (f'{number},{choose.randint(1, 5)},"{text}"\n' for number, text in enumerate(texts))
    path.write_text("id,stars,text\n" + "".join(lines), "utf-8")
    return texts


def save_model(folder: Path, texts: list[str]) -> int:
    """Save a model of 125 million parameters and its tokenizer; return how many it has."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel()
    end = "<|endoftext|>"
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=[end],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    whole = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=end, eos_token=end, pad_token=end
    )
    whole.save_pretrained(folder)
    model = GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0)).to(torch.bfloat16)
    model.save_pretrained(folder)
    return sum(each.numel() for each in model.parameters())


class Terminal:
    """Runs the commands of the page, with the Python that has the libraries first on `PATH`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "whet").write_text(f'#!/bin/sh\nexec {sys.executable} -m whet "$@"\n')
        (programs / "whet").chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(folder / "state"),
        }

    def type(self, command: str) -> str:
        """Run a command to its end and return what it prints."""
        if command.endswith("&& cd bug"):
            command = command.removesuffix(" && cd bug")
            printed = self.type(command)
            self.folder /= "bug"
            return printed
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return done.stdout


def masked(line: str) -> str:
    return _VARIES.sub("#", line).strip()


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """The project of the page."""
    terminal = Terminal(tmp_path)
    (terminal.folder / "train.py").write_text(SCRIPT)
    texts = write_table(terminal.folder / "reviews.csv")
    assert save_model(terminal.folder / "gpt2-125m", texts[:2000]) > 124_000_000
    return terminal


def test_a_large_model_and_a_big_table_become_a_small_folder_that_fails_the_same_way(
    terminal: Terminal,
) -> None:
    *blocks, last = BLOCKS
    for block in blocks:
        printed = ""
        for line in block.splitlines():
            if line.startswith("$ "):
                printed = terminal.type(line.removeprefix("$ "))
            else:
                assert masked(line) in {masked(each) for each in printed.splitlines()}, printed

    size = sum(each.stat().st_size for each in terminal.folder.rglob("*") if each.is_file())
    assert terminal.folder.name == "bug"
    assert size < 1_000_000
    command = last.splitlines()[0].removeprefix("$ ")
    assert seconds_after_a_save(terminal, command) < 2.0


def seconds_after_a_save(terminal: Terminal, command: str) -> float:
    """Run the loop, save a change a few times, and return how long the failure takes then at best."""
    script = terminal.folder / "train.py"
    seconds: list[float] = []
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=terminal.folder, env=terminal.environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as loop:  # fmt: skip
        limit = threading.Timer(PATIENCE_SECONDS, loop.kill)
        limit.start()
        try:
            for line in loop.stdout or ():
                if not line.startswith(("whet: cold", "whet: warm")):
                    continue
                assert FAILURE in line
                if found := re.match(r"whet: warm ([\d.]+) (ms|s) ", line):
                    seconds.append(float(found[1]) / (1000 if found[2] == "ms" else 1))
                if len(seconds) == SAVES:
                    break
                script.write_text(SCRIPT.replace("lr=1e-4", f"lr={len(seconds) + 2}e-4"))
        finally:
            limit.cancel()
            loop.kill()
    return min(seconds)
