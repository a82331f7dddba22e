"""whet's agent: a stack on request, and byte code that is keyed by what the source says.

For Python 3.8 and later. It imports nothing that a starting interpreter has not loaded yet
but what is built in: that is what keeps it below a millisecond or two.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.abc import FileLoader
    from importlib.machinery import SourceFileLoader
    from pathlib import Path
    from types import CodeType
    from typing import Any

    from whet.agent.site.whet_probe.loading import Loading

    Make = Callable[[str, str, Callable[[], bytes]], CodeType | None]
    Guards = dict[str, Callable[[dict[str, object]], None]]

_SIGNAL = 62  # a real-time signal that nothing sends on its own; see `whet.host.inspect.stacks`
_ALL_THREADS_SIGNAL = 63
_HIGH_DESCRIPTORS = (1000, 500, 250, 120, 60)
_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_PART = 1 << 16
_RACY_SECONDS = 2.0
_REWRITER = "_pytest.assertion.rewrite"
# Python leaves frames of this file out of the traceback of a module that can't be imported.
_IMPORT_SYSTEM = "<frozen importlib._bootstrap_external>"


def install(collecting: tuple[bool, int]) -> None:
    """Take up the agent's jobs, each if it is asked for and can be done.

    Args:
        collecting: what `_stop_collecting` would have returned before the agent was imported.
    """
    try:
        _install()
    finally:
        _ballast.extend(_cell() for _ in range(_BALLAST_COUNT))
        _fill_free_lists()
        _gc.collect(0)  # a warm run makes far more here than a cold one: neither counts
        _collect_again(collecting)


# In which order objects go when Python ends depends on when garbage was collected. It is collected
# when it would be had the agent made nothing: in a warm run as in a cold one, and in a run that
# compiles a module as in the next one.
def _stop_collecting() -> tuple[bool, int]:
    """Let garbage stay; return what `_collect_again` is to be given."""
    collecting = _gc.isenabled(), _gc.get_count()[0]
    _gc.disable()
    return collecting


def _collect_again(before: tuple[bool, int]) -> None:
    """Let garbage go as it did, and count nothing that was made meanwhile."""
    was_collected, young = before
    made = _gc.get_count()[0] - young
    if made > 0:
        del _ballast[-made:]
    while _gc.get_count()[0] < young:
        _ballast.append(_cell())
    if was_collected:
        _gc.enable()


def _fill_free_lists() -> None:
    """Let Python have as many lists and dicts at hand as it keeps, which the collector doesn't count."""
    made: list[object] = []
    for _ in range(_FREE_COUNT):
        made += [[], {}]


def _import_collector() -> Any:
    had_it = "gc" in sys.modules
    collector = __import__("gc")
    if not had_it:
        del sys.modules["gc"]  # the program has not imported it
    return collector


def _kind_of_cell(here: object) -> Any:
    def inner() -> object:
        return here

    cells: Any = inner.__closure__
    return cells[0].__class__


_BALLAST_COUNT = 500
_FREE_COUNT = 200  # more than any Python keeps of each
_cell = _kind_of_cell(None)
_ballast: list[object] = []
"""Small objects that the collector counts as made when they are, and as gone when they go."""
_gc = _import_collector()


def _install() -> None:
    if os.environ.get("WHET_CLOCK"):
        __import__("whet_true_sleep").sleep_in_true_time()
    if "variable=" in os.environ.get("WHET_TOGGLES", ""):
        _import_unfiltered("whet_toggles").restore()
    answer = _Answer()
    answer.prepare()
    stage = os.environ.pop("WHET_STAGE", "")
    debugging = os.environ.pop("WHET_PDB", "")
    if debugging and sys.version_info >= (3, 9):
        _debug(debugging)
    probing: list[Loading] = []
    keeping = _take_up(answer.folder or "", probing)
    cache = os.environ.get("WHET_PYCACHE")
    if cache and sys.implementation.name == "cpython":
        loading: list[Callable[[str, str], CodeType | None]] = []
        guards: Guards = {}
        # At its first line a program has no past to keep: Python runs it.
        if stage and debugging != "at once" and sys.version_info >= (3, 9):
            loading, guards = _begin_stage(stage, answer.prepare, _ByteCode(cache, ".hooks"))
        woven: list[Make] = [each.code for each in probing]
        _key_byte_code_by_content(cache, loading, _both(keeping, guards), woven)


def _begin_stage(
    wish: str, anew: Callable[[], object], store: _ByteCode
) -> tuple[list[Any], Guards]:
    """Take over the main script."""
    stages = _import_unfiltered("whet_stage.stage").stage
    begun: tuple[list[Any], Guards] = stages.install(wish, anew, store)
    return begun


def _take_up(folder: str, probing: list[Loading]) -> Guards:
    """Take up what only watches or turns something; return what is called with certain modules."""
    if not folder:
        return {}

    def probes(module: Any, wish: str) -> Guards:
        loading: Loading | None = module.begin(folder, wish)
        probing.extend([] if loading is None else [loading])
        return {} if loading is None else loading.guards

    def tell(suffix: str, data: bytes) -> None:
        _append(os.path.join(folder, "{}{}".format(os.getpid(), suffix)), data)

    told = os.environ.get
    # What is asked for, None: nothing; whether all that a job imports is to be forgotten, or its
    # own module alone; what begins it.
    jobs: tuple[tuple[str | None, str, bool, Callable[[Any, str], Guards]], ...] = (
        ("", "whet_tasks", False, lambda own, _: own.answering(tell)),
        ("", "whet_locks", False, lambda own, _: own.answering(tell)),
        ("" if told("WHET_LOCALS") == "1" else None, "whet_presence", False,
            lambda own, _: own.begin(tell)),
        ("" if told("WHET_LOCALS") == "1" else None, "whet_failures", False,
            lambda own, _: own.Watch(tell, _hidden).begin()),
        (told("WHET_TOGGLES"), "whet_toggles", False,
            lambda own, wish: own.Switches(tell, wish).begin()),
        (told("WHET_GPU_MEMORY") or None, "whet_gpu", False,
            lambda own, wish: own.Cap(tell, int(wish)).begin()),
        (told("WHET_LEVELS") or None, "whet_levels", False,
            lambda own, wish: own.Levels(tell, float(wish)).begin()),
        (told("WHET_COMPILES") or None, "whet_compiles", False, lambda own, _: own.begin(tell)),
        (told("WHET_CLOSER"), "whet_closer", True, probes),
        (told("WHET_PROBES") or None, "whet_probe", True, probes),
        (told("WHET_COUNT") or None, "whet_count", True, probes),
        (told("WHET_LEAK") or None, "whet_leak", True, probes),
        (told("WHET_LINES") or None, "whet_lines", True, probes),
        (told("WHET_EDIT") or None, "whet_edits", True, probes),
        (told("WHET_PROFILER") or None, "whet_profiler", False,
            lambda own, wish: own.begin(folder, tell, wish)),
        (told("WHET_PROFILE") or None, "whet_profile", True, lambda own, wish: own.begin(wish)),
    )  # fmt: skip
    keeping: Guards = {}
    for wish, name, forgets_all, begin in jobs:
        if wish is not None:
            guards = _begun(name, begin, wish, forgets_all=forgets_all)
            for module, guard in guards.items():
                if module in sys.modules:  # a `.pth` file has brought it in
                    guard(vars(sys.modules[module]))
            keeping = _both(keeping, guards)
    return keeping


_hidden: dict[str, Any] = {}
"""Modules that whet has imported for itself and hidden from the program; later imports of whet use them."""


def _append(path: str, data: bytes) -> None:
    """Write at the end of a file of whet's own; where that can't be done, leave it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
    except OSError:
        pass  # the trial is over, or the disk is full: the program is what matters


def _is_library(path: str) -> bool:
    """Whether an installer put a file where it is, in whichever folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    kept = sys.modules.pop("whet_installed", None)
    sys.path.insert(0, here)
    try:
        return bool(_import_unfiltered("whet_installed").is_library(path))
    finally:
        sys.path.remove(here)
        sys.path_importer_cache.pop(here, None)
        sys.modules.pop("whet_installed", None)  # the program hasn't imported it
        if kept is not None:
            sys.modules["whet_installed"] = kept


def _begun(
    name: str, begin: Callable[[Any, str], Guards], wish: str, *, forgets_all: bool
) -> Guards:
    """Begin with a module of whet's, and leave no name where the program could find it."""
    before = set(sys.modules)
    if forgets_all:
        sys.modules.update({each: _hidden[each] for each in _hidden.keys() - before})
    try:
        return begin(_import_unfiltered(name), wish)
    finally:
        for each in set(sys.modules) - before if forgets_all else [name, "whet_installed"]:
            module = sys.modules.pop(each, None)  # the program may have modules of these names
            if forgets_all and (each[:5] != "whet_" or each[:10] == "whet_state"):
                _hidden[each] = module


def _import_unfiltered(name: str) -> Any:
    """Import what is whet's own, so that nobody asks what is looked up for it."""
    import _frozen_importlib_external as machinery

    def look(path: str) -> os.stat_result:
        return os.stat(path, dir_fd=_MAGIC_FOLDER) if path[:1] == "/" else os.stat(path)

    def get_data(loader: FileLoader, path: str) -> bytes:
        if path[:1] != "/" or not path.endswith((".py", ".pyc")):
            return read(loader, path)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=_MAGIC_FOLDER)
        try:
            # A file object would ask for its size, twice, and each time somebody would be asked.
            parts = [os.read(descriptor, _PART)]
            while parts[-1]:
                parts.append(os.read(descriptor, _PART))
        finally:
            os.close(descriptor)
        return b"".join(parts)

    places = ((machinery, "_path_stat", look), (machinery.FileLoader, "get_data", get_data))
    originals = [(where, part, getattr(where, part)) for where, part, _ in places]
    read: Callable[[FileLoader, str], bytes] = originals[-1][2]
    try:
        for where, part, function in places:
            setattr(where, part, function)
        return __import__(name)
    finally:
        for where, part, original in originals:
            setattr(where, part, original)


def _both(one: Guards, other: Guards) -> Guards:
    """Return guards of which those for the same module are called one after the other."""
    both = {**one, **other}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]

        def guard(
            module: dict[str, object],
            first: Callable[[dict[str, object]], None] = first,
            second: Callable[[dict[str, object]], None] = second,
        ) -> None:
            first(module)
            second(module)

        both[name] = guard
    return both


def _debug(wish: str) -> None:
    before = set(sys.modules)
    __import__("whet_stage.rewriting.debugger").rewriting.debugger.install(wish)
    for name in set(sys.modules) - before:
        del sys.modules[name]  # the program may have modules of these names


class _Answer:
    """Writes the main thread's stack to a file of this process when the signal comes."""

    def __init__(self) -> None:
        self.folder = os.environ.get("WHET_AGENT")
        self._descriptor = -1
        self._report = ""

    def prepare(self) -> None:
        """Be ready, in this process or again in one that was forked from it."""
        if self.folder:
            try:
                self._listen(os.path.join(self.folder, str(os.getpid())))
            except Exception:  # noqa: BLE001, S110 - a limit, a sandbox: then there is no stack
                pass

    def _listen(self, path: str) -> None:
        import faulthandler

        is_first = self._descriptor < 0
        if not is_first and not self._is_ours():
            return  # the program has closed it, and may have a file of its own there
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        low = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        # High up, where no program looks that counts or closes the first few.
        places = list(filter(_is_free, _HIGH_DESCRIPTORS)) if is_first else [self._descriptor]
        self._descriptor = low
        for high in places:
            try:
                self._descriptor = os.dup2(low, high, False)  # noqa: FBT003 - inheritable: no
            except OSError:
                continue
            os.close(low)
            break
        faulthandler.register(_SIGNAL, file=self._descriptor, all_threads=False, chain=False)
        faulthandler.register(
            _ALL_THREADS_SIGNAL, file=self._descriptor, all_threads=True, chain=False
        )
        if is_first:
            _keep_crashes(faulthandler, self._descriptor)
        self._report = path

    def _is_ours(self) -> bool:
        try:
            target = os.readlink("/proc/self/fd/{}".format(self._descriptor))
        except OSError:
            return False
        # It is gone with the trial that it was for.
        return target.rpartition("/")[2].startswith(os.path.basename(self._report))


def _keep_crashes(faulthandler: Any, descriptor: int) -> None:
    """Have the stack written when a signal such as SIGSEGV ends the program, which doesn't notice."""
    if faulthandler.is_enabled():
        return  # the program's own words, on its standard error
    originals = {name: getattr(faulthandler, name) for name in ("enable", "is_enabled")}
    faulthandler.enable(descriptor, all_threads=False)

    names: dict[str, object] = faulthandler.__dict__

    def enable(*arguments: Any, **named: Any) -> None:
        names.update(originals)
        originals["enable"](*arguments, **named)

    names.update(enable=enable, is_enabled=bool)


def _is_free(descriptor: int) -> bool:
    try:
        os.get_inheritable(descriptor)  # of what no kernel filter of whet's asks about
    except OSError:
        return True
    return False


def _key_byte_code_by_content(
    cache: str,
    load: list[Callable[[str, str], CodeType | None]],
    guards: dict[str, Callable[[dict[str, object]], None]],
    woven: list[Make],
) -> None:
    """Look up and keep the byte code of the user's modules under a digest of their source.

    Python itself trusts a `.pyc` whose recorded time (in whole seconds) and size are those of
    the source; an edit of the same size in the same second then runs the old code. Installed
    packages and the standard library don't change under way: they are left as they are.

    Args:
        cache: the folder.
        load: the one in it loads the user's modules instead, so that they can be changed
            under way; none: nothing does.
        guards: what is called with the namespace of an installed module when it has been run.
        woven: each makes the code of modules in which something is looked out for.
    """
    import _frozen_importlib_external as machinery

    loader: type[SourceFileLoader] = machinery.SourceFileLoader
    original = loader.get_code
    installed = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
    own = os.path.dirname(os.path.abspath(__file__))  # also where whet is developed
    settled = (os.path.dirname(os.__file__) + os.sep, own + os.sep)
    kept = _ByteCode(cache)

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        for make in woven:
            made = make(fullname, path, lambda: self.get_data(path))
            if made is not None:
                return made
        is_settled = path.startswith(settled) or any(part in path for part in installed)
        if is_settled or (fullname in guards and _is_library(path)):
            code = original(self, fullname)
            if code and fullname == _REWRITER:
                code = _guarded(code, _guard_rewriter)
            return _guarded(code, guards[fullname]) if code and fullname in guards else code
        # In one line: a debugger steps through here, and sees no other way in a warm run.
        followed = load[0](fullname, path) if load and type(self) is loader else None
        if followed is not None:
            return followed
        source = self.get_data(path)
        if type(self) is not loader:
            # It may compile in a way of its own, as type checkers at run time do.
            return self.source_to_code(source, path)
        collecting = _stop_collecting()
        try:
            code = kept.find(source, path)
            if code is None:
                code = self.source_to_code(source, path)
                kept.keep(source, code)
        finally:
            _collect_again(collecting)
        return code

    get_code.__code__ = get_code.__code__.replace(co_filename=_IMPORT_SYSTEM)
    setattr(loader, "get_code", get_code)  # noqa: B010 - a type checker takes no other way


class _ByteCode:
    """Compiled modules by what their source says; the same module has the same file anywhere."""

    def __init__(self, folder: str, kind: str = "") -> None:
        import _imp
        import marshal
        from _frozen_importlib_external import MAGIC_NUMBER

        self._folder = folder
        self._marshal = marshal
        self._imp = _imp
        self._magic: bytes = MAGIC_NUMBER
        # `PYTHONDONTWRITEBYTECODE` keeps byte code out of the user's tree; this is elsewhere.
        self._can_write = True
        self._suffix = "{}.{}.opt-{}{}.pyc".format(
            kind, sys.implementation.cache_tag, sys.flags.optimize, _ranges_mark()
        )

    def find(self, source: bytes, path: str) -> CodeType | None:
        """Return the code of a source, as if compiled from the file ``path``; None if unknown."""
        try:
            code: CodeType = self._marshal.loads(self.load(source))
            vars(self._imp)["_fix_co_filename"](code, path)
        except Exception:  # noqa: BLE001 - not there, or spoilt by a crash of the machine
            return None
        return code

    def keep(self, source: bytes, code: CodeType) -> None:
        """Keep the code of a source, if this folder can be written to."""
        self.save(source, self._marshal.dumps(code))

    def load(self, source: bytes) -> bytes:
        """Return what is kept for a source; empty: nothing is."""
        try:
            with open(self._path_of(source), "rb", 0) as file:
                data = file.read()
        except OSError:
            return b""
        return data[len(self._magic) :] if data.startswith(self._magic) else b""

    def save(self, source: bytes, data: bytes) -> None:
        """Keep something for a source, if this folder can be written to."""
        if self._can_write:
            self._can_write = _write_atomically(self._path_of(source), self._magic + data)

    def _path_of(self, source: bytes) -> str:
        # Two keyed 64-bit digests (SipHash) and the length: built in, so nothing to import.
        one, other = (self._imp.source_hash(key, source).hex() for key in (0x77686574, 0x616765))
        return os.path.join(
            self._folder, "{}{}{:x}{}".format(one, other, len(source), self._suffix)
        )


def _write_atomically(path: str, data: bytes) -> bool:
    """Write a file whole or not at all; False if that can't be done here."""
    beside = "{}.{}".format(path, os.getpid())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(beside, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = os.open(beside, flags, 0o666)
        try:
            is_whole = os.write(descriptor, data) == len(data)
        finally:
            os.close(descriptor)
        if is_whole:
            os.replace(beside, path)
        else:
            os.unlink(beside)
    except OSError:
        return False
    return is_whole


def _ranges_mark() -> str:
    """Tell apart code that was compiled without column numbers."""
    options = getattr(sys, "_xoptions", {})
    left_out = os.environ.get("PYTHONNODEBUGRANGES") or "no_debug_ranges" in options
    return "n" if left_out else ""


def _guarded(code: CodeType, guard: Callable[[dict[str, object]], None]) -> CodeType:
    """Return code that runs a module's ``code`` and then hands its namespace to ``guard``."""
    both = compile("exec('module', globals()); 'guard'.__call__(globals())", _IMPORT_SYSTEM, "exec")
    values = {"module": code, "guard": guard}
    return both.replace(
        co_consts=tuple(values.get(c, c) if isinstance(c, str) else c for c in both.co_consts)
    )


def _guard_rewriter(module: dict[str, object]) -> None:
    """Let pytest trust no byte code of its own that may be stale.

    It keeps rewritten tests under their time and size as Python does. Byte code that is
    hardly younger than its source may be that of the text before; pytest then makes it again,
    and the next one is old enough.
    """
    read = module.get("_read_pyc")
    if not callable(read):
        return

    def _read_pyc(source: Path, pyc: Path, *rest: object, **named: object) -> object:
        try:
            # Tagged: the program itself doesn't look.
            made, saved = (
                os.stat(os.path.abspath(str(each)), dir_fd=_MAGIC_FOLDER).st_mtime
                for each in (pyc, source)
            )
            is_racy = made - saved < _RACY_SECONDS
        except OSError:
            is_racy = False
        return None if is_racy else read(source, pyc, *rest, **named)

    module["_read_pyc"] = _read_pyc
