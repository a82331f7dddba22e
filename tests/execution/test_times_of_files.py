"""Runs from copies on file systems that tell changes apart less well than others."""

import os
from pathlib import Path

import pytest
from laboratory import Laboratory
from workshop import SLOW, opened

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")


@pytest.mark.slow
@NEEDS_ROOT
@pytest.mark.parametrize("mounted", ["ticks", "whole seconds"], indirect=True)
@pytest.mark.parametrize("name", ["main.py", "data", "module.py"])
def test_files_of_one_size_that_are_saved_in_place_one_after_the_other_are_told_apart(
    mounted: Path, name: str
) -> None:
    texts = {
        "data": "{}",
        "module.py": "number = {}\n",
        "main.py": f"import module\ntext = open('data').read()\n{SLOW}print(module.number, text, {{}})\n",
    }
    with opened(Laboratory(mounted)) as workshop:
        for each, text in texts.items():
            (workshop.folder / each).write_text(text.format(0))
        for number in range(1, 6):
            workshop.run()  # compares with a cold run
            with (workshop.folder / name).open("r+") as file:
                file.write(texts[name].format(number))
        workshop.run()
