"""Programs with libraries that have threads of their own run on from a snapshot as from the start."""

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from workshop import SLOW, Workshop

import whet.agent

pytestmark = pytest.mark.ml

# Each: the module it needs, what comes before the snapshot, and after a line, what comes after it.
PROGRAMS = {
    "OpenBLAS": """numpy
import numpy as np
a = np.random.default_rng(1).random((600, 600))
x = (a @ a).sum()
----
print(x, (a @ a @ a).sum(), np.linalg.svd(a[:99, :99])[1][:3])
""",
    "the old random state of numpy": """numpy
import numpy as np
np.random.seed(3)
np.random.rand(5)
----
print(np.random.rand(3))
""",
    "OpenMP of torch": """torch
import torch
torch.manual_seed(0)
a = torch.randn(500, 500)
x = (a @ a).tanh().sum()
----
print(x, (a @ a).tanh().sum(), torch.randn(2), torch.get_num_threads())
""",
    "autograd of torch": """torch
import os, tempfile
tempfile.tempdir = os.environ['TORCHINDUCTOR_CACHE_DIR'] = os.getcwd()  # else it tries one out
import torch
torch.manual_seed(0)
m = torch.nn.Linear(300, 300)
o = torch.optim.AdamW(m.parameters())
def step():
    loss = m(torch.ones(200, 300)).square().mean()
    o.zero_grad(); loss.backward(); o.step()
    return loss.item()
x = [step() for _ in range(3)]
----
print(x, [step() for _ in range(3)])
""",
    "workers that load data for torch": """torch
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
a = torch.randn(300, 300)
x = (a @ a).sum()
d = TensorDataset(torch.arange(20.0))
----
l = DataLoader(d, batch_size=5, shuffle=True, num_workers=2)
print(x, [b[0].tolist() for b in l], (a @ a).sum())
""",
    "a small Llama, forward and backward": """transformers
import os, tempfile
tempfile.tempdir = os.environ['TORCHINDUCTOR_CACHE_DIR'] = os.getcwd()  # else it tries one out
import torch
from transformers import LlamaConfig, LlamaForCausalLM
torch.manual_seed(0)
shape = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2)
heads = dict(num_attention_heads=4, num_key_value_heads=4)
m = LlamaForCausalLM(LlamaConfig(vocab_size=99, **shape, **heads))
t = torch.arange(60).reshape(2, 30)
m(t, labels=t).loss.backward()
----
print(m(t, labels=t).loss, m.lm_head.weight.grad.norm())
""",
    "a file read by pandas": """pandas
import pandas as pd
d = pd.read_csv('data.csv')
----
print(d.groupby('b').a.sum(), pd.read_csv('data.csv').describe())
""",
    "strings of Arrow in pandas": """pandas
import pandas as pd
d = pd.Series(['a', 'b', None] * 20000, dtype='string')
x = d.str.upper().value_counts()
----
print(x, d.str.len().sum(), d.sort_values().head())
""",
    "files read by the threads of Arrow": """pyarrow
import pyarrow.csv, pyarrow.compute as pc
t = pyarrow.csv.read_csv('data.csv')
x = pc.sum(t['a'])
----
u = pyarrow.csv.read_csv('data.csv')
print(x, u.sort_by('a')[:3], t.equals(u), pyarrow.cpu_count())
print(u.group_by('b').aggregate([('a', 'sum')]).sort_by('b'))
""",
    "Parquet of Arrow": """pyarrow
import pyarrow as pa, pyarrow.parquet as pq
s = pa.BufferOutputStream()
pq.write_table(pa.table({'a': list(range(9999))}), s)
b = s.getvalue()
t = pq.read_table(pa.BufferReader(b))
----
print(t.equals(pq.read_table(pa.BufferReader(b))), t['a'][5])
""",
    "jax, imported before and used after": """jax
import jax, jax.numpy as jnp
----
print(jax.jit(lambda x: (x @ x).sum())(jnp.ones((50, 50))), jax.devices())
""",
}


def parts(program: str) -> tuple[str, str, str]:
    """Return the module that a program needs, its past and its rest."""
    past, rest = program.split("----\n")
    module, _, past = past.partition("\n")
    if find_spec(module) is None:
        pytest.skip(f"`make test-ml` brings {module}")
    return module, past, rest


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_last_lines_are_answered_from_right_above_them(
    workshop: Workshop, program: str
) -> None:
    _, past, rest = parts(program)
    workshop.write({"data.csv": "a,b\n" + "1,2\n3,4\n" * 40000})

    text = f"{past}{SLOW}{rest}"
    workshop.edit(text, f"{text}print('more')\n")

    line = int(workshop.starts[-1].place.removeprefix("main.py:"))
    assert line > (past + SLOW).count("\n"), workshop.starts


def test_scikit_learn_goes_on_from_before_joblib_makes_a_semaphore(workshop: Workshop) -> None:
    """Two OpenMP runtimes, of torch and of scikit-learn, come after the copy."""
    _, past, rest = parts("""sklearn
import torch, numpy as np
from sklearn.cluster import KMeans
import joblib.externals.loky.backend.context as c; c.physical_cores_cache = 2  # it starts `lscpu`
x = np.random.default_rng(0).random((3000, 5))
t = torch.ones(400, 400)
k = KMeans(4, n_init=1, random_state=0).fit(x).inertia_, (t @ t).sum()
----
print(k, (t @ t).sum(), KMeans(5, n_init=1, random_state=0).fit(x).inertia_)
""")
    text = f"{past}{SLOW}{rest}"

    workshop.edit(text, f"{text}print('more')\n")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            "jax\nimport jax.numpy as jnp\nx = jnp.ones((50, 50)).sum()\n----\nprint(x)\n",
            id="threads of XLA",
        ),
        pytest.param(
            "tokenizers\nfrom tokenizers import Tokenizer, models\n"
            "t = Tokenizer(models.WordLevel({'a': 0, 'b': 1}, unk_token='a'))\n"
            "x = [e.ids for e in t.encode_batch(['a', 'b'] * 50)]\n"
            "----\nprint(x == [e.ids for e in t.encode_batch(['a', 'b'] * 50)])\n",
            id="threads of tokenizers",
        ),
        pytest.param(
            "torch\nimport torch\nf = torch.jit.fork(torch.sin, torch.ones(3))\n"
            "x = torch.jit.wait(f)\n----\nprint(x)\n",
            id="torch's own threads, if it has made any",
        ),
    ],
)
def test_pools_that_do_not_come_back_are_in_no_snapshot(workshop: Workshop, program: str) -> None:
    _, past, rest = parts(program)
    text = f"{past}{SLOW}{rest}"
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": f"{text}print('more')\n"})
    workshop.run()  # it is compared with a cold run, from wherever it starts


def test_tokenizers_without_threads_go_on_from_a_snapshot(workshop: Workshop) -> None:
    program = (
        "tokenizers\nimport os\nos.environ['TOKENIZERS_PARALLELISM'] = 'false'\n"
        "from tokenizers import Tokenizer, models\n"
        "t = Tokenizer(models.WordLevel({'a': 0, 'b': 1}, unk_token='a'))\n"
        "x = [e.ids for e in t.encode_batch(['a', 'b'] * 50)]\n"
        "----\nprint(x == [e.ids for e in t.encode_batch(['a', 'b'] * 50)])\n"
    )
    _, past, rest = parts(program)

    text = f"{past}{SLOW}{rest}"
    workshop.edit(text, f"{text}print('more')\n")


def test_what_is_called_at_the_end_is_called_with_torch_too(workshop: Workshop) -> None:
    if find_spec("torch") is None:
        pytest.skip("`make test-ml` brings torch")
    past = """import atexit, weakref, torch
class Held: pass
held = Held()
weakref.finalize(held, print, "finalized")
library = torch.library.Library("mine", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CPU")
atexit.register(lambda: print("twice", torch.ops.mine.twice(torch.ones(2))))
"""
    done = workshop.edit(f"{past}{SLOW}print(1)\n", f"{past}{SLOW}print(2)\n")

    assert workshop.starts[-1].place.startswith("main.py:")
    assert done.stdout.head(1000).decode().splitlines() == [
        "2",
        "twice tensor([2., 2.])",
        "finalized",
    ]


LEFT = """
import sys
sys.path.insert(0, sys.argv[1])
from whet_stage.forking.exit import leave_registered
import weakref, torch
class Held: pass
held = Held()
mine = weakref.finalize(held, print, "mine")
before = len(weakref.finalize._registry)
leave_registered()
print(before > 100, [each is mine for each in weakref.finalize._registry])
"""


def test_of_what_is_called_at_the_end_only_torchs_own_clearing_up_is_left_out() -> None:
    if find_spec("torch") is None:
        pytest.skip("`make test-ml` brings torch")
    site = str(Path(whet.agent.__file__).parent / "site")
    done = subprocess.run(
        [sys.executable, "-c", LEFT, site], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == ["True [True]", "mine"]


FORK = """
import sys
sys.path.insert(0, sys.argv[1])
from whet_stage.forking import fork_safety
from whet_stage.hiding import atfork
fork_safety.begin()
import os, signal, torch
a = torch.randn(500, 500)
(a @ a).tanh().sum()
if sys.argv[2] == "paused":
    assert not fork_safety.blocker(bool)[0]
if not (pid := atfork.fork()):
    signal.alarm(5)
    (a @ a).tanh().sum()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.parametrize(("how", "end"), [("paused", "0"), ("as it is", str(-signal.SIGALRM))])
def test_a_copy_hangs_in_its_first_parallel_region_without_the_pause(how: str, end: str) -> None:
    if find_spec("torch") is None:
        pytest.skip("`make test-ml` brings torch")
    site = str(Path(whet.agent.__file__).parent / "site")
    done = subprocess.run(
        [sys.executable, "-c", FORK, site, how],
        capture_output=True, text=True, check=True, start_new_session=True,
    )  # fmt: skip

    assert done.stdout.strip() == end
