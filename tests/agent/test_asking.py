"""What asks a Python for a module: nothing of the project runs for it."""

import json
import subprocess
import sys
from pathlib import Path

from whet.agent import site

_ASKING = Path(*site.__path__) / "whet_where.py"


def test_no_module_of_the_project_stands_in_for_one_that_the_asking_needs(tmp_path: Path) -> None:
    names = sorted(sys.stdlib_module_names)
    for name in names:
        (tmp_path / f"{name}.py").write_text("print('ran', __name__)\n")
    request = {
        "module": "queue", "attributes": ["missing"], "split": False, "imports": False,
        "first": str(tmp_path),
    }  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-S", str(_ASKING), json.dumps(request)],
        cwd=tmp_path, env={"PYTHONPATH": _with_packages()}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert not done.stdout.startswith("ran"), done.stdout[:99]
    told = json.loads(done.stdout)
    assert told["file"] == str(tmp_path / "queue.py")
    assert len(told["shadowing"]) == len([name for name in names if name[0] != "_"])


def _with_packages() -> str:
    return next(each for each in sys.path if each.endswith("site-packages"))
