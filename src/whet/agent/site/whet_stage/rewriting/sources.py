"""What the user's modules say, which of their functions have been used, and their new bodies.

A function whose body has not been used yet may get another one; one that has may get other line
numbers. Both are done to every function object that shares the code, whatever names it has.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _imp
import itertools
import sys
import types

from ..hiding.hidden_frames import begin_work, caller, end_work
from ..hiding.nodes import blocks, copied, parse, shared, walk, walk_statements
from ..hiding.private import hide_own, is_alone, show_own
from ..hiding.typed import cast
from ..hiding.warned import WarningsOfCompiler
from .instrument import CHECKPOINT, MARK, bind, called_names, is_future, is_text, must_lead
from .module_facts import (
    code_of,
    data_of,
    has_last_words,
    load_clean,
    load_facts,
    names_of_functions,
    save_clean,
    save_facts,
)
from .prefix_check import FUNCTIONS, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Collection, Iterable, Iterator
    from types import CodeType, FunctionType
    from typing import Union

    from ..hiding.warned import Warned
    from .module_facts import Names, Rewrite, Store
    from .prefix_check import Function, Key
else:
    from ..hiding import nodes as ast


_name_file: Callable[[CodeType, str], None] = vars(_imp)["_fix_co_filename"]
_WORD = b"checkpoint"
_FUTURE_FLAGS = 0x1FF0000  # compile(): all that `from __future__ import` can set
_SELDOM = 10_000  # calls whose hooks cost less than to compile a module without them


class Source:
    """One file of the user's, as the program has it.

    Attributes:
        path: the file.
        text: what it said when it was read.
        name: the name of its module.
        spaces: the `id` of each namespace that it has filled. Not they themselves, which are to
            go when the program lets them go.
        functions: where the definitions of its functions have put them, by name and first line, as
            `names_of_functions` returns it.
        warned: what the compiler has warned of.
        used: which of them have been used.
        entered: which of them have been run as stage frames: in those that have not been used
            as well, nothing has run beyond the place where their frame stands.
        placed: functions of which the program knows where they stand.
        rewrite: what changes its tree before it is compiled, as pytest does, and a mark of how;
            None: nothing does.
        has_begun: whether anything of it has been run.
        hooks: what its functions call first, in all code that the program may still run.
        left: codes that its functions have had; a frame that stands still may have one of them.
    """

    def __init__(
        self,
        name: str,
        path: str,
        text: bytes,
        rewrite: Rewrite | None = None,
        store: Store | None = None,
    ) -> None:
        """Parse it, unless all that is asked of it at first is known.

        Args:
            name: the name of its module.
            path: the file.
            text: what it says.
            rewrite: as above.
            store: what keeps its code from one run to the next; None: nothing does.

        Raises:
            SyntaxError, ValueError, RecursionError: if that can't be.
        """
        self.path = path
        self.text = text
        self.used: set[Key] = set()
        self.entered: set[Key] = set()
        self.same: dict[object, object] = {}
        self.name = name
        self.rewrite = rewrite
        self.has_begun = True
        self.placed: set[Key] = set()
        self.spaces: list[int] = []
        self.warned: set[Warned] = set()
        self._clean: dict[Key, CodeType | None] = {}
        self._plain: dict[Key, CodeType | None] = {}
        self._calls: dict[str, set[str]] | None = None
        self.hooks: list[_Hook] = []
        self._firsts: list[object] = []
        self.left: list[CodeType] = []
        self._tree: ast.Module | None = None
        self._nodes: dict[Key, Function] = {}
        self._is_pinned = False
        self._code: CodeType | None = None
        self._plain_data = b""
        self._kind = b"" if rewrite is None else rewrite[1]
        self._store = store if rewrite is None or self._kind else None
        facts = None if self._store is None else load_facts(self._store, self._kind + text)
        if facts is None:
            self.flags, self._has_last_words, self.functions = self._parsed_facts()
        else:
            self.flags, self._has_last_words, self.functions, self._code = facts
            _name_file(self._code, path)

    def _parsed_facts(self) -> tuple[int, bool, dict[Key, Names | None]]:
        with WarningsOfCompiler() as self.warned:
            tree = self.tree
        flags = 0
        futures = [each for each in tree.body if is_future(each)]
        if futures:
            code: CodeType = compile(
                ast.Module(list(futures), []), self.path, "exec", dont_inherit=True
            )
            flags = code.co_flags & _FUTURE_FLAGS
        return flags, has_last_words(self.text, tree), names_of_functions(tree)

    @property
    def tree(self) -> ast.Module:
        """Its text, parsed: for a while, unless it is pinned."""
        if self._tree is None:
            modules = show_own()
            try:
                self._tree = parse(self.text, self.path)
            finally:
                hide_own(modules)
        return self._tree

    def pin(self) -> ast.Module:
        """Return its tree, which it keeps from now on: a frame stands in one of its nodes."""
        self._is_pinned = True
        return self.tree

    def release(self) -> None:
        """Let its tree go, unless it is pinned, or to parse it again would warn again."""
        if not (self._is_pinned or self.warned):
            self._tree = None

    def node_of(self, key: Key) -> Function | None:
        """Return a function's node, pinned; None: there is none, or two share the key."""
        if self.functions.get(key) is None:
            return None
        if not self._nodes:
            functions = (
                each for each in walk_statements(self.pin()) if isinstance(each, FUNCTIONS)
            )
            self._nodes = {key_of(each): each for each in functions}
        return self._nodes[key]

    @property
    def module(self) -> dict[str, object] | None:
        """The namespace that it has filled; None: it has filled another one, or is gone."""
        for module in (sys.modules.get(self.name), sys.modules["__main__"]):  # `python -m`
            space = getattr(module, "__dict__", None)
            if space is not None and self.spaces == [id(space)]:
                return cast("dict[str, object]", space)
        return None

    @property
    def calls(self) -> dict[str, set[str]]:
        """The last names of all that each of its functions calls; `CHECKPOINT` if it sets one."""
        if self._calls is None:
            self._calls = {}
            for node in walk_statements(self.tree):
                if isinstance(node, FUNCTIONS) and self.functions[key_of(node)] is not None:
                    self._calls.setdefault(node.name, set()).update(called_names(node))
            self.release()
        return self._calls

    def is_unused(self, node: Function) -> bool:
        """Whether a function has not been used yet."""
        return key_of(node) not in self.used | self.entered

    def note_run_unseen(self, line: int) -> None:
        """Note that a process that is forked may run all functions there are, and nobody hears of it.

        Args:
            line: at which the module itself is; 0: it has been run.
        """
        if not line:
            self.used.update(self.functions)
            return
        ends = [each.end_lineno or 0 for each in self.tree.body if each.lineno <= line]
        self.release()
        last = max(ends, default=0)
        self.used.update(key for key in self.functions if key[1] <= last)

    def may_stand(self, code: CodeType) -> bool:
        """Whether a frame of some code may be there: it is that of no function that was not used."""
        key = key_of_code(code)
        return key not in self.functions or key in self.used | self.entered

    def enter(self, node: Function) -> None:
        """Note that a function is run as a stage frame."""
        key = key_of(node)
        (self.used if key in self.entered else self.entered).add(key)

    def leave(self, node: Union[ast.Module, Function]) -> None:
        """Note that a stage frame has ended: any of its text may have been run."""
        if isinstance(node, FUNCTIONS):
            self.used.add(key_of(node))

    def is_used_elsewhere(self, node: Union[ast.Module, Function]) -> bool:
        """Whether a stage frame's function has been used otherwise than for that frame."""
        return isinstance(node, FUNCTIONS) and key_of(node) in self.used

    def has_last_words(self) -> bool:
        """Whether objects of its own may do something when the interpreter is taken apart."""
        return self._has_last_words

    def hooked(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements whose functions tell when they are used for the first time."""
        return [cast("ast.stmt", _with_hooks(each)) for each in body]

    def compiled(self, body: list[ast.stmt]) -> CodeType:
        """Return the code of statements of its module."""
        tree = ast.Module(body, [])
        return self._compiled(lambda: tree if self.rewrite is None else copied(tree))

    def _compiled_whole(self, weave: Callable[[ast.Module], list[ast.stmt]]) -> CodeType:
        """Return the code of all its statements, changed by a function.

        What rewrites it for pytest changes nodes: to parse it again is much quicker than to copy them.
        """
        return self._compiled(
            lambda: ast.Module(
                weave(self.tree if self.rewrite is None else parse(self.text, self.path)), []
            )
        )

    def _compiled(self, make: Callable[[], ast.Module]) -> CodeType:
        with WarningsOfCompiler() as warned:
            tree = make()
            if self.rewrite is not None:
                self.rewrite[0](tree, self.text)
            code: CodeType = compile(tree, self.path, "exec", self.flags, dont_inherit=True)
        self.warned |= warned
        return code

    def hook(self, text: str) -> object:
        """Return what a function's hook calls: the first time it is noted, then nothing.

        A function that is called often is spared its hook in the end, which takes long to do.
        """
        _, name, line = text.split(":")
        if not line:
            return _Hook(iter(self._fill, self))
        # No generator: a signal's handler, or another thread, may call the function meanwhile.
        key = name, int(line)
        first, often = map(self.used.add, (key,)), map(self._spare, (key,))
        calls = itertools.chain(
            first, itertools.repeat(None, _SELDOM), often, itertools.repeat(None)
        )
        made = _Hook(calls)
        self.hooks.append(made)
        self._firsts += [first, often]  # the chain lets go of them while they may still be at work
        return made

    def _fill(self) -> None:
        self.spaces.append(id(caller().f_globals))

    def _spare(self, key: Key) -> None:
        begin_work()
        try:
            self._unhook(key)
        except Exception:  # noqa: BLE001, S110 - the interpreter may be taking itself apart
            pass
        finally:
            end_work()

    def _unhook(self, key: Key) -> None:
        """Spare a function its hook from now on, if it can be found."""
        if not is_alone():
            return  # it takes long, and shows
        function = self._found(key)
        clean = None if function is None else self.clean(key)
        if function is not None:
            self._give(function, clean)

    def _give(self, function: FunctionType, code: CodeType | None) -> None:
        """Give a function another code, if that can be its own."""
        own = function.__code__
        if code is not None and code is not own and code.co_freevars == own.co_freevars:
            self.left.append(own)
            function.__code__ = code

    def _found(self, key: Key) -> FunctionType | None:
        """Return the function object at the name where its definition has put it."""
        names = self.functions.get(key) or ()
        space = self.module or {}
        for name in names[:-1]:
            inner = space.get(name)
            if not isinstance(inner, type):
                return None
            space = dict(vars(inner))
        found = space.get(names[-1]) if names else None
        found = getattr(found, "__func__", found)
        if isinstance(found, types.FunctionType):
            return found if key_of_code(found.__code__) == key else None
        return None

    def clean(self, key: Key) -> CodeType | None:
        """Return the code of a function without a hook of its own."""
        if not self._clean:
            modules = show_own()
            try:
                code = self._clean_code()
            finally:
                hide_own(modules)
            self._clean = codes_in(bind(code, self.hook, self.same))
        return self._clean.get(key)

    def _clean_code(self) -> CodeType:
        """Return the code of its module with hooks in inner functions alone."""
        text = self._kind + self.text
        code = None if self._store is None else load_clean(self._store, text)
        if code is not None:
            _name_file(code, self.path)
            return code
        code = self._compiled_whole(_without_own_hooks)
        self.release()
        if self._store is not None and not self.warned:
            save_clean(self._store, text, code)
        return code

    def show(self, function: FunctionType) -> None:
        """Let a function have the code that the program expects: it is about to look at it."""
        key = key_of_code(function.__code__)
        # Its code says where it stands, and holds that of inner functions.
        self.used.add(key)
        self.placed.add(key)
        if self.functions.get(key) is None:
            return
        plain = self._plain_codes().get(key)
        inner = codes_in(function.__code__).keys() & self.functions.keys()
        self.used |= inner
        self.placed |= inner
        self._give(function, plain)

    def show_all(self, functions: Iterable[FunctionType]) -> None:
        """Let functions of this file have the code that the program expects, and hooks do nothing.

        What runs already keeps the code that it has: its hooks aren't seen by a debugger.
        """
        for hook in self.hooks:
            hook.n = itertools.repeat(None).__next__
        self.used.update(self.functions)
        plain = self._plain_codes()
        for function in functions:
            self._give(function, plain.get(key_of_code(function.__code__)))

    def keep_plain(self, code: CodeType) -> None:
        """Keep the code that the program expects: it has made it itself."""
        self._plain_data = data_of(code)

    def _plain_codes(self) -> dict[Key, CodeType | None]:
        """Return the codes that the program expects; they are made once, which takes long."""
        if not self._plain:
            modules = show_own()
            try:
                plain = code_of(self._plain_data) or self._compiled_whole(lambda tree: tree.body)
                code = bind(plain, self.hook, self.same)
                self.release()
            finally:
                hide_own(modules)
            self._plain = codes_in(code)
        return self._plain

    def code(self) -> CodeType:
        """Return the code of its module, with hooks; its tree goes."""
        code, self._code = self._code, None
        if code is None:
            code = self._hooked_code()
            if self._store is not None and not self.warned:
                facts = (self.flags, self._has_last_words, self.functions, code)
                save_facts(self._store, self._kind + self.text, facts)
            self.release()
        return bind(code, self.hook, self.same)

    def _hooked_code(self) -> CodeType:
        return self._compiled_whole(self._all_hooked)

    def _all_hooked(self, tree: ast.Module) -> list[ast.stmt]:
        body = self.hooked(tree.body)
        # It tells which namespace it fills: a module need not stand in `sys.modules`.
        at = next((each for each in range(len(body)) if not must_lead(body, each)), 0)
        if body and at == 0 and is_text(body[0]):
            at = 1
        if body:
            body.insert(at, _hook_call("", "", body[min(at, len(body) - 1)]))
        return body


def marking_names(sources: Collection[Source]) -> set[str]:
    """Return the names of functions that set checkpoints, or call such a function."""
    with_some = [source for source in sources if _WORD in source.text]
    if not with_some:
        return set()
    found = {CHECKPOINT}
    while True:
        more = {
            name
            for source in sources
            for name, called in source.calls.items()
            if name not in found and called & found
        }
        if not more:
            return found
        found |= more


class _Hook:
    __slots__ = ("n",)

    def __init__(self, calls: Iterator[None]) -> None:
        self.n = calls.__next__


def has_hook(code: CodeType) -> bool:
    """Whether code begins with a hook: Python compiles it otherwise."""
    return any(type(each) is _Hook for each in code.co_consts)


def _with_hooks(node: ast.AST, *, of_inner_ones: bool = False) -> ast.AST:
    """Return a statement in which each function begins with a call that tells that it is used.

    It shares with the original all that holds no function: most of a large program's text.

    Args:
        node: the statement.
        of_inner_ones: only functions inside of others are to have one.
    """
    is_function = isinstance(node, FUNCTIONS)
    changed: dict[str, list[ast.AST]] = {}
    for name, block in blocks(node).items():
        inner = [
            _with_hooks(each, of_inner_ones=of_inner_ones and not is_function) for each in block
        ]
        if list(map(id, inner)) != list(map(id, block)):
            changed[name] = inner
    is_hooked = is_function and not of_inner_ones
    if not changed and not is_hooked:
        return node
    woven = shared(node)
    for name, inner in changed.items():
        setattr(woven, name, inner)
    return _with_hook(cast("Function", woven)) if is_hooked else woven


def _with_hook(node: Function) -> Function:
    name, line = key_of(node)
    at = 1 if is_text(node.body[0]) else 0
    after = node.body[min(at, len(node.body) - 1)]
    node.body = [*node.body[:at], _hook_call(name, str(line), after), *node.body[at:]]
    return node


def _hook_call(name: str, line: str, after: ast.stmt) -> ast.stmt:
    function = ast.Attribute(ast.Constant(f"{MARK}used:{name}:{line}"), "n", ast.Load())
    call = ast.Expr(ast.Call(function, [], []))
    for each in walk(call):
        if isinstance(each, (ast.expr, ast.stmt)):
            each.lineno = each.end_lineno = after.lineno
            each.col_offset = each.end_col_offset = after.col_offset
    return call


def key_of_code(code: CodeType) -> Key:
    """Return the same of its code."""
    return code.co_name, code.co_firstlineno


def codes_in(code: CodeType) -> dict[Key, CodeType | None]:
    """Return the codes of all functions in a code by their keys; None: more than one has it."""
    found: dict[Key, CodeType | None] = {}
    left = [code]
    while left:
        for constant in left.pop().co_consts:
            if isinstance(constant, type(code)):
                key = key_of_code(constant)
                found[key] = None if key in found else constant
                left.append(constant)
    return found


def _without_own_hooks(tree: ast.Module) -> list[ast.stmt]:
    """Return the module with hooks in inner functions alone: those are made again and again."""
    return [cast("ast.stmt", _with_hooks(each, of_inner_ones=True)) for each in tree.body]
