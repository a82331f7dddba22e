"""A package index on loopback, with small packages made by hand: tests need no network."""

import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html"
# A backend that needs nothing from an index: it lies in the source distribution itself.
BACKEND = """
import pathlib, zipfile
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w") as wheel:
        folder = "{name}-{version}.dist-info/"
        wheel.writestr("{name}.py", "VERSION = '{version}'\\n")
        wheel.writestr(folder + "METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        wheel.writestr(folder + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(folder + "RECORD", "")
    return name
"""
BROKEN_BACKEND = """
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise RuntimeError("this release needs a compiler of 1998")
"""


@dataclass
class LocalFile:
    content: bytes
    requires_python: str = ""
    yanked: str | None = None
    uploaded: str = ""


@dataclass
class LocalIndex:
    """What the index has, and what it was asked."""

    files: dict[str, dict[str, LocalFile]] = field(default_factory=dict)
    speaks_json: bool = True
    status: int = 0
    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    authorisations: list[str] = field(default_factory=list)
    before_answer: Callable[[], object] | None = None

    def wheel(  # noqa: PLR0913 - what a page may say of a file
        self,
        name: str,
        version: str,
        *,
        requires: tuple[str, ...] = (),
        tag: str = "py3-none-any",
        requires_python: str = "",
        yanked: str | None = None,
        uploaded: str = "",
        source: str = "",
    ) -> "LocalIndex":
        """Add a wheel of a module that knows its version, with a program of its name."""
        content = _wheel(name, version, requires, tag, source)
        file = LocalFile(content, requires_python, yanked, uploaded)
        self.files.setdefault(name, {})[f"{name}-{version}-{tag}.whl"] = file
        return self

    def sdist(
        self, name: str, version: str, *, is_broken: bool = False, requires_python: str = ""
    ) -> "LocalIndex":
        """Add a source distribution."""
        backend = BROKEN_BACKEND if is_broken else BACKEND.format(name=name, version=version)
        members = {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
            'backend-path = ["."]\n',
            "backend.py": backend,
            "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        }
        file = LocalFile(_archive(f"{name}-{version}", members), requires_python)
        self.files.setdefault(name, {})[f"{name}-{version}.tar.gz"] = file
        return self

    def page(self, name: str) -> bytes:
        """Return the page of a package, as JSON or as HTML."""
        files = self.files[name]
        if self.speaks_json:
            listed = [_json_of(name, file, files[file]) for file in files]
            page = {"meta": {"api-version": "1.1"}, "name": name, "files": listed}
            return json.dumps({**page, "versions": []}).encode()
        anchors = (_anchor_of(name, file, files[file]) for file in files)
        return f"<!DOCTYPE html><html><body>{''.join(anchors)}</body></html>".encode()


def _json_of(name: str, file: str, local: LocalFile) -> dict[str, object]:
    listed: dict[str, object] = {
        "filename": file,
        "url": f"../../files/{name}/{file}",
        "hashes": {"sha256": hashlib.sha256(local.content).hexdigest()},
        "size": len(local.content),
    }
    if local.requires_python:
        listed["requires-python"] = local.requires_python
    if local.yanked is not None:
        listed["yanked"] = local.yanked or True
    if local.uploaded:
        listed["upload-time"] = local.uploaded
    return listed


def _anchor_of(name: str, file: str, local: LocalFile) -> str:
    attributes = (
        f' href="../../files/{name}/{file}#sha256={hashlib.sha256(local.content).hexdigest()}"'
    )
    if local.requires_python:
        attributes += f' data-requires-python="{escape(local.requires_python)}"'
    if local.yanked is not None:
        attributes += f' data-yanked="{escape(local.yanked)}"' if local.yanked else " data-yanked"
    if local.uploaded:
        attributes += f' data-upload-time="{local.uploaded}"'
    return f"<a{attributes}>{file}</a><br/>"


def _wheel(name: str, version: str, requires: tuple[str, ...], tag: str, source: str) -> bytes:
    folder = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {each}\n" for each in requires)
    members = {
        f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print(VERSION)\n{source}",
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        f"{folder}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{folder}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},{_hash(text)},{len(text)}\n" for path, text in members.items())
    members[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        for path, text in members.items():
            wheel.writestr(zipfile.ZipInfo(path), text)
    return data.getvalue()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _archive(top: str, members: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for path, text in members.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


@contextmanager
def served(index: LocalIndex) -> Iterator[LocalIndex]:
    """Serve ``index`` on a port of loopback until the block ends."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Accept", "")))
            index.authorisations.append(self.headers.get("Authorization", ""))
            if index.before_answer is not None:
                index.before_answer()
            status, kind, content = _answer(index, self.path)
            self.send_response(index.status or status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815 - a name that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    index.url = f"http://127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(index: LocalIndex, path: str) -> tuple[int, str, bytes]:
    parts = path.strip("/").split("/")
    if parts[0] == "simple" and parts[-1] in index.files and path.endswith("/"):
        return 200, JSON if index.speaks_json else HTML, index.page(parts[-1])
    if parts[0] == "files" and parts[-1] in index.files.get(parts[1], {}):
        return 200, "application/octet-stream", index.files[parts[1]][parts[-1]].content
    return 404, HTML, b"not here"
