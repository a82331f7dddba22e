"""Programs that fail on a feature of a payload with rules, and the little that is left of it."""

import json
import struct
import subprocess
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable

ORDERS = """import pickle, shop
rows = [{"order": shop.Order(number), "note": "x" * 20} for number in range(200)]
rows[77]["order"].items = []
pickle.dump(rows, open("orders.pkl", "wb"))
"""
SHOP = """class Order:
    def __init__(self, number):
        self.number, self.items = number, ["a", "b"]
"""
LOAD = """import pickle, sys, shop
for each in pickle.load(open(sys.argv[1], "rb")):
    each["order"].items[0]
"""


def test_a_pickle_keeps_the_object_that_fails(whet: Whet) -> None:
    whet.write("shop.py", SHOP)
    whet.write("make.py", ORDERS)
    whet.write("load.py", LOAD)
    subprocess.run([PYTHON, "make.py"], cwd=whet.folder, check=True)

    said = whet("shrink", "orders.pkl", "--", PYTHON, "load.py", "orders.pkl")

    assert said.code == 0
    assert said.stdout.endswith(
        '    [{"order": {"!new": {"!global": "shop Order"}, "state": {"items": []}}}]\n'
    )
    assert len((whet.folder / "orders.shrunk.pkl").read_bytes()) < 100


CELLS = """import json, sys
notebook = json.load(open(sys.argv[1]))
assert notebook["nbformat"] == 4 and notebook["metadata"] is not None
for cell in notebook["cells"]:
    if cell["cell_type"] == "code":
        assert isinstance(cell["outputs"], list)
        exec("".join(cell["source"]), globals())
"""


@pytest.mark.long
def test_a_notebook_is_one_still(whet: Whet) -> None:
    texts = [f"x = {number}\n\ndef f(y):\n    return y + x\n" for number in range(20)]
    texts[11] += "z = {}\nz['missing'] + f(1)\n"
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": lines}
        for lines in (text.splitlines(keepends=True) for text in texts)
    ]
    whole: dict[str, object] = {
        "cells": cells,
        "metadata": {"a": {"b": 1}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    whet.write("a.ipynb", json.dumps(whole, indent=1))
    whet.write("cells.py", CELLS)

    said = whet("shrink", "a.ipynb", "--", PYTHON, "cells.py", "a.ipynb")

    assert said.code == 0
    left = json.loads((whet.folder / "a.shrunk.ipynb").read_text())
    assert {"cells", "metadata", "nbformat", "nbformat_minor"} == left.keys()
    (cell,) = left["cells"]
    assert len("".join(cell["source"])) < 30


REPLAY = """import json, sys
called = set()
for line in open(sys.argv[1]):
    message = json.loads(line)
    called.update(each["id"] for each in message.get("tool_calls", []))
    if message["role"] == "tool":
        assert message["tool_call_id"] in called
        if message["content"] == "":
            raise ValueError("a tool told nothing")
"""


@pytest.mark.long
def test_a_result_of_a_transcript_keeps_its_call(whet: Whet) -> None:
    messages = [
        message
        for number in range(40)
        for message in (
            {"role": "user", "content": f"do {number}"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": {"name": "x"}}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": "" if number == 23 else "y"},
            {"role": "assistant", "content": "done"},
        )
    ]
    whet.write("a.jsonl", "".join(json.dumps(each) + "\n" for each in messages))
    whet.write("replay.py", REPLAY)

    said = whet("shrink", "a.jsonl", "--", PYTHON, "replay.py", "a.jsonl")

    assert said.code == 0
    left = (whet.folder / "a.shrunk.jsonl").read_text().splitlines()
    assert [json.loads(line)["role"] for line in left] == ["user", "assistant", "tool"]
    trials = int(said.stdout.partition(" in ")[2].partition(" trials")[0])
    assert trials < 250


PAGES = """import re, sys
data = open(sys.argv[1], "rb").read()
start = int(re.search(rb"startxref\\s+(\\d+)\\s+%%EOF\\s*$", data)[1])
assert data[start:].startswith(b"xref")
for place in re.findall(rb"(\\d{10}) \\d{5} n", data[start:]):
    page = data[int(place):].partition(b"endobj")[0]
    assert re.match(rb"\\d+ 0 obj", page)
    turn = re.search(rb"/Rotate (\\d+)", page)
    if turn and b"/Page" in page and int(turn[1]) % 90:
        raise ValueError("a page that lies askew")
"""


@pytest.mark.long
def test_a_pdf_file_has_a_table_of_its_own(whet: Whet) -> None:
    kids = " ".join(f"{number} 0 R" for number in range(3, 63))
    texts = [
        "<</Type /Catalog /Pages 2 0 R>>",
        f"<</Type /Pages /Kids [{kids}] /Count 60>>",
        *(
            f"<</Type /Page /Parent 2 0 R /Rotate {45 if number == 30 else 90} /MediaBox [0 0 9 9]>>"
            for number in range(60)
        ),
    ]
    payload, places = b"%PDF-1.4\n", list[int]()
    for number, text in enumerate(texts, 1):
        places.append(len(payload))
        payload += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(payload)
    payload += f"xref\n0 {len(texts) + 1}\n0000000000 65535 f \n".encode()
    payload += b"".join(b"%010d 00000 n \n" % place for place in places)
    payload += b"trailer <</Root 1 0 R /Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(texts) + 1,
        start,
    )
    (whet.folder / "a.pdf").write_bytes(payload)
    whet.write("pages.py", PAGES)

    said = whet("shrink", "a.pdf", "--", PYTHON, "pages.py", "a.pdf")

    assert said.code == 0
    assert "/Rotate" in said.stdout
    left = (whet.folder / "a.shrunk.pdf").read_bytes()
    assert len(left) < 250
    assert left.endswith(b"%%EOF\n")


CAPTURED = """import struct, sys
data = open(sys.argv[1], "rb").read()
at = 24
while at < len(data):
    size, whole = struct.unpack_from("<II", data, at + 8)
    packet = data[at + 16 : at + 16 + size]
    assert len(packet) == size == whole and struct.unpack_from(">H", packet, 2)[0] == size
    if b"evil" in packet[28:]:
        raise ValueError("caught")
    at += 16 + size
"""


@pytest.mark.long
def test_a_capture_keeps_one_short_packet(whet: Whet) -> None:
    payload = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for number in range(100):
        content = b"a quiet line\n" * 9 + b"evil\n" * (number == 57)
        head = struct.pack(">BBHHHBBH8x", 0x45, 0, 28 + len(content), 0, 0, 9, 17, 0)
        packet = head + struct.pack(">HHHH", 1, 2, 8 + len(content), 0) + content
        payload += struct.pack("<4I", number, 0, len(packet), len(packet)) + packet
    (whet.folder / "a.pcap").write_bytes(payload)
    whet.write("read.py", CAPTURED)

    said = whet("shrink", "a.pcap", "--", PYTHON, "read.py", "a.pcap")

    assert said.code == 0
    assert '"content": ["evil"]' in said.stdout
    assert len((whet.folder / "a.shrunk.pcap").read_bytes()) <= 24 + 16 + 28 + 4


def test_a_broken_file_of_a_known_format_is_named(whet: Whet) -> None:
    (whet.folder / "a.pkl").write_bytes(b"\x80\4]\x94(K\1K\2" + bytes(40))
    whet.write("read.py", "import pickle, sys\npickle.load(open(sys.argv[1], 'rb'))\n")

    said = whet("shrink", "a.pkl", "--", PYTHON, "read.py", "a.pkl")

    assert "`a.pkl` can't be read as pickle: it tries to cut stretches" in said.stderr
