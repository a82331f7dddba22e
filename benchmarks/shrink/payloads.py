"""Makes the files of the shrink benchmark: the same bytes each time.

Each has one cause of failure, often of two parts, far inside much that has nothing to do with it.
"""

import csv
import html.entities
import io
import json
import random
import re
import struct
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "specimens" / "shrink"
ORACLES = ROOT / "benchmarks" / ".venv-oracles"
"""The environment of the programs, with pinned releases."""

_WORDS = (
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper",
)  # fmt: skip
_CURRENCIES = ("EUR", "USD", "GBP")
_STAGES = ("build", "test", "package", "deploy")

_CIRCLE = {60: ["job-200"], 130: ["job-060"], 200: ["job-130"]}
_WRONG_REFUND = 9_182
_GREEDY_SALES = (211, 477)
_MASKED_ROW = 77
_BROKEN_LAYER = 3
_PLUGIN_OFF, _SERVICE = 17, 21


_BUNDLE_HEAD = """\
"use strict";
var __commonJS = (cb, mod) => function __require() {
  return mod || (0, cb[Object.keys(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
};"""
_BUNDLE_TAIL = """\
var semver = require_index();
var releases = ["1.2.3", "1.4.0-beta.2", "2.0.0", "2.1.7", "3.0.0-rc.1", "4.x"];
function newest(list, range) {
  const valid = list.filter((each) => semver.valid(each));
  const found = semver.maxSatisfying(valid, range, { includePrerelease: true });
  return semver.parse(found, {}, true);
}
for (const range of [">=1.2.0 <2", "^2.1", "~3.0.0-0", ">=9"]) {
  const best = newest(releases, range);
  console.log(range, best.major, best.version);
}
"""


def module() -> bytes:
    """Return a module of the standard library that has a backslash in an f-string."""
    code = "import xml.dom.minidom as m; print(m.__file__)"
    words = [str(ORACLES / "bin" / "python"), "-c", code]
    found = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return Path(found.strip()).read_bytes()


def preprocessed() -> bytes:
    """Return a C program with all its headers in it."""
    words = ["gcc", "-E", "-P", str(PROGRAMS / "worker.c")]
    return subprocess.run(words, check=True, capture_output=True).stdout


def manifest() -> bytes:
    """Return a description of services as nested JSON; one list deep inside is of two kinds."""
    luck = random.Random(1)
    lists: list[list[object]] = []

    def schema(depth: int) -> dict[str, object]:
        fields: dict[str, object] = {}
        for name in luck.sample(_WORDS, 3):
            field: dict[str, object] = {"title": name.title(), "required": bool(luck.randrange(2))}
            if depth:
                field["properties"] = schema(depth - 1)
            else:
                lists.append([luck.randrange(100) for _ in range(3)])
                field["enum"] = lists[-1]
            fields[name] = field
        return fields

    services = {f"{each}-service": {"version": 1, "schema": schema(3)} for each in _WORDS[:3]}
    lists[len(lists) * 3 // 4][1] = {"label": "other", "value": 9}
    return json.dumps({"openapi": "3.1.0", "services": services}, indent=2).encode()


def pipeline() -> bytes:
    """Return a pipeline of many jobs, of which three need each other in a circle."""
    luck = random.Random(2)
    lines = ["# The nightly pipeline.", "stages: [build, test, package, deploy]", "", "jobs:"]
    for number in range(240):
        stage = _STAGES[number // 60]
        needs = sorted({f"job-{luck.randrange(number):03}" for _ in range(3)}) if number else []
        needs += _CIRCLE.get(number, [])
        lines += [
            f"  job-{number:03}:  # owned by the {luck.choice(_WORDS)} team",
            f"    stage: {stage}",
            "    image: " + luck.choice(("python:3.11-slim", "debian:12", "'node:22'")),
            "    variables:",
            f"      LEVEL: {luck.randrange(9)}",
            f'      LABEL: "{luck.choice(_WORDS)} {luck.choice(_WORDS)}"',
            "    script:",
            f"      - make {stage}-{luck.choice(_WORDS)}",
            f"      - ./report --id {number}",
        ]
        if needs:
            lines.append("    needs: [" + ", ".join(needs) + "]")
    return ("\n".join(lines) + "\n").encode()


def orders() -> bytes:
    """Return 12,000 rows, one of which refunds another in another currency."""
    luck = random.Random(3)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["id", "kind", "of", "currency", "amount", "day", "customer", "note"])
    for number in range(12_000):
        kind, of, currency = "sale", "", _CURRENCIES[number % 3]
        if number and number % 7 == 0:
            sold = luck.randrange(number)
            sold += sold % 7 == 0
            kind, of, currency = "refund", f"A{sold:05}", _CURRENCIES[sold % 3]
        if number == _WRONG_REFUND:
            kind, of, currency = "refund", "A02346", "USD"
        note = luck.choice(("", "", luck.choice(_WORDS), "late, by post", "two\nparcels"))
        day = f"2026-{1 + number // 1000:02}-{1 + number % 28:02}"
        amount = f"{luck.randrange(100, 90_000) / 100:.2f}"
        customer = luck.choice(_WORDS) + str(luck.randrange(400))
        writer.writerow([f"A{number:05}", kind, of, currency, amount, day, customer, note])
    return file.getvalue().encode()


def shop() -> bytes:
    """Return SQL of a shop, in which a sale takes more from the store than is there."""
    luck = random.Random(4)
    lines = ["-- a dump of the shop", "PRAGMA foreign_keys = ON;", "BEGIN TRANSACTION;"]
    for table in _WORDS:
        lines += [
            f"CREATE TABLE {table} (",
            "    id INTEGER PRIMARY KEY,",
            "    name TEXT NOT NULL,",
            "    created TEXT DEFAULT CURRENT_TIMESTAMP",
            ");",
            f"CREATE INDEX {table}_names ON {table} (name);",
        ]
    lines += [
        "CREATE TABLE store (",
        "    item INTEGER PRIMARY KEY,",
        "    name TEXT,",
        "    amount INTEGER CONSTRAINT in_store CHECK (amount >= 0)",
        ");",
        "CREATE TABLE sales (",
        "    id INTEGER PRIMARY KEY,",
        "    item INTEGER REFERENCES store (item),",
        "    amount INTEGER NOT NULL",
        ");",
        "CREATE TRIGGER sold AFTER INSERT ON sales BEGIN",
        "    UPDATE store SET amount = amount - NEW.amount WHERE item = NEW.item;",
        "END;",
    ]
    for number in range(300):
        lines.append(f"INSERT INTO store VALUES ({number}, '{luck.choice(_WORDS)}', 100);")
    for number in range(600):
        table, name = luck.choice(_WORDS), luck.choice(_WORDS)
        lines.append(f"INSERT INTO {table} (name) VALUES ('{name} {number}');")
        amount = 98 if number in _GREEDY_SALES else luck.randrange(1, 3)
        item = 42 if number in _GREEDY_SALES else luck.randrange(43, 300)
        lines.append(f"INSERT INTO sales (item, amount) VALUES ({item}, {amount});")
    return ("\n".join([*lines, "COMMIT;"]) + "\n").encode()


def page() -> bytes:
    """Return the named characters of HTML as a page with a table for each letter, one empty."""
    by_letter: dict[str, list[str]] = {}
    for name, text in html.entities.html5.items():
        by_letter.setdefault(name[0].upper(), []).append(
            f"      <tr><td><code>&amp;{name}</code></td><td>{ord(text[0]):#06x}</td></tr>"
        )
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head><title>Characters</title></head>"]
    lines += ["<body>", '<div class="page" id="all">']
    for letter, rows in sorted(by_letter.items()):
        kept = [] if letter == "Q" else rows[:30]
        lines += [
            f'  <section id="{letter.lower()}">',
            f"    <h2>{letter}</h2>",
            f'    <p>There are <b>{len(rows)}</b> names, see <a href="#all">all</a>.</p>',
            '    <table class="names">',
            *kept,
            "    </table>",
            "  </section>",
        ]
    return "\n".join([*lines, "</div>", "</body>", "</html>\n"]).encode()


def scores() -> bytes:
    """Return an array of NumPy, 4 by 32 by 100, in which one row is minus infinity all along."""
    luck = random.Random(5)
    shape = (4, 32, 100)
    values = [luck.gauss(0, 1) for _ in range(4 * 32 * 100)]
    for row in range(128):
        length = 0 if row == _MASKED_ROW else 40 + row % 60
        values[row * 100 + length : row * 100 + 100] = [float("-inf")] * (100 - length)
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
    return start + struct.pack(f"<{len(values)}d", *values)


def weights() -> bytes:
    """Return tensors of a small model and its adapters; infinity in one meets zero in another."""
    luck = random.Random(6)
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    data = b""
    for layer in range(5):
        shapes = {"weight": (64, 64), "bias": (64,), "lora_A": (4, 64), "lora_B": (64, 4)}
        for name, shape in shapes.items():
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            values = [luck.gauss(0, 0.1) for _ in range(count)]
            if layer == _BROKEN_LAYER and name == "lora_A":
                values[2 * 64 + 17] = 0.0
            if layer == _BROKEN_LAYER and name == "lora_B":
                values[29 * 4 + 2] = float("inf")
            content = struct.pack(f"<{count}f", *values)
            header[f"model.layers.{layer}.{name}"] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": (len(data), len(data) + len(content)),
            }
            data += content
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + data


def configuration(folder: Path) -> None:
    """Write the configuration of services as 60 files; one needs what another has switched off."""
    luck = random.Random(7)
    is_on = [number for number in range(30) if number != _PLUGIN_OFF]
    for number in range(30):
        plugin = {
            "plugin": f"plugin-{number}",
            "enabled": number != _PLUGIN_OFF,
            "options": {"level": 3},
        }
        _write(folder / "plugins" / f"{number:02}.json", plugin)
    for number in range(30):
        needed = [f"plugin-{luck.choice(is_on)}" for _ in range(4)]
        if number == _SERVICE:
            needed[2] = f"plugin-{_PLUGIN_OFF}"
        words = {name: luck.choice(_WORDS) for name in ("region", "owner", "tier")}
        service = {"service": f"service-{number}", "labels": words, "needs": needed}
        _write(folder / "services" / words["region"] / f"{number:02}.json", service)
    (folder / "README.md").write_text("# Services\n\nOne file for each of them.\n")


def _write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")


def upgrade() -> bytes:
    """Return the diff of two releases of json_repair."""
    names = [f"json_repair-{version}/json_repair" for version in ("0.30.0", "0.47.0")]
    words = ["git", "diff", "--no-index", "--", *names]
    folder = ORACLES / "releases"
    found = subprocess.run(words, cwd=folder, check=False, capture_output=True).stdout
    for name in names:  # paths as in a repository, `a/json_repair/…`, are what `git apply` takes
        found = found.replace(f"/{name}".encode(), b"/json_repair")
    return found


def bundle() -> bytes:
    """Return all modules of semver in one file, as bundlers write it, and a script that uses them."""
    folder = (ORACLES / "releases" / "semver" / "package").resolve()
    names = {
        path: "require_" + re.sub(r"\W", "_", str(path.relative_to(folder).with_suffix("")))
        for path in sorted(folder.rglob("*.js"))
        if "bin" not in path.relative_to(folder).parts
    }
    parts = [_BUNDLE_HEAD]
    for path, name in names.items():

        def required(match: re.Match[str], around: Path = path.parent) -> str:
            wanted = (around / match[1]).resolve()
            found = (wanted, wanted.with_name(f"{wanted.name}.js"), wanted / "index.js")
            return next((f"{names[each]}()" for each in found if each in names), match[0])

        text = re.sub(r"require\(['\"]([^'\"]+)['\"]\)", required, path.read_text())
        body = textwrap.indent(text.replace("module.exports", "module2.exports"), "    ")
        key = path.relative_to(folder)
        parts.append(
            f'var {name} = __commonJS({{\n  "{key}"(exports2, module2) {{\n{body}\n  }}\n}});'
        )
    return "\n".join([*parts, _BUNDLE_TAIL]).encode()


def characters() -> bytes:
    """Return a table of all named characters of HTML as Markdown: that of the demo."""
    with tempfile.NamedTemporaryFile(suffix=".md") as file:
        words = [sys.executable, str(ROOT / "demo" / "make_entities.py"), file.name]
        subprocess.run(words, check=True)
        return Path(file.name).read_bytes()
