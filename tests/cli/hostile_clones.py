"""Clones and archives that attack whoever runs whet in them, made by code.

The command that is tried is harmless in each. What the clone brings along would make a file, the
canary, if any of it ran.
"""

import gzip
import io
import os
import pickle
import py_compile
import shlex
import socket
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from whet_command import Whet

HARMLESS = ("--", "grep", "-q", "good", "data.txt")
LOOKS = (
    ("log",),
    ("settings",),
    ("run", *HARMLESS),
    ("show",),
    ("again",),
    ("one-liner",),
    ("loop", "--runs", "1", *HARMLESS),
    ("notebook", "list"),
)
SEARCHES = (
    ("run", *HARMLESS),
    ("again", "--code", "then"),
    ("bisect", "HEAD~2", "HEAD", *HARMLESS),
    ("diff", "1", "2"),
)
FINDINGS = (
    ("investigate", "--no-releases", *HARMLESS),
    ("shrink", "data.txt", *HARMLESS),
)
FEW_STARTS = (("log",), ("run", *HARMLESS), ("shrink", "data.txt", *HARMLESS))
STARTS = (("log",), *SEARCHES, ("shrink", "data.txt", *HARMLESS))
ALL = (*LOOKS, *SEARCHES, *FINDINGS)

SHADOWS = ("abc", "ast", "click", "contextlib", "dataclasses", "enum", "functools", "hashlib", "io",
           "json", "logging", "os", "pathlib", "pickle", "random", "re", "rich", "select", "shlex",
           "shutil", "signal", "socket", "sqlite3", "string", "struct", "subprocess", "tempfile",
           "threading", "time", "tomllib", "traceback", "types", "typing", "uuid", "weakref")  # fmt: skip


@dataclass(frozen=True)
class Clone:
    """What an attacker has filled, and what is around it.

    Attributes:
        whet: in the clone.
        home: the user's home, with files and a repository in it.
        canary: what all that the clone brings along would make.
    """

    whet: Whet
    home: Path
    canary: Path

    @property
    def folder(self) -> Path:
        return self.whet.folder

    @property
    def git_folder(self) -> Path:
        return self.folder / ".git"

    @property
    def evil(self) -> str:
        """A program of the clone's that makes the canary."""
        path = self.folder / "evil.sh"
        path.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(self.canary))}\ncat\n')
        path.chmod(0o755)
        return str(path)

    @property
    def python(self) -> str:
        """Statements that make the canary."""
        return f"with open({str(self.canary)!r}, 'a') as file:\n    print(__name__, file=file)\n"

    def config(self, *lines: tuple[str, str]) -> None:
        """Add settings to the repository's own, as they come in an archive."""
        for name, value in lines:
            self.git("config", "--add", name, value)

    def git(self, *words: str, stdin: bytes = b"") -> str:
        name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        done = subprocess.run(
            ["git", *name, *words], cwd=self.folder, capture_output=True, check=True, input=stdin
        )
        return done.stdout.decode().strip()


def fsmonitor(clone: Clone) -> None:
    clone.config(("core.fsmonitor", clone.evil))


def hooks(clone: Clone) -> None:
    names = ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc",
             "post-rewrite", "fsmonitor-watchman", "pre-commit", "post-commit")  # fmt: skip
    for name in names:
        (clone.git_folder / "hooks").mkdir(exist_ok=True)
        (clone.git_folder / "hooks" / name).symlink_to(clone.evil)


def hooks_elsewhere(clone: Clone) -> None:
    (clone.folder / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (clone.folder / "hooks" / name).symlink_to(clone.evil)
    clone.config(("core.hooksPath", "hooks"))


def filters(clone: Clone) -> None:
    clone.whet.write(
        ".gitattributes", "*.txt filter=one\nmain.py filter=two\nhelper.py filter=a=b\n"
    )
    clone.git("add", ".gitattributes")
    clone.git("commit", "-m", "attributes")
    evil = clone.evil
    clone.config(
        ("filter.one.smudge", evil),
        ("filter.one.clean", evil),
        ("filter.two.process", evil),
        ("filter.a=b.smudge", evil),
        ("filter.a=b.clean", evil),
    )


def external_diff(clone: Clone) -> None:
    clone.whet.write(".gitattributes", "*.txt diff=one\n")
    clone.git("add", ".gitattributes")
    clone.git("commit", "-m", "attributes")
    clone.config(("diff.external", clone.evil), ("diff.one.command", clone.evil))


def text_conversion(clone: Clone) -> None:
    clone.whet.write(".gitattributes", "*.txt diff=one\n")
    clone.git("add", ".gitattributes")
    clone.git("commit", "-m", "attributes")
    clone.config(("diff.one.textconv", clone.evil))


def signatures(clone: Clone) -> None:
    """Let git check the signature of each commit that it shows, with a program of the clone's."""
    whole = clone.git("cat-file", "commit", "HEAD")
    head, _, body = whole.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n{body}\n"
    name = clone.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed.encode())
    clone.git("update-ref", "HEAD", name)
    clone.config(("log.showSignature", "true"), ("gpg.program", clone.evil))


def pagers_and_editors(clone: Clone) -> None:
    evil = clone.evil
    names = ("core.pager", "pager.log", "pager.diff", "pager.show", "core.editor", "sequence.editor",
             "core.askPass", "core.alternateRefsCommand")  # fmt: skip
    clone.config(*((name, evil) for name in names))
    for verb in ("rev-parse", "log", "status", "worktree"):
        clone.config((f"alias.{verb}", f"!{evil}"))


def _missing_objects(clone: Clone, url: str, *more: tuple[str, str]) -> None:
    """Make it a partial clone that lacks a file, which git fetches when it is looked at."""
    blob = clone.git("rev-parse", "HEAD~1:data.txt")
    (clone.git_folder / "objects" / blob[:2] / blob[2:]).unlink()
    clone.config(
        ("core.repositoryformatversion", "1"), ("extensions.partialClone", "origin"),
        ("remote.origin.url", url), ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"), *more,
    )  # fmt: skip


def lazy_fetch_by_a_command(clone: Clone) -> None:
    _missing_objects(clone, f"ext::{clone.evil} %S", ("protocol.ext.allow", "always"))


def lazy_fetch_by_ssh(clone: Clone) -> None:
    _missing_objects(clone, "ssh://localhost/x", ("core.sshCommand", clone.evil))


def lazy_fetch_by_a_proxy(clone: Clone) -> None:
    _missing_objects(clone, "git://localhost/x", ("core.gitProxy", clone.evil))


def lazy_fetch_by_an_upload_program(clone: Clone) -> None:
    _missing_objects(clone, f"file://{clone.folder}", ("remote.origin.uploadpack", clone.evil))


def lazy_fetch_by_a_helper(clone: Clone) -> None:
    _missing_objects(clone, "x", ("remote.origin.vcs", "ext"), ("protocol.allow", "always"))


def included_settings(clone: Clone) -> None:
    path = clone.whet.write("more.ini", f"[core]\n\tfsmonitor = {clone.evil}\n")
    clone.config(("include.path", str(path)))


def settings_of_the_worktree(clone: Clone) -> None:
    clone.config(("core.repositoryformatversion", "1"), ("extensions.worktreeConfig", "true"))
    text = f"[core]\n\tfsmonitor = {clone.evil}\n\tbare = false\n"
    (clone.git_folder / "config.worktree").write_text(text)


def files_elsewhere(clone: Clone) -> None:
    clone.config(("core.worktree", str(clone.home)))


def files_above(clone: Clone) -> None:
    clone.config(("core.worktree", str(clone.folder.parent)))


def git_folder_elsewhere(clone: Clone) -> None:
    clone.git_folder.rename(clone.folder / "old")
    (clone.folder / ".git").write_text(f"gitdir: {clone.home}/work/.git\n")


def common_folder_elsewhere(clone: Clone) -> None:
    (clone.git_folder / "commondir").write_text(f"{clone.home}/work/.git\n")


def objects_elsewhere(clone: Clone) -> None:
    place = clone.git_folder / "objects" / "info" / "alternates"
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"{clone.home}/work/.git/objects\n/dev/zero\n{clone.git_folder}/objects\n")


def replaced_commits(clone: Clone) -> None:
    clone.git("replace", "HEAD~1", "HEAD")
    (clone.git_folder / "info").mkdir(exist_ok=True)
    tip = clone.git("rev-parse", "HEAD")
    (clone.git_folder / "info" / "grafts").write_text(f"{tip} {tip}\n")


def noise_for_an_index(clone: Clone) -> None:
    (clone.git_folder / "index").write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff" + os.urandom(5000))
    graph = clone.git_folder / "objects" / "info" / "commit-graph"
    graph.parent.mkdir(exist_ok=True)
    graph.write_bytes(b"CGPH\1\1\xff\xff" + os.urandom(5000))


def bare_repository_inside(clone: Clone) -> None:
    clone.git("clone", "--quiet", "--bare", ".", "tests/fixture")
    inner = clone.folder / "tests" / "fixture"
    config = inner / "config"
    config.write_text(
        f"{config.read_text()}\tfsmonitor = {clone.evil}\n\thooksPath = {clone.folder}\n"
    )


def nested_repository(clone: Clone) -> None:
    inner = clone.folder / "inner"
    inner.mkdir()
    clone.git("init", "--quiet", str(inner))
    (inner / "a.txt").write_text("a")
    evil = clone.evil
    clone.git("-C", "inner", "config", "core.fsmonitor", evil)
    clone.git("-C", "inner", "config", "core.worktree", str(clone.home))
    clone.git("-C", "inner", "config", "filter.one.clean", evil)
    (inner / ".gitattributes").write_text("* filter=one\n")


def submodules(clone: Clone) -> None:
    tip = clone.git("rev-parse", "HEAD")
    rows = (
        ("-rf", "ext::sh -c evil"),
        ("--upload-pack=evil", f"--upload-pack={clone.evil}"),
        ("sub", "/"),
    )
    text = "".join(
        f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{clone.evil}\n'
        for path, url in rows
    )
    clone.whet.write(".gitmodules", text)
    for path, _ in rows:
        clone.git("update-index", "--add", "--cacheinfo", f"160000,{tip},{path}")
    clone.git("add", ".gitmodules")
    tree = clone.git("write-tree")  # `git commit` refuses them
    clone.git(
        "update-ref", "HEAD", clone.git("commit-tree", tree, "-p", "HEAD", "-m", "submodules")
    )
    for path, _ in rows:
        (clone.folder / path).mkdir()
        clone.config(
            (f"submodule.{path}.update", f"!{clone.evil}"), (f"submodule.{path}.active", "true")
        )


def submodule_elsewhere(clone: Clone) -> None:
    tip = subprocess.run(
        ["git", "-C", clone.home / "work", "rev-parse", "HEAD"], capture_output=True, check=True
    ).stdout.decode().strip()  # fmt: skip
    clone.git("update-index", "--add", "--cacheinfo", f"160000,{tip},sub")
    clone.git("commit", "-m", "a submodule")
    (clone.folder / "sub").symlink_to(clone.home / "work")


def submodule_below_a_link(clone: Clone) -> None:
    """Bring a tree in which `a` is a link out of the clone and a folder with a submodule, too."""
    tip = clone.git("rev-parse", "HEAD")
    inner = clone.git("mktree", "--missing", stdin=f"160000 commit {tip}\tsub\n".encode())
    link = clone.git("hash-object", "-w", "--stdin", stdin=os.fsencode(clone.home))
    listed = clone.git("ls-tree", "HEAD").encode() + b"\n"
    entries = f"120000 blob {link}\ta\n040000 tree {inner}\ta\n".encode()
    tree = clone.git("mktree", "--missing", stdin=listed + entries)
    clone.git("update-ref", "HEAD", clone.git("commit-tree", tree, "-p", "HEAD", "-m", "both"))


def tree_that_climbs(clone: Clone) -> None:
    blob = clone.git("hash-object", "-w", "--stdin", stdin=b"climbed")
    raw = b"100644 climbed\0" + bytes.fromhex(blob)
    inner = clone.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    data = clone.git("rev-parse", "HEAD:data.txt")
    raw = b"40000 ..\0" + bytes.fromhex(inner) + b"100644 data.txt\0" + bytes.fromhex(data)
    tree = clone.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    clone.git("update-ref", "HEAD", clone.git("commit-tree", tree, "-p", "HEAD", "-m", "climbs"))


def pipes_for_ignore_files(clone: Clone) -> None:
    (clone.folder / "deep").mkdir()
    for name in (".gitignore", ".gitattributes", "deep/.gitignore"):
        os.mkfifo(clone.folder / name)


def pipes_for_settings(clone: Clone) -> None:
    for name in ("whet.toml", "pyproject.toml", "setup.cfg", "uv.lock", ".python-version", ".gitmodules",
                 "requirements.txt", "conftest.py", "pytest.ini", "tox.ini", "pyvenv.cfg"):  # fmt: skip
        os.mkfifo(clone.folder / name)


def pipes_for_files(clone: Clone) -> None:
    (clone.folder / "main.py").unlink()
    os.mkfifo(clone.folder / "main.py")
    os.mkfifo(clone.folder / "new.txt")
    with socket.socket(socket.AF_UNIX) as unix, chdir(clone.folder):  # a path below 108 bytes
        unix.bind("socket")


def pipes_for_git(clone: Clone) -> None:
    (clone.git_folder / "HEAD").unlink()
    os.mkfifo(clone.git_folder / "HEAD")


def endless_files(clone: Clone) -> None:
    for name in ("whet.toml", "pyproject.toml", "requirements.txt", "uv.lock", "pytest.ini"):
        (clone.folder / name).symlink_to("/dev/zero")


def terabytes(clone: Clone) -> None:
    for name in ("whet.toml", "pyproject.toml", "requirements.txt", "uv.lock", "big.bin", "core"):
        with (clone.folder / name).open("wb") as file:
            file.truncate(1 << 40)


def terabyte_of_data(clone: Clone) -> None:
    with (clone.folder / "data.txt").open("r+b") as file:
        file.truncate(1 << 40)


def deep_folders(clone: Clone) -> None:
    with chdir(clone.folder):
        for _ in range(200):
            Path("a" * 50).mkdir()  # 10,000 bytes of path in all
            os.chdir("a" * 50)
        Path("file.py").write_text("x = 1\n")


def looping_links(clone: Clone) -> None:
    for name, target in (("a", "b"), ("b", "a"), ("up", "."), ("whet.toml", "whet.toml"),
                         (".whet", ".whet"), ("pyproject.toml", "up/up/up/pyproject.toml"),
                         (".gitignore", ".gitignore"), ("requirements.txt", "a")):  # fmt: skip
        (clone.folder / name).symlink_to(target)


ODD_NAMES = ("-rf", "--upload-pack=evil.sh", "a\nerror: b", "\x1b[2J\x1b]0;title\x07", "\x9b1m",
             "\u202egnp.exe", "$(touch x)", "`touch x`", "a;touch x", "%s%n", "'", '"', "\\", " ")  # fmt: skip


def odd_names(clone: Clone) -> None:
    for name in ODD_NAMES:
        (clone.folder / name).write_text(name)
    clone.git("add", "--all")
    clone.git("commit", "-m", "\x1b[2Jnames\u202e\n\n\x1b]0;title\x07\n")
    for name in ODD_NAMES:
        (clone.folder / name).write_text(f"{name}!")
    for name in ("\u202egnp", "$(touch;x)", "`x`", "'x\""):
        clone.git("update-ref", f"refs/tags/{name}", "HEAD")


def whole_whet_folder(clone: Clone) -> None:
    """Bring `.whet` in each layout that there was, with links out of the clone for all folders."""
    state = clone.folder / ".whet"
    state.mkdir()
    names = ("blobs", "scratch", "made", "pycache", "claims", "worktrees", "snapshots", "objects",
             "kept", "projects", "user.key", "notebook.db", "owner", "agreed", "lock", "environments")  # fmt: skip
    for name in names:
        (state / name).symlink_to(clone.home if "." not in name else clone.home / "thesis.md")


def settings_of_all_kinds(clone: Clone) -> None:
    evil = clone.evil
    clone.whet.write(
        "whet.toml",
        "timeout_seconds = 1e-9\njobs = 1000000000\nkeep_untracked_below_bytes = 0\n"
        f'[limits.laptop]\nread_only = ["{clone.home}"]\ndisk = "1K:{clone.home}"\nmemory = "1"\n'
        f'[toggles.one]\nvariables = {{ LD_PRELOAD = "{evil}", PATH = "{clone.folder}", '
        f'PYTHONSTARTUP = "{evil}", GIT_SSH = "{evil}", PYTHONPATH = "{clone.folder}" }}\n',
    )


def nested_settings(clone: Clone) -> None:
    clone.whet.write("whet.toml", f"a = {'[' * 100_000}")
    clone.whet.write("pyproject.toml", f"[tool.whet]\nb = {'{a=' * 50_000}")


def startup_files(clone: Clone) -> None:
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py", "noxfile.py"):
        clone.whet.write(name, clone.python)
    clone.whet.write("evil.pth", f"import os; os.system({clone.evil!r})\n")
    clone.whet.write("pyvenv.cfg", f"home = {clone.folder}\n")
    clone.whet.write(".python-version", "../../evil\n")
    clone.whet.write(
        "lib/python3.11/site-packages/evil.pth", f"import os; os.system({clone.evil!r})\n"
    )


def programs_beside(clone: Clone) -> None:
    for folder in (".venv/bin", "venv/bin", "bin", "node_modules/.bin", "."):
        for name in (
            "python",
            "python3",
            "git",
            "uv",
            "pip",
            "gdb",
            "py-spy",
            "strace",
            "rr",
            "sh",
            "date",
        ):
            path = clone.folder / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(clone.evil)
    clone.whet.write(".venv/pyvenv.cfg", f"home = {clone.folder}\n")


def modules_beside(clone: Clone) -> None:
    for name in SHADOWS:
        clone.whet.write(f"{name}.py", clone.python)
    for name in ("__init__", "__main__", "cli/__init__", "cli/main", "host/spawner"):
        clone.whet.write(f"whet/{name}.py", clone.python)


def byte_code_beside(clone: Clone) -> None:
    for name in SHADOWS:
        source = clone.whet.write(f"{name}.py", clone.python)
        py_compile.compile(str(source), cfile=str(clone.folder / f"{name}.pyc"))
        py_compile.compile(str(source))
        source.unlink()


def debugger_files(clone: Clone) -> None:
    clone.whet.write(
        ".pdbrc", clone.python.replace("\n    ", " ") + "!" + clone.python.replace("\n    ", " ")
    )
    clone.whet.write(".gdbinit", f"shell {clone.evil}\n")
    clone.whet.write(".lldbinit", f"platform shell {clone.evil}\n")
    clone.whet.write(".ipython/profile_default/startup/00.py", clone.python)
    clone.whet.write("main.py-gdb.py", clone.python)
    for name in (".strace", ".stracerc", ".rr", "core", "core.1"):
        clone.whet.write(name, f"!{clone.evil}\n")


def requirements(clone: Clone) -> None:
    clone.whet.write(
        "requirements.txt",
        f"--index-url file://{clone.folder}/index\n-e {clone.folder}\nevil @ file://{clone.folder}\n"
        f"-r /dev/zero\n-c {clone.home}/thesis.md\n--find-links {clone.folder}\nsix==1.0\n",
    )
    clone.whet.write("setup.py", clone.python)
    clone.whet.write("pip.conf", f"[global]\nindex-url = file://{clone.folder}\n")
    clone.whet.write("uv.toml", f'index-url = "file://{clone.folder}"\n')
    clone.whet.write(
        "pyproject.toml",
        '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
        '[project]\nname = "evil"\nversion = "1"\n[tool.uv]\nindex-url = "file:///"\n',
    )
    clone.whet.write("evil.py", clone.python)


def results_elsewhere(clone: Clone) -> None:
    for name in ("whet-report", "data.shrunk.txt", "data.shrunk.txt.part", "part.patch"):
        target = clone.home if name == "whet-report" else clone.home / "thesis.md"
        (clone.folder / name).symlink_to(target)


def pages_elsewhere(clone: Clone) -> None:
    (clone.folder / "whet-report").mkdir()
    names = ("index.html", "report.html", "report.md", "report.json", "README.md", "reproduce.sh",
             "data.txt", "curve.svg", "written.json", ".whet")  # fmt: skip
    for name in names:
        (clone.folder / "whet-report" / name).symlink_to(clone.home / "thesis.md")


def hard_links(clone: Clone) -> None:
    (clone.folder / "whet-report").mkdir()
    for name in (
        "data.shrunk.txt",
        "linked.txt",
        "whet-report/index.html",
        "whet-report/reproduce.sh",
    ):
        os.link(clone.home / "thesis.md", clone.folder / name)


class _Harm:
    def __init__(self, statements: str) -> None:
        self.statements = statements

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, (self.statements,)


def pickles(clone: Clone) -> None:
    (clone.folder / "payload.pkl").write_bytes(pickle.dumps([_Harm(clone.python), 1, 2]))


def torch_pickles(clone: Clone) -> None:
    with zipfile.ZipFile(clone.folder / "payload.pt", "w") as archive:
        archive.writestr("payload/data.pkl", pickle.dumps({"a": _Harm(clone.python)}))
        archive.writestr("payload/version", "3\n")


def object_arrays(clone: Clone) -> None:
    body = pickle.dumps([_Harm(clone.python)])
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    head += b" " * (-len(head) - 11 % 64) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + body
    (clone.folder / "payload.npy").write_bytes(data)


def yaml_tags(clone: Clone) -> None:
    text = (
        f"a: !!python/object/apply:os.system ['{clone.evil}']\nb: !!python/name:os.system\nc: 1\n"
    )
    (clone.folder / "payload.yaml").write_text(text)


def yaml_bomb(clone: Clone) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (clone.folder / "payload.yaml").write_text("\n".join(lines) + "\n")


def xml_bomb(clone: Clone) -> None:
    entities = ['<!ENTITY a0 "lol">']
    entities += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)]
    text = f"<?xml version='1.0'?>\n<!DOCTYPE x [{''.join(entities)}]>\n<x><y>&a11;</y><z/></x>\n"
    (clone.folder / "payload.xml").write_text(text)


def xml_entities(clone: Clone) -> None:
    (clone.folder / "payload.xml").write_text(
        f"<?xml version='1.0'?>\n<!DOCTYPE x [<!ENTITY a SYSTEM 'file://{clone.home}/thesis.md'>"
        f"<!ENTITY % b SYSTEM 'file:///dev/zero'> %b;]>\n<x><y>&a;</y><z/></x>\n"
    )


def climbing_zip(clone: Clone) -> None:
    with zipfile.ZipFile(clone.folder / "payload.zip", "w") as archive:
        for name in (
            "../../climbed",
            f"{clone.home}/climbed",
            "ok.txt",
            "..\\climbed",
            "a/../../../climbed",
        ):
            archive.writestr(name, "climbed")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(clone.home))
        archive.writestr("link/climbed", "climbed")


def climbing_tar(clone: Clone) -> None:
    with tarfile.open(clone.folder / "payload.tar", "w") as archive:
        for name in ("../../climbed", f"{clone.home}/climbed", "ok.txt"):
            info = tarfile.TarInfo(name)
            info.size = 7
            archive.addfile(info, io.BytesIO(b"climbed"))
        for name, kind, target in (
            ("link", tarfile.SYMTYPE, clone.home),
            ("hard", tarfile.LNKTYPE, clone.home / "thesis.md"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(target)
            archive.addfile(info)
        for name in ("link/climbed", "hard"):
            info = tarfile.TarInfo(name)
            info.size = 7
            archive.addfile(info, io.BytesIO(b"climbed"))
        device = tarfile.TarInfo("device")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 5
        archive.addfile(device)


def _zeros(gigabytes: int) -> bytes:
    """Return a gzip stream of very many zeros, in members, made at once."""
    return gzip.compress(bytes(1 << 26), 9) * (16 * gigabytes)


def zip_bomb(clone: Clone) -> None:
    with zipfile.ZipFile(clone.folder / "payload.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(30):
            archive.writestr(f"{number}.bin", bytes(1 << 26))
        archive.writestr("ok.txt", "ok")


def gzip_bomb(clone: Clone) -> None:
    (clone.folder / "payload.json.gz").write_bytes(_zeros(16))


def pages_as_data(clone: Clone) -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{script}</svg>'
    clone.whet.write("data.txt", f"{script}\n{svg}\n")
    clone.git("commit", "-a", "-m", f"{script} `code` [x](javascript:alert(1))")
