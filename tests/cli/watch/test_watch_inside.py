"""Panels on what is inside a program: allocators (of libraries in its own folder), and sections."""

import json
import sys
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

TORCH = """\
class cuda:
    held = 1_000_000
    @staticmethod
    def is_initialized(): return True
    @staticmethod
    def device_count(): return 2
    @classmethod
    def memory_allocated(cls, device): return cls.held
    @classmethod
    def memory_reserved(cls, device): return 2 * cls.held
class version:
    cuda = {cuda}
"""
INSTALLED = "PYTHONPATH=site-packages"
USES = """\
import sys, time
import torch
assert "whet_levels" not in sys.modules
for step in range(40):
    torch.cuda.held += 1_000_000
    time.sleep(0.05)
"""


def panels_of(whet: Whet, *words: str) -> list[dict[str, Any]]:
    said = whet("watch", "--interval", "0.2", "--json", *words)
    assert said.code == 0, said.stderr
    return [
        panel for line in said.stdout.splitlines() for panel in json.loads(line).get("panels", ())
    ]


def test_what_torch_holds_on_gpus_is_seen_from_inside(whet: Whet) -> None:
    whet.write("site-packages/torch.py", TORCH.format(cuda="'12.8'"))
    whet.write("use.py", USES)
    panels = panels_of(whet, "torch", "--env", INSTALLED, "--", sys.executable, "use.py")
    levels = [panel["numbers"]["torch.allocated"] for panel in panels if panel["numbers"]]
    assert levels == sorted(levels)
    assert levels[-1] > levels[0] >= 2_000_000
    assert any("reserved" in panel.get("detail", "") for panel in panels)


def test_a_torch_without_gpus_has_no_figures_and_that_is_said(whet: Whet) -> None:
    whet.write("site-packages/torch.py", TORCH.format(cuda="None"))
    whet.write("use.py", USES)
    panels = panels_of(whet, "torch", "--env", INSTALLED, "--", sys.executable, "use.py")
    reasons = {panel.get("reason", "") for panel in panels}
    assert any("built without CUDA" in each and "`memory`" in each for each in reasons)


def test_sections_are_seen_as_they_happen(whet: Whet) -> None:
    whet.write(
        "parts.py",
        "import time, whet\n"
        "for part in range(2):\n    with whet.section('load'): time.sleep(0.1)\n"
        "with whet.section('train'): time.sleep(1.5)\n",
    )
    panels = panels_of(whet, "sections", "--", sys.executable, "parts.py")
    assert any("in train" in panel.get("headline", "") for panel in panels)
    rows = {row[-1]: row[0] for panel in panels for row in panel.get("table", ())[1:]}
    assert rows["load"] == "2"
