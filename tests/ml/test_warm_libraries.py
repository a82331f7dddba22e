"""Programs with libraries that have threads of their own run on from a snapshot as from the start."""

from importlib.util import find_spec

import pytest
from workshop import SLOW, Workshop

pytestmark = pytest.mark.ml

# Each: what comes before the snapshot, what comes after it, and what it needs.
PROGRAMS = {
    "numpy: products before and after (OpenBLAS)": (
        "numpy",
        "import numpy as np\na = np.random.default_rng(1).random((600, 600))\nx = (a @ a).sum()",
        "print(x, (a @ a @ a).sum(), np.linalg.svd(a[:99, :99])[1][:3])",
    ),
    "numpy: its old random state": (
        "numpy",
        "import numpy as np\nnp.random.seed(3)\nnp.random.rand(5)",
        "print(np.random.rand(3))",
    ),
    "torch: products before and after (OpenMP)": (
        "torch",
        "import torch\ntorch.manual_seed(0)\na = torch.randn(500, 500)\nx = (a @ a).tanh().sum()",
        "print(x, (a @ a).tanh().sum(), torch.randn(2), torch.get_num_threads())",
    ),
    "torch: training before and after (autograd)": (
        "torch",
        "import torch\ntorch.manual_seed(0)\nm = torch.nn.Linear(300, 300)\n"
        "o = torch.optim.AdamW(m.parameters())\n"
        "def step():\n    loss = m(torch.ones(200, 300)).square().mean()\n"
        "    o.zero_grad(); loss.backward(); o.step()\n    return loss.item()\n"
        "x = [step() for _ in range(3)]",
        "print(x, [step() for _ in range(3)])",
    ),
    "torch: workers that load data": (
        "torch",
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "torch.manual_seed(0)\na = torch.randn(300, 300)\nx = (a @ a).sum()\n"
        "d = TensorDataset(torch.arange(20.0))",
        "l = DataLoader(d, batch_size=5, shuffle=True, num_workers=2)\n"
        "print(x, [b[0].tolist() for b in l], (a @ a).sum())",
    ),
    "transformers: a small Llama, forward and backward": (
        "transformers",
        "import torch\nfrom transformers import LlamaConfig, LlamaForCausalLM\ntorch.manual_seed(0)\n"
        "m = LlamaForCausalLM(LlamaConfig(vocab_size=99, hidden_size=64, intermediate_size=96,\n"
        "    num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4))\n"
        "t = torch.arange(60).reshape(2, 30)\nm(t, labels=t).loss.backward()",
        "print(m(t, labels=t).loss, m.lm_head.weight.grad.norm())\nm(t, labels=t).loss.backward()",
    ),
    "pandas: a file that is read": (
        "pandas",
        "import pandas as pd\nd = pd.read_csv('data.csv')",
        "print(d.groupby('b').a.sum(), pd.read_csv('data.csv').describe())",
    ),
    "pandas: strings of Arrow": (
        "pandas",
        "import pandas as pd\nd = pd.Series(['a', 'b', None] * 20000, dtype='string')\n"
        "x = d.str.upper().value_counts()",
        "print(x, d.str.len().sum(), d.sort_values().head())",
    ),
    "pyarrow: files read by its threads": (
        "pyarrow",
        "import pyarrow.csv, pyarrow.compute as pc\nt = pyarrow.csv.read_csv('data.csv')\n"
        "x = pc.sum(t['a'])",
        "u = pyarrow.csv.read_csv('data.csv')\nprint(x, u.sort_by('a')[:3], t.equals(u),\n"
        "    u.group_by('b').aggregate([('a', 'sum')]).sort_by('b'), pyarrow.cpu_count())",
    ),
    "pyarrow: a table that is written and read as Parquet": (
        "pyarrow",
        "import pyarrow as pa, pyarrow.parquet as pq\n"
        "pa.BufferOutputStream\ns = pa.BufferOutputStream()\n"
        "pq.write_table(pa.table({'a': list(range(9999))}), s)\n"
        "b = s.getvalue()\nt = pq.read_table(pa.BufferReader(b))",
        "print(t.equals(pq.read_table(pa.BufferReader(b))), t['a'][5])",
    ),
    "scikit-learn: fits before and after (OpenMP of its own)": (
        "sklearn",
        "import numpy as np\nfrom sklearn.cluster import KMeans\n"
        "from sklearn.ensemble import HistGradientBoostingRegressor as H\n"
        "x = np.random.default_rng(0).random((3000, 5))\n"
        "k = KMeans(4, n_init=1, random_state=0).fit(x).inertia_\n"
        "h = H(max_iter=5, random_state=0).fit(x, x[:, 0]).score(x, x[:, 0])",
        "print(k, h, KMeans(5, n_init=1, random_state=0).fit(x).inertia_,\n"
        "    H(max_iter=6, random_state=0).fit(x, x[:, 0]).score(x, x[:, 0]))",
    ),
    "torch beside scikit-learn: two OpenMP runtimes": (
        "sklearn",
        "import torch, numpy as np\nfrom sklearn.cluster import KMeans\n"
        "x = np.random.default_rng(0).random((3000, 5))\nt = torch.ones(400, 400)\n"
        "k = KMeans(4, n_init=1, random_state=0).fit(x).inertia_, (t @ t).sum()",
        "print(k, (t @ t).sum(), KMeans(5, n_init=1, random_state=0).fit(x).inertia_)",
    ),
    "jax: imported before, used after": (
        "jax",
        "import jax, jax.numpy as jnp",
        "f = jax.jit(lambda x: (x @ x).sum())\nprint(f(jnp.ones((50, 50))), jax.devices())",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_lines_are_answered_warm(workshop: Workshop, name: str) -> None:
    module, past, rest = PROGRAMS[name]
    if find_spec(module) is None:
        pytest.skip(f"`make test-ml` brings {module}")
    workshop.write({"data.csv": "a,b\n" + "1,2\n3,4\n" * 40000})

    text = f"{past}\n{SLOW}{rest}\n"
    workshop.edit(text, f"{text}print('more')\n")

    lines = past.count("\n") + SLOW.count("\n") + 2
    assert workshop.starts[-1].place == f"main.py:{lines}", "not from the last snapshot before"
