"""A value that a program wrote into a file and reads again is followed to the line that wrote it."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

PROGRAM = """\
import json, os, pickle
from pathlib import Path


def save(rows):
    state = {{"names": sorted(rows), "count": len(rows)}}  # made
{write}


def load():
{read}


save(["b", "c", "a"])
names = load()["names"]
assert names[0] == "b", names
"""
JSON = ("with open('state', 'w') as file:\n    json.dump(state, file)",
        "with open('state') as file:\n    return json.load(file)")  # fmt: skip
PICKLE = ("with open('state', 'wb') as file:\n    file.write(pickle.dumps(state))",
          "with open('state', 'rb') as file:\n    return pickle.loads(file.read())")  # fmt: skip
MOVED = ("with open('state.new', 'w') as file:\n    json.dump(state, file)\nos.replace('state.new', 'state')",
         JSON[1])  # fmt: skip
WHOLE = ("Path('state').write_text(json.dumps(state))", "return json.loads(Path('state').read_text())")  # fmt: skip
OTHER = (JSON[0] + "\nwith open('other', 'w') as file:\n    file.write('{\"names\": [\"x\"]}')",
         "with open('other') as file:\n    return json.load(file)")  # fmt: skip
TWO = ("with open('state', 'w') as file:\n    file.write('{\"names\": ')\n    file.write('[\"a\"]}')", JSON[1])  # fmt: skip
ADDED = ("Path('log').unlink(missing_ok=True)\nwith open('log', 'a') as file:\n    json.dump(state, file)",
         "with open('log') as file:\n    return json.load(file)")  # fmt: skip
CHILD = (JSON[0] + """\nos.system("sed -i 's/\\"a\\"/\\"z\\"/' state")""", JSON[1])


def told(folder: Path, write: str, read: str) -> tuple[str, set[str]]:
    """Return the program and the places of all that is told of its failure."""

    def inside(text: str) -> str:
        return "\n".join(f"    {line}" for line in text.splitlines())

    program = PROGRAM.format(write=inside(write), read=inside(read))
    found = clues(folder, program)
    return program, {step.place for each in found for step in each.trail} | {
        f"{each.path}:{each.line}" for each in found
    }


@pytest.mark.parametrize(
    "how", [JSON, MOVED, PICKLE, WHOLE], ids=["json", "moved", "bytes", "text"]
)
def test_what_is_read_back_comes_from_the_line_that_made_it(
    tmp_path: Path, how: tuple[str, str]
) -> None:
    program, places = told(tmp_path, *how)
    assert any(each.endswith(f":{line_of(program, '# made')}") for each in places), places


@pytest.mark.parametrize(
    "how", [OTHER, TWO, ADDED, CHILD], ids=["other file", "two parts", "added", "another process"]
)
def test_what_was_written_elsewhere_in_parts_or_by_others_is_not_what_is_read(
    tmp_path: Path, how: tuple[str, str]
) -> None:
    program, places = told(tmp_path, *how)
    assert not any(each.endswith(f":{line_of(program, '# made')}") for each in places), places
