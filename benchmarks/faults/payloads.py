"""The readers of payloads: one for each kind that `whet shrink` knows, and documents of settings."""

import base64
import bz2
import gzip
import hashlib
import io
import json
import lzma
import pickle
import shutil
import struct
import tarfile
import wave
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

from benchmarks.faults.mutator import Shape
from benchmarks.faults.reader import Reader, Seeds, placed, text
from whet.core.verdict import Verdict
from whet.host.code.folders import pack_folder, put_folder_back, unpack_folder
from whet.reduction.formats.text.brackets import is_deep
from whet.reduction.payload_kind import Kind
from whet.reduction.payload_kinds import KINDS, kinds_of, pretty_of, readable
from whet.reduction.reducer import reducer_of
from whet.reduction.validity import validity_of
from whet.reduction.variants import units_of
from whet.search.proposal import run_search

ROOT = Path(__file__).parents[2]
_TRIED_OF_EACH_PASS, _TRIED_OF_ALL = 3, 40
_MANY_READS_SECONDS = 10.0
_MANY_PARSES_SECONDS = 30.0
"""A grammar's parser takes up to 0.15 s for odd source code, and is asked about some hundred candidates."""


class _EnoughError(Exception):
    """So many candidates are enough."""


def _tester(most: int) -> Callable[[object], Verdict]:
    """Return an oracle without rhyme or reason, which ends the search after some candidates."""
    count = 0

    def judge(candidate: object) -> Verdict:
        nonlocal count
        count += 1
        if count > most:
            raise _EnoughError
        data = candidate if isinstance(candidate, bytes) else getattr(candidate, "data", b"")
        verdicts = (Verdict.BAD, Verdict.GOOD, Verdict.SKIP, Verdict.GOOD)
        return verdicts[hashlib.blake2b(cast("bytes", data), digest_size=1).digest()[0] % 4]

    return judge


def read_kind(kind: Kind, data: bytes) -> None:
    """Do with a payload what whet does with one of this kind."""
    name = NAMES.get(kind.name, "")
    if kind.claims(data, name):
        if kind.order.weight(data) < float("inf"):
            kind.order.rank(data)
        for look in (kind.shown, kind.pretty, kind.again, kind.exact):
            if look is not None:
                look(data)
        for part in (kind.inside or _nothing)(data)[:5]:
            part.put(part.content[:-1])
        if kind.detours is not None:
            list(islice(kind.detours(data), 3))
    elif is_deep(data):
        return  # no parser is ever asked about it
    for each in kind.passes:
        try:
            run_search(each.search(data), _tester(_TRIED_OF_EACH_PASS))
        except _EnoughError:
            continue


def _nothing(_data: bytes) -> list[Any]:
    return []


def reduce_any(name: str, data: bytes) -> None:
    """Begin to shrink a payload, whatever it is."""
    kinds_of(data, name=name)
    readable(data, name=name)
    pretty_of(data, name)
    is_valid = validity_of(data, name)
    if is_valid is not None:
        is_valid(data[:-1])
    try:
        run_search(reducer_of(data, name=name, may_grow=True).reduce(), _tester(_TRIED_OF_ALL))
    except _EnoughError:
        return


NAMES = {
    "python": "a.py", "c": "a.c", "cpp": "a.cpp", "typescript": "a.ts", "tsx": "a.tsx", "javascript": "a.js",
    "rust": "a.rs", "go": "a.go", "java": "a.java", "csharp": "a.cs", "ruby": "a.rb", "bash": "a.sh",
    "php": "a.php", "scala": "a.scala", "kotlin": "a.kt", "swift": "a.swift", "lua": "a.lua", "julia": "a.jl",
    "haskell": "a.hs", "zig": "a.zig", "css": "a.css", "html": "a.html", "yaml": "a.yaml", "toml": "a.toml",
    "ini": "a.ini", "csv": "a.csv", "log": "a.log", "sql": "a.sql", "diff": "a.diff", "mail": "a.eml",
    "xml": "a.xml", "json": "a.json", "messagepack": "a.msgpack", "protobuf": "a.pb", "pickle": "a.pkl", "pdf": "a.pdf",
    "pcap": "a.pcap",
}  # fmt: skip
"""File names that decide between kinds."""

# ---- what is read when all is well ----

JSON_TEXT = (
    b'{"a": [1, 2.50, -3e5, "x\\u00e9\\"y", true, null], "a": {"": {}}, "n": NaN,\n "rows": '
    b'[{"id": 1, "tags": ["a", "b"], "text": "{\\"k\\": [1, 2]}"}, {"id": 2, "tags": []}]}'
)
TRANSCRIPT_TEXT = (
    b'{"role": "system", "content": "x"}\n{"role": "user", "content": [{"type": "text", "text": "y"}]}\n'
    b'{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function"}]}\n'
    b'{"role": "tool", "tool_call_id": "a", "content": "z"}\n{"role": "assistant", "content": "u"}\n'
)
NOTEBOOK_TEXT = (
    b'{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "source": ["x = 1\\n", "x"],\n'
    b'"outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\\n"]}]},\n'
    b'{"cell_type": "raw", "id": "b", "metadata": {}, "source": "y"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
)
YAML_TEXT = b"""%YAML 1.2
--- !tag
base: &base {lr: 0.1, steps: [1, 2, 3]}
run:
  <<: *base
  "name": 'it''s'
  text: |
    a
     b
  folded: >-
    x
    y
  items:
    - a
    -   - b
    - {c: "d\\n"}   # note
...
---
- 1
- !!str 2
"""
YAML_SETTINGS = b"base: &base {lr: 0.1, steps: [1, 2]}\nrun:\n  <<: *base\n  at: 2024-01-02\n  'no': ~  # note\n"
XML_TEXT = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE a [<!ENTITY e "<b>x</b>"><!ELEMENT a ANY>]>
<a xmlns:n="u" k='v"'><!-- note --><n:b c="1" d="2"/>&e;&#65;<![CDATA[<x>]]><b>t<i>u</i></b><?p i?></a>
"""
HTML_TEXT = b"""<!doctype html><html lang=en><head><title>a &amp; b</title><style>p { x: 1 }</style>
<script>if (a < b && c) { d("</p>"); }</script></head><body class="x y" id=z hidden>
<p>one<p>two <b>three<br>four</b><img src="a.png"><!-- c --><table><tr><td>1<td>2</table></body></html>
"""
TOML_TEXT = b"""a = 1 # note
[t.u]
"x y" = [1, 2.5, "s", {k = 'v'}, 1979-05-27T07:32:00Z]
m = \"\"\"
x
\"\"\"
[[t.v]]
b = true
[[t.v]]
c.d = 0xff
"""
INI_TEXT = b"; note\n[a]\nb = 1\nc : two\n  lines\n[DEFAULT]\nd\n[a.b]\ne=%(b)s\n"
CSV_TEXT = b'name,value,note\r\nx,1.5,"a, ""quoted""\r\nnote"\r\ny,2,\r\n"z",3,plain\r\n'
LOG_TEXT = (
    b"2024-01-02 03:04:05,678 INFO app: started\n2024-01-02 03:04:06,001 ERROR app.db: failed\n"
    b"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'\n"
    b"2024-01-02 03:04:07,100 WARNING app: retrying in 3 s\n"
) * 2
SQL_TEXT = (
    b"CREATE TABLE t (a INT PRIMARY KEY, b TEXT DEFAULT 'x''y'); -- note\n"
    b"INSERT INTO t VALUES (1, 'a'), (2, $$b$$);\n"
    b"SELECT CASE WHEN a > 1 THEN 'p' ELSE (SELECT max(b) FROM t) END FROM t AS u WHERE b LIKE '%c' /* d */;\n"
    b"CREATE FUNCTION f() RETURNS INT AS BEGIN UPDATE t SET a = a + 1; RETURN 1; END;\n"
)
MAIL_TEXT = b"""From: a@example.org
To: =?utf-8?q?B=C3=A9?= <b@example.org>
Subject: x
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="bb"

--bb
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

caf=C3=A9 =
on
--bb
Content-Type: application/json; name="d.json"
Content-Transfer-Encoding: base64

eyJhIjogWzEsIDIsIDNdfQ==
--bb--
"""
DIFF_TEXT = b"""diff --git a/x.py b/x.py
index 1234567..89abcde 100644
--- a/x.py
+++ b/x.py
@@ -1,3 +1,3 @@ def f():
 a
-b
+c
 d
\\ No newline at end of file
@@ -10 +10,2 @@
 e
+f
diff --git a/old b/new
similarity index 90%
rename from old
rename to new
diff --git a/b.bin b/b.bin
GIT binary patch
literal 3
Kcmd;Ofb;+W

Binary files a/p.png and b/p.png differ
"""
SOURCES = {
    "python": b'"""doc"""\nimport os\n\n\nclass A(B):\n    @p\n    def f(self, a, *b, c=(1, 2), **d) -> "x":\n'
    b"        if a and not b:\n            return [i for i in b if i], {'k': 1}, f'{a!r:>{c}}'\n"
    b"        try:\n            with open(a) as g:\n                yield g\n        except E as e:\n            raise\n"
    b"        x = lambda: 0\n        while True: pass\nasync def h():\n\tawait x\n",
    "c": b'#include <stdio.h>\n#define N 3\nstruct s { int a; char *b; };\nint main(void) {\n  int x[N] = {1, 2, 3};\n'
    b'  for (int i = 0; i < N; i++) { if (x[i] > 1) printf("%d\\n", x[i]); else return i; }\n  return 0;\n}\n',
    "cpp": b"#include <vector>\nnamespace a {\ntemplate <class T> struct b : c<T> { T d(T e) const { return e + 1; } };\n}\n",
    "typescript": b"interface A { b: string; c?: number }\nexport const f = (x: A): number => x.c ?? 0;\n",
    "tsx": b'export const F = (p: {a: string}) => <div className="x">{p.a}<b/></div>;\n',
    "javascript": b"import x from 'y';\nasync function f(a, {b}, ...c) { const d = `t${a}`; return c.map(e => e ** 2); }\n",
    "rust": b"use std::fmt;\npub fn f<T: Copy>(a: &T) -> Option<T> { match a { _ => Some(*a) } }\nimpl X for Y {}\n",
    "go": b'package main\nimport "fmt"\nfunc main() {\n\tfor i, x := range []int{1, 2} { fmt.Println(i, x) }\n}\n',
    "java": b"import java.util.*;\npublic class A extends B<C> { int f(int x) throws E { return x > 0 ? 1 : 2; } }\n",
    "csharp": b"using System;\nnamespace A { class B : C { int D { get; set; } void E() { var f = new G(1); } } }\n",
    "ruby": b"require 'x'\nclass A < B\n  attr_reader :c\n  def d?(e = 1)\n    e.each { |f| puts \"#{f}\" } unless e\n  end\nend\n",
    "bash": b"#!/bin/bash\nfor x in \"$@\"; do\n  if [ -f \"$x\" ]; then cat <<E | sed 's/a/b/'\n$x\nE\n  fi\ndone\n",
    "php": b"<?php\nclass A { public function b(int $c): string { return \"d{$c}\" . [1 => 'x'][1]; } }\n",
    "scala": b"object A { def f(x: Int): Int = x match { case 1 => 2; case _ => x + 1 } }\n",
    "kotlin": b'class A(val b: Int) { fun c(d: String?) = d?.let { "$it" } ?: "e" }\n',
    "swift": b"struct A: B { var c: Int? = nil; func d(e f: String) -> Int { guard let g = c else { return 0 }; return g } }\n",
    "lua": b"local function f(a, ...)\n  for i = 1, 3 do if a then return {i, x = ...} end end\nend\n",
    "julia": b"function f(x::Int; y=1)\n    if x > y\n        return [i^2 for i in 1:x]\n    end\nend\n",
    "haskell": b"module A where\nimport Data.List\nf :: Int -> [Int]\nf x | x > 1 = [y | y <- [1..x]]\n    | otherwise = []\n",
    "zig": b'const std = @import("std");\npub fn f(a: u8) !void { if (a > 1) return error.X; }\n',
    "css": b"@media (min-width: 1px) { a > b:hover, #c .d { color: red; margin: 0 1px } }\n",
}  # fmt: skip


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content, method)
    return file.getvalue()


def tarred(members: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Return a tar archive, with a link in it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1_500_000_000
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "a.json"
        archive.addfile(link)
    return file.getvalue()


_MEMBERS = {"a.json": b'{"a": [1, 2]}', "d/b.txt": b"x\ny\nz\n", "e": b""}


def _arrays() -> dict[str, Any]:
    import numpy as np

    return {
        "w": np.arange(12, dtype="f4").reshape(3, 4), "i": np.array([1, -2, 3]),
        "t": np.array(["a", "bé"]), "s": np.float16(2), "r": np.zeros(2, dtype=[("x", "i4"), ("y", "f8")]),
    }  # fmt: skip


def _npy() -> Iterator[bytes]:
    import numpy as np

    for array in _arrays().values():
        file = io.BytesIO()
        np.save(file, array)
        yield file.getvalue()


def _npz() -> Iterator[bytes]:
    import numpy as np

    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, **{name: each for name, each in _arrays().items() if name != "r"})
        yield file.getvalue()


def _hdf5() -> Iterator[bytes]:
    import h5py

    hdf5: Any = h5py
    file = io.BytesIO()
    with hdf5.File(file, "w") as made:
        group = made.create_group("g")
        group.attrs["a"] = "text"
        group.create_dataset("d", data=_arrays()["w"], chunks=(1, 4), compression="gzip")
        group["s"] = ["x", "yy"]
        made["l"] = hdf5.SoftLink("/g/d")
    yield file.getvalue()


def _safetensors() -> Iterator[bytes]:
    head = {"__metadata__": {"f": "pt"}, "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "b": {"dtype": "I8", "shape": [3], "data_offsets": [16, 19]}}  # fmt: skip
    packed = json.dumps(head).encode()
    yield len(packed).to_bytes(8, "little") + packed + bytes(range(19))


def _table() -> Any:
    import pyarrow as pa

    arrow: Any = pa
    return arrow.table({
        "id": [1, 2, 3], "name": ["a", None, "c"], "x": [0.5, 1.5, None], "l": [[1], [], [2, 3]],
        "s": [{"k": 1, "m": "n"}, {"k": 2, "m": None}, None],
        "d": arrow.array(["p", "q", "p"]).dictionary_encode(), "t": arrow.array([1, 2, 3], arrow.timestamp("us")),
    })  # fmt: skip


def _parquet() -> Iterator[bytes]:
    from pyarrow import parquet

    write: Any = parquet
    for compression in ("none", "snappy"):
        file = io.BytesIO()
        write.write_table(_table(), file, compression=compression)
        yield file.getvalue()


def _arrow() -> Iterator[bytes]:
    from pyarrow import ipc

    write: Any = ipc
    for make in (write.new_file, write.new_stream):
        file = io.BytesIO()
        with make(file, _table().schema) as writer:
            writer.write_table(_table())
        yield file.getvalue()


def _excel() -> Iterator[bytes]:
    import openpyxl

    excel: Any = openpyxl
    book = excel.Workbook()
    sheet = book.active
    for row in (["a", "b"], [1, 2.5], ["x", True], ["=A2*2", None]):
        sheet.append(row)
    book.create_sheet("two")["C3"] = "y"
    file = io.BytesIO()
    book.save(file)
    yield file.getvalue()


def _sqlite() -> Iterator[bytes]:
    import sqlite3
    from contextlib import closing

    for script in (
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL DEFAULT 'x'); INSERT INTO t VALUES (1, 'a')",
        "CREATE TABLE t (b TEXT); CREATE INDEX i ON t (b); CREATE VIEW v AS SELECT b FROM t; PRAGMA user_version = 3",
        "CREATE TABLE t (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO t VALUES (1, x'00ff'), (2, 0.5)",
        "CREATE TABLE t (a, b AS (a * 2)); INSERT INTO t (a) VALUES (CAST(x'ff' AS TEXT))",
    ):
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript(script)
            yield database.serialize()


def _message_pack() -> Iterator[bytes]:
    yield b"\x83\xa1a\x93\xc0\xc2\xc3\1\xd1\xff\0\xc4\1b\xd6\7abcd"
    yield b"\x91\xca\x3f\xc0\0\0\x81\xa1k\xd9\x23" + b"text" * 8 + b"\xffxx"


def _protocol_buffers() -> Iterator[bytes]:
    inner = b"\x0a\5a b c\x10\x96\1\x19\0\0\0\0\0\0\xf8\x3f"
    yield (
        b"".join((b"\x0a", bytes([len(inner)]), inner)) * 3
        + b"\x12\2\0\xff\x1d\0\0\xc0\x3f\x25\xff\xff\xff\xff"
    )


def _images() -> Iterator[bytes]:
    from PIL import Image

    picture = Image.new("RGB", (6, 4), (9, 99, 200))
    picture.putpixel((1, 2), (255, 0, 0))
    for form in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", "WEBP"):
        file = io.BytesIO()
        picture.save(file, form)
        yield file.getvalue()


def _pdf() -> Iterator[bytes]:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (2, 2)).save(file, "PDF", title="x (y) \u00e9")
    yield file.getvalue()
    packed = zlib.compress(
        b"1 0 2 33 <</Type /Catalog /Pages 2 0 R>> <</Type /Pages /Kids [3 0 R] /Count 1>>"
    )
    yield (
        b"%%PDF-1.5\n4 0 obj <</Type /ObjStm /N 2 /First 9 /Filter /FlateDecode /Length %d>>\nstream\n%b\nendstream "
        b"endobj\n3 0 obj <</Type /Page /Parent 2 0 R /A [1 .5 (a\\)\\101) <ff0> /B#20 true null]>> endobj\n"
        b"5 0 obj <</Type /XRef /Root 1 0 R /W [1 2 1] /Length 2>>\nstream\nxx\nendstream endobj"
        % (len(packed), packed)
    )


def _captures() -> Iterator[bytes]:
    ip = bytes.fromhex("4500001e000100004011000001020304050607080001003500" + "0a00006869")
    for packet, link in ((bytes(12) + b"\x08\0" + ip, 1), (ip, 101)):
        yield (
            struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
            + (struct.pack("<4I", 1, 2, len(packet), len(packet)) + packet) * 2
        )
    packet = ip + b"\0" * (-len(ip) % 4)
    blocks = (
        (0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), (1, struct.pack("<HHI", 101, 0, 99)),
        (6, struct.pack("<5I", 0, 1, 2, len(packet), 99) + packet), (5, b"odd."),
    )  # fmt: skip
    yield b"".join(
        struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        for kind, body in blocks
    )


def _sounds() -> Iterator[bytes]:
    for channels, width in ((1, 2), (2, 1), (1, 3)):
        file = io.BytesIO()
        with wave.open(file, "wb") as made:
            made.setnchannels(channels)
            made.setsampwidth(width)
            made.setframerate(8000)
            made.writeframes(bytes(range(0, 240, 1))[: 60 * channels * width])
        yield file.getvalue()


def _torch() -> Iterator[bytes]:
    for path in sorted((ROOT / "tests" / "reduction").glob("*.pt")):
        yield path.read_bytes()


def arrow_seeds() -> list[bytes]:
    """Return a file and a stream of Arrow."""
    return list(_arrow())


def torch_seeds() -> list[bytes]:
    """Return files of torch, of all its formats."""
    return list(_torch())


def _pickles() -> list[bytes]:
    circle: list[Any] = ["x" * 70] * 2
    circle += [circle, wave.Error("y"), Path("z"), bytearray(b"u"), frozenset("v")]
    values = (
        {"a": [1, (2, "x"), {3}], "b": b"y"}, [None, True, 1.5, 10**30], "t", ("a",) * 3, circle
    )  # fmt: skip
    return [pickle.dumps(each, protocol) for each in values for protocol in (0, 2, 4, 5)]


_PLAIN = (JSON_TEXT, SOURCES["python"], CSV_TEXT, LOG_TEXT, b"a  b\n\n(c [d] {e})\n" * 4)
SEEDS: dict[str, Callable[[], Iterator[bytes] | Sequence[bytes]]] = {
    "npy": _npy, "npz": _npz, "hdf5": _hdf5, "safetensors": _safetensors, "parquet": _parquet,
    "arrow": _arrow, "arrow stream": _arrow, "excel": _excel, "sqlite": _sqlite, "messagepack": _message_pack, "protobuf": _protocol_buffers,
    "pickle": _pickles, "pdf": _pdf, "pcap": _captures, "image": _images, "wav": _sounds,
    "torch": _torch, "torch-stream": _torch,
    "zip": lambda: [zipped(_MEMBERS), zipped(_MEMBERS, zipfile.ZIP_STORED), zipped({"z.zip": zipped(_MEMBERS)})],
    "tar": lambda: [tarred(_MEMBERS), tarred(_MEMBERS, tarfile.GNU_FORMAT), tarred({"n" * 150: b"x"})],
    "gzip": lambda: [gzip.compress(JSON_TEXT, mtime=0), gzip.compress(tarred(_MEMBERS), mtime=0)],
    "bz2": lambda: [bz2.compress(JSON_TEXT)],
    "xz": lambda: [lzma.compress(JSON_TEXT)],
    "encoded": lambda: [JSON_TEXT.decode().encode("utf-16"), XML_TEXT.decode().encode("utf-32")],
    "json": lambda: [JSON_TEXT, b'{"id": 1}\n{"id": 2, "tags": ["a"]}\n', b"[[[[[7]]]], [0, [1, [2]]]]", NOTEBOOK_TEXT, TRANSCRIPT_TEXT, b'{"m": [' + TRANSCRIPT_TEXT.replace(b"}\n{", b"},\n{") + b"]}"],
    "html": lambda: [HTML_TEXT], "xml": lambda: [XML_TEXT], "yaml": lambda: [YAML_TEXT],
    "toml": lambda: [TOML_TEXT], "ini": lambda: [INI_TEXT], "mail": lambda: [MAIL_TEXT],
    "csv": lambda: [CSV_TEXT, b"a;b\n1;2\n3;4\n", b"a\tb\n1\t2\n"], "log": lambda: [LOG_TEXT],
    "sql": lambda: [SQL_TEXT], "diff": lambda: [DIFF_TEXT],
    "base64": lambda: [base64.encodebytes(JSON_TEXT), b"x: " + base64.b64encode(gzip.compress(JSON_TEXT, mtime=0))],
    **{name: partial(list[bytes], [source]) for name, source in SOURCES.items()},
}  # fmt: skip


def _seeds_of(name: str) -> Seeds:
    made = SEEDS.get(name, lambda: _PLAIN)
    return lambda: list(made())


def _all_seeds() -> list[bytes]:
    return [seed for made in SEEDS.values() for seed in made()]


def _read_pickle(data: bytes) -> None:
    from whet.reduction.formats.arrays.torch_pickle import load_pickle

    load_pickle(data)


def _folders() -> list[bytes]:
    top = placed("packed/a.txt", b"a\n").parent
    (top / "b").mkdir(exist_ok=True)
    (top / "b" / "c.json").write_bytes(JSON_TEXT)
    link = top / "link"
    if not link.is_symlink():
        link.symlink_to("a.txt")
    return [pack_folder(top)]


def _unpack(data: bytes) -> None:
    target = placed("unpacked/beside", b"").parent / "folder"
    shutil.rmtree(target, ignore_errors=True)
    try:
        unpack_folder(data, target)
        put_folder_back(target, data)
    finally:
        shutil.rmtree(target, ignore_errors=True)


def payload_readers() -> Iterator[Reader]:
    """Yield the readers of payloads."""
    for name, kind in KINDS.items():
        yield Reader(
            name=f"payload: {name}", most_seconds=_MANY_PARSES_SECONDS if name in SOURCES else _MANY_READS_SECONDS, seeds=_seeds_of(name),
            read=partial(read_kind, kind), shape=Shape.JSON if name == "json" else Shape.BYTES,
        )  # fmt: skip
    for name in ("", "a.json", "a.ipynb", "a.dat"):
        yield Reader(
            name=f"payload: any as `{name}`", most_seconds=_MANY_READS_SECONDS, seeds=_all_seeds,
            read=partial(reduce_any, name),
        )  # fmt: skip
    yield Reader(
        name="payload: units", seeds=_all_seeds,
        read=lambda data: units_of(data, "a.json"),
    )  # fmt: skip
    yield Reader(
        name="payload: pickle of a checkpoint", seeds=_pickles,
        read=_read_pickle, refuses=(ValueError,),
    )  # fmt: skip
    yield Reader(
        name="packed folder", seeds=_folders, read=_unpack, refuses=(OSError,)
    )  # fmt: skip
    yield Reader(
        name="payload: text", seeds=lambda: _PLAIN,
        read=lambda data: (text(data), readable(data)),
    )  # fmt: skip
