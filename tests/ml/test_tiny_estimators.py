"""`whet tiny` on estimators of scikit-learn, and on what functions of a module make."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("sklearn") is None:
    pytest.skip("`make test-ml` brings scikit-learn", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

TRAIN = """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

def table(trees=500):
    return make_pipeline(
        ColumnTransformer([
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age", "pay"]),
            ("town", OneHotEncoder(), ["town"]),
            ("size", OrdinalEncoder(categories=[["s", "m", "l"]]), ["size"]),
            ("text", TfidfVectorizer(max_features=5000), "note"),
        ]),
        RandomForestClassifier(trees, max_depth=20, criterion="entropy", random_state=3, n_jobs=-1),
    )

def search():
    steps = make_pipeline(PCA(50, random_state=0), MLPClassifier((100, 50), activation="tanh", random_state=1))
    grid = {"mlpclassifier__alpha": np.logspace(-4, 0, 5), "mlpclassifier__solver": ["adam", "lbfgs"]}
    return GridSearchCV(steps, grid, cv=10)

def boosting():
    return GradientBoostingRegressor(n_estimators=300, loss="huber")

def split():
    from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier(max_iter=400, max_leaf_nodes=63)

def stuck():
    return make_pipeline(FunctionTransformer(lambda rows: rows), KMeans(12))

def forest():
    return make_pipeline(StandardScaler(), RandomForestClassifier(60, max_depth=9, random_state=0))

class Stern(KMeans):
    def fit(self, X, y=None):
        if self.n_clusters < 5:
            raise ValueError("too few clusters")
        return super().fit(X)

class Never(KMeans):
    def fit(self, X, y=None):
        raise ValueError("never")

def needy(clusters):
    return KMeans(clusters)

def nothing():
    return 3

scaler = StandardScaler()
clusters = KMeans(12, n_init=20)
"""  # fmt: skip

FIT = """
import sys, joblib, numpy
model = joblib.load(sys.argv[1] + "/estimator.joblib")
rows = numpy.random.default_rng(0).random((60, 6))
model.fit(rows, numpy.arange(60) % 2)
assert model[-1].max_depth < 6, "too deep"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-m", "whet", "tiny", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def made(folder: Path, model: str, *words: str) -> dict[str, Any]:
    done = whet(folder, model, "--python", sys.executable, "--json", "-o", "small", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def loaded(folder: Path, line: str) -> str:
    program = "import joblib; small = joblib.load('small/estimator.joblib'); " + line
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_a_pipeline_on_named_columns_keeps_all_but_its_sizes(folder: Path) -> None:
    answer = made(folder, "train:table")

    changes = {each["field"]: (each["reference"], each["tiny"]) for each in answer["changes"]}
    assert changes == {
        "columntransformer__text__max_features": (5000, 2),
        "randomforestclassifier__max_depth": (20, 2),
        "randomforestclassifier__n_estimators": (500, 2),
    }
    assert {each["state"] for each in answer["checks"]} == {"ok"}
    shown = loaded(folder, "f = small[-1]; print(f.criterion, f.random_state, f.n_estimators)")
    assert shown == "entropy 3 2\n"
    assert answer["line"].startswith("table().set_params(columntransformer__text__max_features=2,")


def test_a_search_keeps_kinds_and_tries_fewer_numbers(folder: Path) -> None:
    answer = made(folder, "train:search")

    assert {each["state"] for each in answer["checks"]} == {"ok"}
    assert loaded(folder, "print(small.cv, small.estimator[-1].hidden_layer_sizes)") == "2 (2, 2)\n"
    grid = loaded(folder, "print(small.param_grid['mlpclassifier__solver'])")
    assert grid == "['adam', 'lbfgs']\n"
    assert loaded(folder, "print(len(small.param_grid['mlpclassifier__alpha']))") == "2\n"


@pytest.mark.parametrize(
    "model", ["boosting", "split", "clusters", "Stern", "sklearn.neighbors:KNeighborsRegressor"]
)
def test_other_estimators_pass_their_checks(folder: Path, model: str) -> None:
    name = model if ":" in model else f"train:{model}"
    words = ("--set", "n_clusters=12") if model == "Stern" else ()

    answer = made(folder, name, *words)

    assert {each["state"] for each in answer["checks"]} == {"ok"}
    assert answer["params"] < answer["reference_params"]


def test_a_fit_that_fails_raises_the_size_that_it_needs(folder: Path) -> None:
    made(folder, "train:Stern", "--set", "n_clusters=12")

    assert loaded(folder, "print(small.n_clusters, small.max_iter)") == "8 2\n"


def test_the_pasted_line_makes_the_same_estimator(folder: Path) -> None:
    answer = made(folder, "train:table", "--set", "trees=70")

    program = f"from train import table; print(({answer['line']})[-1].n_estimators)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "table(trees=70)" in answer["line"]
    assert done.stdout == "2\n"


def test_an_estimator_that_cannot_be_pickled_has_its_line(folder: Path) -> None:
    answer = made(folder, "train:stuck")

    states = {each["name"]: each["state"] for each in answer["checks"]}
    assert states["save and load"] == "none"
    assert states["fit"] == states["clone"] == "ok"
    assert [each.name for each in (folder / "small").iterdir()] == ["estimator.json"]


def test_the_size_that_a_failure_needs_is_named(folder: Path) -> None:
    (folder / "fit.py").write_text(FIT)

    done = whet(
        folder, "train:forest", "--json", "-o", "small", "--", sys.executable, "fit.py", "{}"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["needed"] == {"randomforestclassifier__max_depth": 6}
    assert answer["counts"] == "sizes"
    assert loaded(folder, "print(small[-1].max_depth)") == "6\n"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("model.joblib",), 64, "name the function that makes the estimator"),
        (("train:needy",), 64, "`needy` needs `clusters`"),
        (("train:table", "--params", "10k"), 64, "`--params` is for models"),
        (("train:nothing",), 66, "is neither a model nor an estimator"),
        (("train:tabel",), 66, "did you mean `train:table`?"),
        (("train:scaler",), 65, "no parameter of `StandardScaler`"),
        (("train:Never",), 65, "no tiny table was found to which `Never` can be fitted"),
    ],
)
def test_what_is_no_estimator(folder: Path, words: tuple[str, ...], code: int, says: str) -> None:
    (folder / "model.joblib").write_bytes(b"cos\nsystem\n(S'touch run'\ntR.")

    done = whet(folder, *words, "--python", sys.executable)

    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert not (folder / "run").exists()


NETS = """
from torch import nn

class Net(nn.Module):
    def __init__(self, width, layers=3, drop=0.2):
        super().__init__()
        self.width, self.layers, self.drop = width, layers, drop
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, rows):
        for block in self.blocks:
            rows = block(rows)
        return rows

class Silent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

def sized(width=512, layers=4):
    return Net(width, layers, 0.5)

def net():
    return Net(400, 5, 0.3)

def silent():
    return Silent(400)

held = Net(64)
"""


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("sized", {"class": "nets:sized", "arguments": {"width": 16, "layers": 1}}),
        ("net", {"class": "nets:Net", "arguments": {"width": 16, "layers": 1, "drop": 0.3}}),
        ("held", {"class": "nets:Net", "arguments": {"width": 16, "layers": 1, "drop": 0.2}}),
    ],
)
def test_a_function_that_makes_modules_says_their_sizes(
    tmp_path: Path, name: str, saved: dict[str, Any]
) -> None:
    (tmp_path / "nets.py").write_text(NETS)

    made(tmp_path, f"nets:{name}")

    assert json.loads((tmp_path / "small" / "config.json").read_text()) == saved


def test_modules_that_do_not_keep_their_sizes(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)

    done = whet(tmp_path, "nets:silent", "--python", sys.executable)

    assert done.returncode == 65
    assert "`Silent`, which doesn't keep what it was made with: `width`" in done.stderr
    assert "--set width=512" in done.stderr
