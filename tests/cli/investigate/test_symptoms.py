"""What `whet investigate` says of symptoms whose cause the failure itself does not name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow
SYMPTOMS = Path(__file__).parents[3] / "specimens" / "symptoms"
PYTHON = sys.executable


def investigated(whet: Whet, program: str) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Return the clues, and the whole answer."""
    shutil.copy(SYMPTOMS / program, whet.folder)
    said = whet("investigate", "--json", "--", PYTHON, program)
    assert said.stdout, said.stderr
    answer: dict[str, object] = json.loads(said.stdout)
    clues = answer["clues"]
    assert isinstance(clues, list)
    return clues, answer


def _with_packages(folder: Path) -> str:
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def line_of(program: str, text: str) -> int:
    lines = (SYMPTOMS / program).read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


def test_the_line_that_made_the_first_nan_is_named_with_what_it_was_made_of(whet: Whet) -> None:
    pytest.importorskip("numpy")
    (first, *_), _ = investigated(whet, "no_number.py")

    assert first["line"] == line_of("no_number.py", "return (table")
    assert "`spread`: 3, from 0 to" in str(first["trail"])


@pytest.mark.long
def test_what_a_gpu_would_tell_is_said_where_there_is_none(whet: Whet) -> None:
    clues, _ = investigated(whet, "cuda_error.py")

    said = " ".join(str(each["says"]) for each in clues)
    assert "whet couldn't test cuda-sync and cpu" in said
    assert "`whet toggle cuda-sync cpu`" in said


@pytest.fixture
def late_errors(whet: Whet) -> Whet:
    """Return a folder with a program whose GPU reports its errors late."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    shutil.copytree(SYMPTOMS.parent / "late_errors", whet.folder, dirs_exist_ok=True)
    library = str(whet.folder / "libcuda.so.1")
    subprocess.run([compiler, "-shared", "-o", library, "-x", "c", os.devnull], check=True)
    paths = _with_packages(whet.folder / "site-packages")
    whet.environment.update({"LD_LIBRARY_PATH": str(whet.folder), "PYTHONPATH": paths})
    return whet


@pytest.mark.long
def test_an_error_that_a_gpu_reports_late_is_named_where_it_happens(late_errors: Whet) -> None:
    said = late_errors("investigate", "--json", "--", PYTHON, "score.py")
    (cause, *others) = json.loads(said.stdout)["clues"]

    assert cause["line"] == 7
    assert "is raised at score.py:7 in `embed`" in cause["says"]
    assert 'a kernel\'s check failed: `ind < size && "index out of bounds"`' in cause["says"]
    assert "it is reported only at score.py:15" in cause["says"]
    assert "No CUDA GPUs" not in str(others)


@pytest.mark.long
def test_a_switch_that_does_not_move_the_error_is_turned_once(late_errors: Whet) -> None:
    steady = "raise RuntimeError('CUDA error: out of resources')\n"
    late_errors.write("score.py", f"import gpu\n\n{steady}")
    late_errors("investigate", "--", PYTHON, "score.py")

    log = json.loads(late_errors("log", "--all", "--json").stdout)["trials"]
    turned = [each for each in log if "CUDA_LAUNCH_BLOCKING" in str(each["spec"])]
    assert len(turned) == 1, turned


@pytest.mark.long
def test_a_program_that_insists_on_a_gpu_says_nothing_clearer_without_one(
    late_errors: Whet,
) -> None:
    said = late_errors("toggle", "--json", "cuda-sync", "cpu", "--", PYTHON, "score.py")
    turned = {each["name"]: each["effect"] for each in json.loads(said.stdout)["toggles"]}

    assert turned == {"cuda-sync": "clearer", "cpu": "different"}


@pytest.mark.long
def test_a_nan_made_of_an_infinite_number_is_led_back_to_what_made_that(whet: Whet) -> None:
    pytest.importorskip("numpy")
    whet.write(
        "main.py",
        "import numpy as np\n\n\ndef energy(x):\n    return (x * x).sum(axis=1)\n\n\n"
        "e = energy(np.full((4, 4), 300, dtype='float16'))\ne = e / e.max()\n"
        "if np.isnan(e).any():\n    raise ValueError('energies are not numbers')\n",
    )
    said = whet("investigate", "--json", "--", PYTHON, "main.py")
    clues = json.loads(said.stdout)["clues"]

    (led_back,) = [each for each in clues if each["line"] == 5]
    assert "made at main.py:9 (`e / e.max()`), of `e`, which was infinite" in led_back["says"]


_DECORATED = """
def logged(function):
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@logged
@logged
def area(box, scale):
    return box["w"] * scale


def find(boxes, name):
    for box in boxes:
        if box["name"] == name:
            return box


chosen = find([{"name": "a", "w": 1}], "b")
print(area(CALL))
"""


@pytest.mark.long
@pytest.mark.parametrize("call", ["chosen, 2", "scale=2, box=chosen"])
def test_a_bad_value_is_led_back_through_decorators_that_pass_their_arguments_on(
    whet: Whet, call: str
) -> None:
    whet.write("main.py", _DECORATED.replace("CALL", call))
    said = whet("investigate", "--json", "--", PYTHON, "main.py")
    (cause, *_) = json.loads(said.stdout)["clues"]

    assert cause["sureness"] == "seen"
    assert "`find` at main.py:15 ended after line 16 without returning a value" in cause["says"]


_MEAN = """
def keep(rows, least):
    return [row for row in rows if row["score"] > least]


def mean(values):
    return sum(values) / len(values)


for rows in ([{"score": 12}], [{"score": 3}, {"score": 9}]):
    print(mean([row["score"] for row in keep(rows, 10)]))
"""
_MAPPED = """
from functools import partial


def scale(factor, row):
    return row["value"] * factor


run = partial(scale, {"m": 1.0}.get("mm"))
print(list(map(run, [{"value": 250}])))
"""


def test_a_mean_of_nothing_is_led_back_to_what_left_all_out(whet: Whet) -> None:
    whet.write("main.py", _MEAN)
    said = whet("investigate", "--json", "--", PYTHON, "main.py")
    (cause, *_) = json.loads(said.stdout)["clues"]

    assert (cause["line"], cause["sureness"]) == (3, "seen")
    assert "`values` is empty at main.py:7. It was made at main.py:3" in cause["says"]
    assert '`row["score"] > least` at main.py:3 was false all 2 times' in cause["says"]


@pytest.mark.long
def test_beside_a_none_that_is_not_known_the_number_is_not_the_cause(whet: Whet) -> None:
    whet.write(
        "main.py",
        "edges = {'a': [('b', 2)], 'b': [('c', None)]}\ntotal = 0\n"
        "for a, b in ('ab', 'bc'):\n    total += dict(edges[a])[b]\n",
    )
    said = whet("investigate", "--json", "--", PYTHON, "main.py")

    clues = json.loads(said.stdout)["clues"]
    about_total = [each for each in clues if "`total` is" in each["says"]]
    assert {each["sureness"] for each in about_total} <= {"possible"}
    assert "of type int" not in said.stdout


_FORGOTTEN = """
def price(row):
    if row["unit"] == "kg":
        return row["value"] * 2


prices = []
for unit in UNITS:
    prices.append(price({"unit": unit, "value": 3}))
print(max(prices) + sum(prices))
"""


@pytest.mark.long
@pytest.mark.parametrize("units", ["['kg', 'lb']", "['lb', 'lb', 'lb']", "['kg', 'lb', 'kg']"])
def test_a_none_among_what_is_added_or_compared_is_led_back_to_its_function(
    whet: Whet, units: str
) -> None:
    whet.write("main.py", _FORGOTTEN.replace("UNITS", units))
    said = whet("investigate", "--json", "--", PYTHON, "main.py")
    (cause, *_) = json.loads(said.stdout)["clues"]

    assert cause["sureness"] == "seen"
    assert "is None at main.py:10" in cause["says"]
    assert "`price` at main.py:2 ended after line 3 without returning a value" in cause["says"]


@pytest.mark.long
def test_where_the_way_of_the_bad_value_is_not_known_its_neighbour_is_not_blamed(
    whet: Whet,
) -> None:
    whet.write("main.py", _MAPPED)
    said = whet("investigate", "--json", "--", PYTHON, "main.py")

    assert "of type int" not in said.stdout


_ARRAYS = """
class ndarray:
    def __init__(self, device):
        self.shape, self.dtype, self.device = (4,), "float32", device

    def __mul__(self, other):
        if self.device != other.device:
            raise RuntimeError(f"two devices, {self.device} and {other.device}")
        return self
"""


@pytest.mark.long
def test_of_arrays_on_two_devices_the_odd_one_is_named_with_the_line_that_made_it(
    whet: Whet, tmp_path: Path
) -> None:
    package = tmp_path / "site-packages" / "cupy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_ARRAYS)
    whet.write(
        "main.py",
        "import cupy\n\nx = cupy.ndarray('cuda:0')\ny = cupy.ndarray('cuda:0')\n"
        "scale = cupy.ndarray('cpu')\nprint((x * y) * scale)\n",
    )
    environment = {"PYTHONPATH": _with_packages(package.parent)}
    said = whet("investigate", "--json", "--", PYTHON, "main.py", environment=environment)
    (cause, *_) = json.loads(said.stdout)["clues"]

    assert cause["line"] == 5
    assert "is on cpu (" in cause["says"]


@pytest.mark.long
def test_what_works_under_a_tracer_is_told_with_who_asks_for_one(whet: Whet) -> None:
    clues, _ = investigated(whet, "works_when_watched.py")

    (last,) = clues[-1:]
    assert "passed in each of 4 instrumented runs" in str(last["says"])
    assert last["line"] == line_of("works_when_watched.py", "sys.gettrace()")


@pytest.mark.long
def test_what_hangs_on_the_order_of_a_set_is_held_by_its_seed_to_the_end(whet: Whet) -> None:
    whet.write("main.py", 'first = next(iter({"load", "clean"}))\nassert first == "load"\n')
    tries = (whet("investigate", "--json", "--", PYTHON, "main.py") for _ in range(20))
    answers = (json.loads(said.stdout) for said in tries if said.stdout)
    # Three runs that agree are no flaky failure.
    answer = next(each for each in answers if not each["reproduction"]["is_deterministic"])

    assert "at main.py:1 is a set, and its order decides" in answer["clues"][0]["says"]
    assert "it fails every time" in answer["clues"][1]["says"]
    assert "PYTHONHASHSEED=" in answer["clues"][1]["says"]
    assert "PYTHONHASHSEED=" in (whet.folder / "whet-report" / "reproduce.sh").read_text()


@pytest.mark.long
def test_cuda_that_was_started_before_a_fork_is_named_with_both_lines(whet: Whet) -> None:
    shutil.copytree(SYMPTOMS / "forked", whet.folder, dirs_exist_ok=True)
    whet.environment["PYTHONPATH"] = _with_packages(whet.folder / "site-packages")

    said = whet("investigate", "--json", "--", PYTHON, "score.py")

    cause, *_ = json.loads(said.stdout)["clues"]
    assert cause["sureness"] == "shown", cause
    assert (
        "CUDA doesn't survive a fork: score.py:13 starts it, and score.py:14 forks" in cause["says"]
    )
    assert "with `spawn`" in cause["says"]
    assert "num_workers=0" in cause["next_step"]


@pytest.mark.long
def test_results_that_always_arrive_in_the_wrong_order_are_named_with_the_line_that_collects_them(
    whet: Whet,
) -> None:
    clues, _ = investigated(whet, "slow_first.py")
    shown = [each for each in clues if each["sureness"] == "shown"]
    assert shown[0]["line"] == line_of("slow_first.py", "imap_unordered")
    assert "in the order of submission it passes every time" in str(shown[0]["says"])


@pytest.mark.long
def test_of_a_worker_that_its_pool_lost_it_is_told_how_it_ended(whet: Whet) -> None:
    clues, _ = investigated(whet, "lost_worker.py")
    assert "was killed by SIGKILL while its pool still needed it" in str(clues[0]["says"])
    assert clues[0]["sureness"] == "seen"
