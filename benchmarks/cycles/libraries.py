"""What an edit takes in programs of the libraries that people use, as a ratio to what it has to take.

    python -m benchmarks.cycles.libraries [--python PATH] [--edits N] [--only LIBRARY...]

Each program does slow work, a cheap step that is edited, more slow work, and prints. What an edit has
to take is the program's own time from the edited statement to the result, measured in a cold run
of the same text. `--python` is the interpreter that has the libraries; what it lacks is left out, and said.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cycles.costs import has
from benchmarks.cycles.tools import Cold, Tool, Whet, save
from benchmarks.table import print_table

PATIENCE_SECONDS = 300.0
KINDS: tuple[str, ...] = ("last line", "middle")
MOST_TIMES, MORE_SECONDS = 1.5, 0.05
"""An edit is quick enough with so many times what it has to take, and so much more."""

_REST = """\
x = x + {middle}
# middle
y = 0
for i in range(4_000_000):
    y += i % 7
print("RESULT", round(float(x), 3), y, {last line}, flush=True)
"""

PROGRAMS = {
    "tqdm": """\
from tqdm import tqdm
x = 0
for i in tqdm(range(3_000_000)):
    x += i % 3
""",
    "numpy": """\
import numpy
a = numpy.random.default_rng(0).random((1200, 1200))
for _ in range(8):
    a = a @ a / 600
x = a.sum()
""",
    "pandas": """\
import pandas
frame = pandas.DataFrame({"a": range(1_500_000), "b": [i % 50 for i in range(1_500_000)]})
x = frame.groupby("b")["a"].apply(lambda part: part.sum() % 1000).sum()
""",
    "polars": """\
import polars
frame = polars.DataFrame({"a": range(3_000_000)}).with_columns(b=polars.col("a") % 50)
x = frame.group_by("b").agg(polars.col("a").sum()).sort("b")["a"][3]
""",
    "pyarrow": """\
import pyarrow, pyarrow.dataset, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.table({"a": list(range(2_000_000))}), "data.parquet")
x = pyarrow.dataset.dataset("data.parquet").to_table()["a"].to_numpy().sum()
""",
    "matplotlib": """\
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
for number in range(4):
    pyplot.plot(range(50_000))
    pyplot.savefig("plot.png")
    pyplot.close()
x = 1
""",
    "sklearn": """\
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
data, target = make_classification(4000, random_state=0)
x = RandomForestClassifier(60, n_jobs=2, random_state=0).fit(data, target).score(data, target)
""",
    "torch": """\
import torch
torch.set_num_threads(2)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(150):
    loss = model(torch.randn(128, 256)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
x = loss.item()
""",
    "DataLoader": """\
import torch
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.arange(6000.0))
x = 0.0
for (batch,) in torch.utils.data.DataLoader(data, batch_size=20, num_workers=2):
    x += float(batch.sin().sum())
""",
    "jax": """\
import jax
f = jax.jit(lambda a: (a @ a.T).sum())
a = jax.random.normal(jax.random.key(0), (1500, 1500))
for _ in range(6):
    x = f(a)
""",
    "Trainer": """\
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=128, n_positions=64))
rows = [{"input_ids": torch.arange(i, i + 32) % 128, "labels": torch.arange(i, i + 32) % 128} for i in range(64)]
told = TrainingArguments("out", max_steps=10, save_steps=5, report_to=[], use_cpu=True, disable_tqdm=False)
x = Trainer(model=model, args=told, train_dataset=rows).train().training_loss
""",
    "concurrent.futures": """\
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(4)
x = sum(pool.map(lambda n: sum(range(n)), [400_000] * 60)) % 1000
""",
    "multiprocessing": """\
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    x = sum(pool.map(len, [range(n) for n in range(200_000)])) % 1000
""",
    "asyncio": """\
import asyncio
async def work(n):
    await asyncio.sleep(0.001)
    return sum(range(n))
async def all_work():
    return sum(await asyncio.gather(*(work(n) for n in range(3000))))
x = asyncio.run(all_work()) % 1000
""",
    "sqlite3": """\
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("create table t (a int)")
base.executemany("insert into t values (?)", ((i % 100,) for i in range(1_500_000)))
x = base.execute("select sum(a) from t").fetchone()[0]
""",
}  # fmt: skip
_MODULES = {"DataLoader": "torch", "Trainer": "accelerate", "pyarrow": "pyarrow.dataset"}


@dataclass
class Measured:
    """The answers to the edits of one kind, in seconds, and those that were wrong."""

    library: str
    kind: str
    cold: list[float]
    needed: list[float]
    warm: list[float]
    wrong: int = 0

    def row(self) -> list[str]:
        """Return its line of the table."""
        cold, needed, warm = map(statistics.median, (self.cold, self.needed, self.warm))
        quick = sum(map(_is_quick, self.warm, self.needed))
        return [
            f"{self.library}: {self.kind}", f"{cold * 1e3:.0f}", f"{needed * 1e3:.0f}",
            f"{warm * 1e3:.0f}", f"{cold / warm:.1f}", f"{warm / max(needed, 1e-3):.2f}",
            f"{quick} of {len(self.warm)}", str(self.wrong),
        ]  # fmt: skip


def _is_quick(warm: float, needed: float) -> bool:
    return warm <= MOST_TIMES * needed + MORE_SECONDS


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter")
    parser.add_argument("--edits", type=int, default=4, help="how many of each kind")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    options = parser.parse_args()
    python = options.python.absolute()
    measured: list[Measured] = []
    for library in options.only:
        if not has(python, _MODULES.get(library) or library):
            print(f"skipped: {library}: {python} does not have it")
            continue
        measured += measure(library, python, options.edits)
    header = ["edit", "python, ms", "needed, ms", "whet, ms", "python / whet", "whet / needed", "quick", "wrong"]  # fmt: skip
    print_table("Edits by library, medians", header, [each.row() for each in measured])
    answers = [pair for each in measured for pair in zip(each.warm, each.needed, strict=True)]
    quick = sum(_is_quick(*pair) for pair in answers)
    print(
        f"\n{quick} of {len(answers)} within {MOST_TIMES} times what they need + {MORE_SECONDS * 1e3:.0f} ms"
    )


def measure(library: str, python: Path, edits: int) -> list[Measured]:
    """Make the edits of one library's program, each with a loop and then with Python itself."""
    values = dict.fromkeys(KINDS, 1)
    with tempfile.TemporaryDirectory() as name:
        folder, marks = Path(name), Path(name) / "marks"
        places = [folder / each for each in ("warm", "cold")]
        for place in places:
            place.mkdir()
        tools: list[Tool] = [Whet(python, places[0]), Cold(python, places[1])]
        save(places[0], {"train.py": text_of(library, values)})
        save(places[1], {"train.py": text_of(library, values, marks)})
        for tool in tools:
            assert tool.start(PATIENCE_SECONDS) is not None, f"{library}: {tool.name} says nothing"
        try:
            return [_edits(library, kind, values, tools, marks, edits) for kind in KINDS]
        finally:
            for tool in tools:
                tool.end()


def _edits(
    library: str, kind: str, values: dict[str, int], tools: Sequence[Tool], marks: Path, edits: int
) -> Measured:
    found = Measured(library, kind, [], [], [])
    for _ in range(edits):
        values[kind] += 1
        warm = tools[0].answer({"train.py": text_of(library, values)}, kind, PATIENCE_SECONDS)
        marks.unlink(missing_ok=True)
        marked = {"train.py": text_of(library, values, marks)}
        cold = tools[1].answer(marked, kind, PATIENCE_SECONDS)
        now = time.monotonic()
        assert warm is not None, f"{library}: no answer"
        assert cold is not None, f"{library}: no answer"
        began = dict(line.split("=") for line in marks.read_text().splitlines())
        found.warm.append(warm[0])
        found.cold.append(cold[0])
        found.needed.append(now - float(began[kind]))
        found.wrong += warm[1] != cold[1]
    return found


def text_of(library: str, values: dict[str, int], marks: Path | None = None) -> str:
    """Return a program with a number at each place; with ``marks``, it writes there when it comes to each."""
    text = PROGRAMS[library] + _REST
    if marks is not None:
        mark = f"open({os.fspath(marks)!r}, 'a').write(f'KIND={{__import__(\"time\").monotonic()}}\\n')\n"
        text = text.replace("x = x +", mark.replace("KIND", "middle") + "x = x +")
        text = text.replace('print("RESULT"', mark.replace("KIND", "last line") + 'print("RESULT"')
    for kind, value in values.items():
        text = text.replace("{" + kind + "}", str(value))
    return text


if __name__ == "__main__":
    main()
