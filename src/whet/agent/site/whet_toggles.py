"""Turns switches inside a program that it has no variable for, and tells what it has loaded.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import atexit
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Guard: TypeAlias = Callable[[dict[str, Any]], None]

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_SUFFIX = ".toggles"
_MANY = 16


class Switches:
    """What is switched in this process, and what tells of it: a file of its own, line by line."""

    def __init__(self, tell: Callable[[str, bytes], None], inside: str) -> None:
        self._write = tell
        self._inside = set(inside.split(","))
        self._told: set[str] = set()

    def begin(self) -> dict[str, Guard]:
        """Tell at the end; return what is called with modules when they have been run."""
        if "environment" in self._inside:
            self._tell(*_variables())
        atexit.register(self._tell_all)
        self._amplify()
        guards: dict[str, Guard] = {}
        for name, found in (
            ("torch-anomaly", {"torch": self._watch_gradients}),
            ("torch-deterministic", {"torch": self._choose_algorithms}),
            ("no-workers", {"torch.utils.data.dataloader": self._load_alone}),
            ("spawn", {"multiprocessing.context": self._spawn_all}),
            (
                "one-process",
                {
                    "multiprocessing.pool": self._pool_inside,
                    "concurrent.futures.process": self._executor_inside,
                    "torch.distributed.launcher.api": self._one_rank,
                    "torch.distributed.distributed_c10d": self._group_of_one,
                    "torch.multiprocessing.spawn": self._spawn_one,
                },
            ),
            (
                "no-autocast",
                {
                    "torch.amp.autocast_mode": self._off("autocast"),
                    "torch.amp.grad_scaler": self._off("GradScaler"),
                },
            ),
            ("float32", {"torch": self._in_float32}),
            (
                "one-thread",
                {
                    "concurrent.futures.thread": self._one_of(
                        "one-thread", "ThreadPoolExecutor", "max_workers"
                    )
                },
            ),
            (
                "many-threads",
                {
                    "concurrent.futures.thread": self._one_of(
                        "many-threads", "ThreadPoolExecutor", "max_workers", _MANY
                    )
                },
            ),
            (
                "reversed-tests",
                {
                    "_pytest.main": self._order("reversed-tests", _reversed),
                    "unittest.loader": self._backwards,
                },
            ),
            ("shuffled-tests", {"_pytest.main": self._order("shuffled-tests", _shuffled)}),
        ):
            if name in self._inside:
                for module, guard in found.items():
                    guards[module] = _after(guards.get(module), guard)
        for each in self._inside:
            switch, _, seed = each.partition("=")
            if switch == "random-seed":
                for module, guard in self._seeds(int(seed)).items():
                    guards[module] = _after(guards.get(module), guard)
        for module, guard in (*self._results(), *self._slips()):
            guards[module] = _after(guards.get(module), guard)
        return guards

    def _slips(self) -> list[tuple[str, Guard]]:
        """Return what mends slips that no line fails on."""
        module = __import__("whet_slips")
        sys.modules.pop("whet_slips", None)
        if not module.SLIPS & self._inside:
            return []
        return [*module.Slips(self._tell, self._inside).guards().items()]

    def _results(self) -> list[tuple[str, Guard]]:
        """Return what holds the order in which results arrive."""
        guards: list[tuple[str, Guard]] = []
        for switch, is_reversed in (("submission-order", False), ("reversed-results", True)):
            if switch in self._inside:
                module = __import__("whet_results")
                held = module.Results(self._tell, "inside:" + switch, is_reversed=is_reversed)
                guards += held.guards().items()
                sys.modules.pop("whet_results", None)
        return guards

    def _seeds(self, seed: int) -> dict[str, Guard]:
        """Return what starts random numbers from a seed, where the program gives none itself."""

        def of_python(module: dict[str, Any]) -> None:
            made = module["Random"].__init__

            def make(own: Any, x: Any = None) -> None:
                made(own, seed if x is None else x)

            module["Random"].__init__ = make
            module["seed"](seed)
            self._tell("inside:random-seed")

        def of_numpy(module: dict[str, Any]) -> None:
            made = module["default_rng"]

            def default_rng(seed_given: Any = None) -> Any:
                return made(seed if seed_given is None else seed_given)

            module["default_rng"] = default_rng
            module["seed"](seed)
            self._tell("inside:random-seed")

        def of_torch(module: dict[str, Any]) -> None:
            module["manual_seed"](seed)
            self._tell("inside:random-seed")

        return {"random": of_python, "numpy.random": of_numpy, "torch": of_torch}

    def _tell(self, *signs: str) -> None:
        new = [each for each in signs if each not in self._told]
        if not new:
            return
        self._told.update(new)
        lines = "".join(each + "\n" for each in new)
        self._write(_SUFFIX, lines.encode("ascii", "backslashreplace"))

    def _tell_all(self) -> None:
        """Tell what was loaded, and that the end was reached."""
        modules = ["module:" + name for name in tuple(sys.modules)]
        flags = ["flag:dev_mode"] if getattr(sys.flags, "dev_mode", False) else []
        self._tell(*modules, *flags, *_libraries(), "end")

    def _watch_gradients(self, module: dict[str, Any]) -> None:
        module["autograd"].set_detect_anomaly(True)
        self._tell("inside:torch-anomaly")

    def _choose_algorithms(self, module: dict[str, Any]) -> None:
        module["use_deterministic_algorithms"](mode=True)
        self._tell("inside:torch-deterministic")

    def _load_alone(self, module: dict[str, Any]) -> None:
        alone = {
            "num_workers": 0, "prefetch_factor": None, "persistent_workers": False,
            "multiprocessing_context": None, "timeout": 0,
        }  # fmt: skip
        self._hold("no-workers", module["DataLoader"], alone)

    def _spawn_all(self, module: dict[str, Any]) -> None:
        """Have what would be forked started from scratch, whichever way the program asks for."""
        contexts, default = module["_concrete_contexts"], module["_default_context"]
        spawn = contexts["spawn"]
        kind: type = spawn.Process
        starts = "_Popen"  # as Python calls what starts a process
        start: Callable[[Any], Any] = getattr(kind, starts)

        def popen(process: Any) -> Any:
            self._tell("inside:spawn")
            return start(process)

        type.__setattr__(kind, starts, staticmethod(popen))
        for each in ("fork", "forkserver"):
            contexts[each] = spawn
        vars(default)["_default_context"] = spawn
        vars(default)["_actual_context"] = None

    def _one_of(self, switch: str, name: str, parameter: str, count: int = 1) -> Guard:
        def guard(module: dict[str, Any]) -> None:
            self._hold(switch, module[name], {parameter: count})

        return guard

    def _amplify(self) -> None:
        """Turn what needs no module of the program."""
        if "switch-often" in self._inside:
            sys.setswitchinterval(1e-6)
            self._tell("inside:switch-often")
        if "one-core" in self._inside and hasattr(os, "sched_setaffinity"):
            try:
                os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
                self._tell("inside:one-core")
            except OSError:
                pass  # a sandbox: it did not take, and isn't told
        if "sleeps" in self._inside:
            places = os.environ.get("WHET_SLEEPS", "")
            __import__("whet_sleeps").Sleeps(self._tell, places).begin()
            sys.modules.pop("whet_sleeps", None)

    def _order(self, switch: str, ordered: Callable[[list[Any]], list[Any]]) -> Guard:
        """Return what lets pytest run what it has collected in another order."""

        def guard(module: dict[str, Any]) -> None:
            session = module["Session"]
            original = session.perform_collect

            def perform_collect(own: Any, *given: Any, **named: Any) -> Any:
                found = original(own, *given, **named)
                own.items[:] = ordered(list(own.items))
                self._tell("inside:" + switch)
                return found

            session.perform_collect = perform_collect

        return guard

    def _backwards(self, module: dict[str, Any]) -> None:
        """Let unittest run the tests of each class in the opposite order."""

        def compare(one: str, other: str) -> int:
            self._tell("inside:reversed-tests")
            return (one < other) - (one > other)

        module["TestLoader"].sortTestMethodsUsing = staticmethod(compare)

    def _pool_inside(self, module: dict[str, Any]) -> None:
        """Let a pool of processes work in one thread of this process."""
        pool = module["Pool"]
        threads = module["ThreadPool"]
        for name in (
            "Process", "_setup_queues", "_get_sentinels", "_get_worker_sentinels",
            "_help_stuff_finish",
        ):  # fmt: skip
            setattr(pool, name, threads.__dict__[name])
        self._hold("one-process", pool, {"processes": 1, "maxtasksperchild": None})
        original = pool.__init__

        def make(own: Any, *given: Any, **named: Any) -> None:
            vars(own)["_setup_queues"] = threads.__dict__["_setup_queues"].__get__(own)
            try:
                original(own, *given, **named)
            finally:
                del vars(own)["_setup_queues"]

        pool.__init__ = make

    def _executor_inside(self, module: dict[str, Any]) -> None:
        """Let an executor with processes work in one thread of this process."""
        executor = module["ProcessPoolExecutor"]
        self._hold("one-process", executor, {"max_workers": 1})
        original = executor.__init__

        def make(own: Any, *given: Any, **named: Any) -> None:
            original(own, *given, **named)
            own.whet_inside = __import__("concurrent.futures.thread").futures.ThreadPoolExecutor(
                1, initializer=vars(own)["_initializer"], initargs=vars(own)["_initargs"]
            )

        def submit(own: Any, /, *given: Any, **named: Any) -> Any:
            return own.whet_inside.submit(*given, **named)

        def shutdown(own: Any, *given: Any, **named: Any) -> None:
            own.whet_inside.shutdown(*given, **named)

        executor.__init__, executor.submit, executor.shutdown = make, submit, shutdown

    def _one_rank(self, module: dict[str, Any]) -> None:
        """Have torchrun, in whichever way it is started, run one process on one machine."""
        one = {"min_nodes": 1, "max_nodes": 1, "nproc_per_node": 1}
        self._hold("one-process", module["LaunchConfig"], one)

    def _group_of_one(self, module: dict[str, Any]) -> None:
        """Have a process group of this process alone, however many the program asks for."""
        self._replace_values(module, "init_process_group", {"world_size": 1, "rank": 0})

    def _spawn_one(self, module: dict[str, Any]) -> None:
        self._replace_values(module, "start_processes", {"nprocs": 1})

    def _replace_values(self, module: dict[str, Any], name: str, held: dict[str, int]) -> None:
        """Have a function called with these values where it is given any."""
        original = module[name]
        plain = original
        while hasattr(plain, "__wrapped__"):
            plain = plain.__wrapped__
        names = plain.__code__.co_varnames[: plain.__code__.co_argcount]

        def call(*given: Any, **named: Any) -> Any:
            self._tell("inside:one-process")
            values = {name: given[place] for place, name in enumerate(names[: len(given)])}
            values.update(named)
            # A value that means "not given" stays: the environment says it then.
            kept = {each: held[each] for each in held if values.get(each, -1) != -1}
            return original(*given[len(names) :], **{**values, **kept})

        vars(call)["__wrapped__"] = original
        call.__name__ = name
        module[name] = call

    def _off(self, name: str) -> Guard:
        """Return what makes a class of mixed precision do nothing."""

        def guard(module: dict[str, Any]) -> None:
            self._hold("no-autocast", module[name], {"enabled": False})

        return guard

    def _in_float32(self, module: dict[str, Any]) -> None:
        """Have what is made or converted in half precision made in float32."""
        low, single, kind = (
            {module["float16"], module["bfloat16"]},
            module["float32"],
            module["dtype"],
        )
        tensor = module["Tensor"]
        other_ways = {tensor.half: tensor.float, tensor.bfloat16: tensor.float}

        def raised(value: Any) -> Any:
            if not isinstance(value, kind) or value not in low:
                return value
            self._tell("inside:float32")
            return single

        def call(_mode: Any, function: Any, _types: Any, given: Any = (), named: Any = None) -> Any:
            if function in other_ways:
                self._tell("inside:float32")
            called = other_ways.get(function, function)
            others: dict[str, Any] = {} if named is None else named
            values = {name: raised(value) for name, value in others.items()}
            return called(*map(raised, given), **values)

        base = module["overrides"].TorchFunctionMode
        type("InFloat32", (base,), {"__torch_function__": call})().__enter__()
        set_default = module["set_default_dtype"]

        def set_raised(dtype: Any) -> None:
            set_default(raised(dtype))

        module["set_default_dtype"] = set_raised

    def _hold(self, switch: str, made: Any, held: dict[str, Any]) -> None:
        """Have a class made with these values, whatever the program says."""
        original = made.__init__
        code = original.__code__
        names = code.co_varnames[1 : code.co_argcount]
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        own_values = {name: value for name, value in held.items() if name in known}

        def make(own: object, *given: object, **named: object) -> None:
            self._tell("inside:" + switch)
            values = {name: given[place] for place, name in enumerate(names[: len(given)])}
            values.update(named)
            original(own, *given[len(names) :], **{**values, **own_values})

        vars(make)["__wrapped__"] = original
        make.__name__ = original.__name__
        made.__init__ = make


def _variables() -> list[str]:
    """Return the variables of this process, in hexadecimal; of a secret its name alone."""
    why_secret = __import__("whet_state.secret_rule", fromlist=["why_secret"]).why_secret
    return [
        "variable:{}={}".format(
            name, "" if why_secret(name, value, is_variable=True) else os.fsencode(value).hex()
        )
        for name, value in os.environ.items()
        if name.isidentifier() and not name.startswith("WHET_")
    ]


def restore() -> None:
    """Start this Python again with the variables that are asked for, unless it has them.

    Python reads some only when it starts, such as those of the locale.
    """
    wanted = dict(os.environ)
    for each in os.environ["WHET_TOGGLES"].split(","):
        switch, _, variable = each.partition("=")
        name, is_set, value = variable.partition("=")
        if switch == "variable":
            wanted.pop(name, None)
            if is_set:
                wanted[name] = os.fsdecode(bytes.fromhex(value))
    words: list[str] = getattr(sys, "orig_argv", [])
    if wanted != dict(os.environ) and words and sys.executable:
        os.execve(sys.executable, [sys.executable, *words[1:]], wanted)


def _reversed(items: list[Any]) -> list[Any]:
    return items[::-1]


def _shuffled(items: list[Any]) -> list[Any]:
    """Return them in an order that is always the same (Fisher and Yates 1938)."""
    chance = __import__("_random").Random(1)
    for last in range(len(items) - 1, 0, -1):
        other = int(chance.random() * (last + 1))
        items[last], items[other] = items[other], items[last]
    return items


def _after(first: Guard | None, second: Guard) -> Guard:
    if first is None:
        return second
    before = first

    def both(module: dict[str, Any]) -> None:
        before(module)
        second(module)

    return both


def _libraries() -> list[str]:
    """Return the shared libraries that are mapped, without their folders."""
    try:
        descriptor = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=_MAGIC_FOLDER)
        with os.fdopen(descriptor, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    names = {line.rpartition(b"/")[2] for line in lines if b".so" in line}
    return ["library:" + name.decode("ascii", "replace") for name in sorted(names)]
