"""`whet tiny` on published architectures, and the failures whose dimension it names.

    python -m benchmarks.small.tiny [--only models|failures]

It runs in an environment with torch and transformers. Weights are random; nothing is downloaded. A model is
made from the sizes that are written down in `references.py`. Beside it stands what the defaults of its
class would have got wrong: fields that are no dimensions, and that whet keeps.
"""

import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import whet.agent.tiny
from benchmarks.small.references import ARCHITECTURES, UNSEEN, UNSEEN_LATER, Reference
from benchmarks.table import print_table
from whet.core.text.record import integer, records, rows, text, whole
from whet.host.python.asked_python import AskedPython

PROGRAMS = Path(__file__).parents[2] / "specimens" / "small_worlds"
WORKER = Path(whet.agent.tiny.__file__).with_name("worker.py")
MOST_SHOWN = 4
_WHET = (sys.executable, "-m", "whet")

GPT2: Mapping[str, object] = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12,
    "n_head": 12, "n_positions": 1024, "vocab_size": 50257, "bos_token_id": 50256,
    "eos_token_id": 50256,
}  # fmt: skip
GROUPED: Mapping[str, object] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 768,
    "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12,
    "num_key_value_heads": 4, "vocab_size": 32000,
}  # fmt: skip
MIXED: Mapping[str, object] = {
    "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 512,
    "moe_intermediate_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 4, "head_dim": 64, "num_experts": 64, "num_experts_per_tok": 2,
    "vocab_size": 15000,
}  # fmt: skip
FAILURES = {
    "third_head.py": GPT2, "grouped_keys.py": GROUPED, "long_position.py": GPT2,
    "idle_expert.py": MIXED, "lost_ties.py": GPT2,
}  # fmt: skip
"""Each program with a reference of about 125 million parameters."""


_LOADED = """
import runpy, statistics, sys, time

program, large, small = sys.argv[1:]

def seconds(folder):
    sys.argv = [program, folder]
    started = time.perf_counter()
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception:
        return time.perf_counter() - started
    raise SystemExit(f"{program} doesn't fail on {folder}")

seconds(small)
for folder in (large, small):
    print(statistics.median(seconds(folder) for _ in range(5)))
"""
"""Runs a program on each model when its libraries are there already."""

_LOADS = re.compile(r"^model = .*$", re.MULTILINE)
_WARM = re.compile(r"whet: warm ([\d.]+) (ms|s) ")
SAVES = 5


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=("models", "failures"))
    only = parser.parse_args().only
    if only != "failures":
        models("Twenty architectures, made tiny", ARCHITECTURES)
        models("Architectures that were tried when these worked", (*UNSEEN, *UNSEEN_LATER))
    if only != "models":
        failures()


def models(title: str, references: Sequence[Reference]) -> None:
    """Make each model tiny, in one interpreter that has its libraries loaded."""
    lines: list[list[str]] = []
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with (
        tempfile.TemporaryDirectory() as place,
        AskedPython(sys.executable, WORKER, cwd=Path(place), environment=environment) as python,
    ):
        _asked(python, references[0], place)  # loads the libraries
        for reference in references:
            started = time.perf_counter()
            answer = _asked(python, reference, place)
            lines.append(
                [reference.name, *_cells(reference, answer, time.perf_counter() - started)]
            )
    header = ["model", "seconds", "parameters", "of", "checks", "wrong in class defaults"]
    print_table(title, header, lines)


def _asked(python: AskedPython, reference: Reference, place: str) -> dict[str, object]:
    request = {
        "task": "make", "model": reference.config, "settings": dict(reference.settings),
        "params": None, "output": str(Path(place, reference.name.replace("/", "-"))),
    }  # fmt: skip
    return python.ask(request)


def _cells(reference: Reference, answer: Mapping[str, object], seconds: float) -> list[str]:
    if "refused" in answer:
        return [f"{seconds:.2f}", "", "", text(answer, "message")[:60], ""]
    failed = [text(each, "name") for each in records(answer, "checks") if each["state"] == "failed"]
    checked = [each for each in records(answer, "checks") if each["state"] == "ok"]
    changed = {str(name) for name, _, _ in rows(answer["changes"], 3)}
    wrong = wrong_in_defaults(reference, changed)
    return [
        f"{seconds:.2f}",
        f"{integer(answer, 'params'):,}",
        f"{integer(answer, 'reference_params') / 1e6:,.0f} M",
        f"failed: {', '.join(failed)}" if failed else f"{len(checked)} ok",
        ", ".join(wrong[:MOST_SHOWN]) + (f" and {len(wrong) - MOST_SHOWN}" if len(wrong) > MOST_SHOWN else ""),
    ]  # fmt: skip


def wrong_in_defaults(reference: Reference, changed: set[str]) -> list[str]:
    """Return the fields that aren't dimensions in which the defaults of a class differ from the model."""
    transformers = importlib.import_module("transformers")
    fields = importlib.import_module("whet.agent.tiny.fields")
    config = getattr(transformers, reference.config)
    found = fields.differences(config().to_dict(), config(**reference.settings).to_dict())
    return [name for name, _, _ in found if name not in changed]


def failures() -> None:
    """Search the dimension that each planted failure needs, from a reference of 125 million parameters."""
    lines: list[list[str]] = []
    for program, config in FAILURES.items():
        with tempfile.TemporaryDirectory() as place:
            Path(place, "reference").mkdir()
            Path(place, "reference", "config.json").write_text(json.dumps(config))
            lines.append([program, *_searched(place, program)])
    header = [
        "failure", "needs", "runs", "search s", "parameters", "reference s", "tiny s",
        "loaded: reference s", "tiny s", "times", "whet loop: reference s", "tiny s", "of a cold reference",
    ]  # fmt: skip
    print_table("Planted failures", header, lines)


def _searched(place: str, program: str) -> list[str]:
    command = [sys.executable, str(PROGRAMS / program)]
    environment = {**os.environ, "XDG_STATE_HOME": place}
    started = time.perf_counter()
    done = subprocess.run(
        [*_WHET, "tiny", "reference", "-o", "small", "--json", "--", *command, "{}"],
        cwd=place, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    if done.returncode:
        return [done.stderr.strip().splitlines()[0], *[""] * 11]
    answer = json.loads(done.stdout)
    needed = ", ".join(f"{name} {whole(value)}" for name, value in answer["needed"].items())
    folders = (str(_full_size(place)), f"{place}/small")
    reference, tiny = ([_seconds([*command, folder]) for _ in range(2)][-1] for folder in folders)
    loaded = subprocess.run(
        [sys.executable, "-c", _LOADED, command[-1], *folders],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    large, small = map(float, loaded.stdout.split())
    warm_large, warm_small = (_warm_seconds(place, program, folder) for folder in folders)
    return [
        needed or "nothing", str(answer["runs"]), f"{seconds:.0f}", f"{answer['params']:,}",
        f"{reference:.1f}", f"{tiny:.1f}",
        f"{large:.2f}", f"{small:.2f}", f"{large / small:.0f}",
        f"{warm_large:.2f}", f"{warm_small:.2f}", f"{reference / warm_small:.0f}",
    ]  # fmt: skip


def _warm_seconds(place: str, program: str, folder: str) -> float:
    """Return how long `whet loop` takes after an edit below the line that loads the model."""
    script = Path(place, program)
    source = (PROGRAMS / program).read_text()
    script.write_text(source)
    seconds: list[float] = []
    with subprocess.Popen(
        [*_WHET, "loop", "--verify", "off", "--runs", str(SAVES + 1), "--", sys.executable, program, folder],
        cwd=place, env={**os.environ, "XDG_STATE_HOME": place}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as loop:  # fmt: skip
        for line in loop.stdout or ():
            if not line.startswith(("whet: cold", "whet: warm")):
                continue
            if found := _WARM.match(line):
                seconds.append(float(found[1]) / (1000 if found[2] == "ms" else 1))
            edited = f"\\g<0>\nedits = {len(seconds) + 1}"
            script.write_text(_LOADS.sub(edited, source))
    return statistics.median(seconds)


def _full_size(place: str) -> Path:
    """Return a folder with the reference and random weights."""
    folder = Path(place, "full")
    if not folder.exists():
        transformers = importlib.import_module("transformers")
        config = transformers.AutoConfig.from_pretrained(f"{place}/reference")
        name = config.architectures[0]
        getattr(transformers, name)(config).save_pretrained(folder)
    return folder


def _seconds(command: Sequence[str]) -> float:
    """Return how long a command takes, the import of its libraries included."""
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
