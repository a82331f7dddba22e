"""Statements that make it hard to know what a program has seen, used or done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from programs import Writer

Lines = list[str]


def _call(writer: Writer) -> tuple[Lines, str]:
    before, function = writer.callee()
    return before, f"{function}({writer.value()})"


# ---- functions that are used without being called, or long before they are called ----


def held_for_later(writer: Writer) -> Lines:
    before, function = writer.callee()
    name = f"held{writer.fresh()}"
    between = f"print('between', {writer.value()})"
    call = f"print({name}[0]({writer.number(0, 9)}))"
    return [*before, f"{name} = [{function}]", between, call]


def bound_partly(writer: Writer) -> Lines:
    writer.needs.add("functools")
    before, function = writer.callee()
    name = f"part{writer.fresh()}"
    lines = [*before, f"{name} = functools.partial({function}, {writer.number(0, 9)})"]
    return [*lines, f"print({writer.value()})", f"print({name}())"]


def begun_and_gone_on_with(writer: Writer) -> Lines:
    """A generator that is half-way when the program is frozen."""
    number = writer.fresh()
    before, function = writer.callee()
    return [
        *before,
        f"def gen{number}():",
        f"    yield {writer.number(0, 9)}",
        f"    yield {function}({writer.number(0, 9)})",
        f"g{number} = gen{number}()",
        f"print(next(g{number}))",
        f"print('between', {writer.value()})",
        f"print(list(g{number}))",
    ]


def failed_and_kept(writer: Writer) -> Lines:
    """An error that remembers where it came from when the program is frozen.

    It goes, as it holds its function's frame and that holds it: which of the things in such a ring
    Python ends first (a file that was never closed, for one) depends on when it has collected garbage.
    """
    writer.needs.add("traceback")
    number = writer.fresh()
    before, function = writer.callee()
    return [
        *before,
        f"def fail{number}(x):",
        f"    raise KeyError({function}(x))",
        "try:",
        f"    fail{number}({writer.number(0, 9)})",
        "except (KeyError, ValueError) as error:",
        f"    kept{number} = error",
        f"print('between', {writer.value()})",
        f"traceback.print_exception(kept{number})",
        f"del kept{number}",
    ]


def closed_over(writer: Writer) -> Lines:
    number = writer.fresh()
    before, call = _call(writer)
    return [
        *before,
        f"def outer{number}(y):",
        "    def inner(z):",
        f"        return y + z + {writer.number(0, 9)}",
        "    return inner",
        f"in{number} = outer{number}({call})",
        f"print('between', {writer.value()})",
        f"print(in{number}({writer.number(0, 9)}))",
    ]


def made_early_used_late(writer: Writer) -> Lines:
    number = writer.fresh()
    return [
        f"class E{number}:",
        "    def __init__(self, size):",
        "        self.size = size",
        "    def __repr__(self):",
        f"        return 'E of %s %s' % (self.size, {writer.number(0, 9)})",
        "    @property",
        "    def double(self):",
        f"        return self.size * {writer.number(1, 3)}",
        f"e{number} = E{number}({writer.value()})",
        f"print('between', {writer.value()})",
        f"print(e{number}, e{number}.double)",
    ]


def compared_code(writer: Writer) -> Lines:
    before, function = writer.callee()
    if function == "abs":
        return ["print(abs)"]
    code = f"getattr({function}, '__code__', None)"
    what = writer.pick(("len({}.co_code)", "{}.co_names", "{}.co_consts and 1", "hash({}) == 0"))
    return [*before, f"if {code}:", f"    print({what.format(f'{function}.__code__')})"]


def pickled(writer: Writer) -> Lines:
    writer.needs.add("pickle")
    before, function = writer.callee()
    tried = f"    print(pickle.loads(pickle.dumps({function})).__name__)"
    return [*before, "try:", tried, "except Exception as error:", "    print(type(error).__name__)"]


def imported_again(writer: Writer) -> Lines:
    if writer.module or not any(each.module == "alpha" for each in writer.functions):
        return ["print('not again')"]
    writer.needs.add("importlib")
    return ["import alpha", "importlib.reload(alpha)"]


def forgotten_and_imported(writer: Writer) -> Lines:
    if writer.module:
        return ["print('not forgotten')"]
    writer.needs.add("sys")
    return ["sys.modules.pop('alpha', None)", "import alpha", "print(len(vars(alpha)) > 5)"]


# ---- sources as data ----


def read_source(writer: Writer) -> Lines:
    how = writer.pick((
        "open('alpha.py').readline()", "len(open(__file__).read())",
        "linecache.getline('alpha.py', 2)", "os.path.getsize('alpha.py')",
        "sorted(p.name for p in pathlib.Path('.').glob('*.py'))",
        "sorted(m.name for m in pkgutil.iter_modules(['.']))",
        "sum(len(files) for _, _, files in os.walk('.'))",
        "importlib.util.find_spec('maybe_0') is None",
    ))  # fmt: skip
    writer.needs.update({"linecache", "os", "pathlib", "pkgutil", "importlib.util"})
    return ["try:", f"    print({how})", "except OSError as error:", "    print(type(error))"]


def told_state(writer: Writer) -> Lines:
    writer.needs.add("os")
    path = writer.data()
    what = writer.pick(
        ("oct(os.stat({}).st_mode)", "os.stat({}).st_size", "os.access({}, os.W_OK)")
    )
    told = what.format(repr(path))
    return ["try:", f"    print({told})", "except OSError as error:", "    print(type(error))"]


def read_raw(writer: Writer) -> Lines:
    writer.needs.add("os")
    path = repr(writer.data())
    return [
        "try:",
        f"    raw = os.open({path}, os.O_RDONLY)",
        f"    print(os.read(raw, 5), os.lseek(raw, 0, 1), os.pread(raw, {writer.number(1, 9)}, 1))",
        "    os.close(raw)",
        "except OSError as error:",
        "    print(error.errno)",
    ]


def mapped(writer: Writer) -> Lines:
    writer.needs.add("mmap")
    opened = f"with open({writer.data()!r}, 'rb') as file:"
    return [opened, "    print(bytes(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)))"]


def kept_open(writer: Writer) -> Lines:
    name = f"kept{writer.fresh()}"
    lines = [f"{name} = open({writer.data()!r})", f"print({name}.read(2))"]
    return [*lines, f"print('between', {writer.value()})", f"print({name}.read())"]


# ---- what is done to the process and the world ----


# Each in one line: a statement put between would run beside the other process or thread.
def forked(writer: Writer) -> Lines:
    writer.needs.update({"os", "sys"})
    child = f"(print('child', {writer.value()}, flush=True), os._exit(0))"
    return [f"sys.stdout.flush(); os.waitpid(os.fork() or {child}, 0)"]


def threaded(writer: Writer) -> Lines:
    writer.needs.add("threading")
    before, function = writer.callee()
    arguments = f"target={function}, args=({writer.number(0, 9)},)"
    return [*before, f"t = threading.Thread({arguments}); t.start(); t.join()"]


def moved_away(writer: Writer) -> Lines:
    writer.needs.add("os")
    return ["os.chdir('data')", "print(sorted(os.listdir('.')))", "os.chdir('..')"]


def set_variable(writer: Writer) -> Lines:
    writer.needs.add("os")
    value = writer.number(0, 9)
    return [f"os.environ['OURS'] = '{value}'", "print(os.environ.get('OURS'))"]


def redirected(writer: Writer) -> Lines:
    writer.needs.update({"contextlib", "io"})
    before, call = _call(writer)
    return [
        *before,
        "with contextlib.redirect_stdout(io.StringIO()) as caught:",
        f"    print('hidden', {call})",
        "print(len(caught.getvalue()))",
    ]


def replaced_output(writer: Writer) -> Lines:
    writer.needs.add("sys")
    number = writer.fresh()
    return [
        f"class Loud{number}:",
        "    def __init__(self, inner):",
        "        self.inner = inner",
        "    def write(self, text):",
        "        return self.inner.write(text.upper())",
        "    def __getattr__(self, name):",
        "        return getattr(self.inner, name)",
        f"sys.stdout = Loud{number}(sys.stdout)",
    ]


def opened_pipe(writer: Writer) -> Lines:
    writer.needs.add("os")
    ends = f"r{writer.fresh()}, w{writer.fresh()}"
    first, second = ends.split(", ")
    lines = [f"{ends} = os.pipe()", f"os.write({second}, b'in a pipe')"]
    return [*lines, f"print({writer.value()})", f"print(os.read({first}, 20))"]


def kept_writing(writer: Writer) -> Lines:
    name = f"log{writer.fresh()}"
    lines = [f"{name} = open('out_4.txt', 'w')", f"{name}.write('one')"]
    return [*lines, f"print({writer.value()})", f"{name}.write('two')", f"{name}.close()"]


def never_closed(writer: Writer) -> Lines:
    # Which of two is written first when Python ends depends on when it has collected garbage.
    number = writer.fresh()
    opened = f"open{number} = open('out_5_{number}.txt', 'w')"
    return [opened, f"open{number}.write(str({writer.value()}))"]


def last_words(_writer: Writer) -> Lines:
    # All say the same: when Python ends, which of those of two modules goes first depends on
    # when it has collected garbage.
    return ["class Last:", "    def __del__(self):", "        print('gone')", "last = Last()"]


def locked(writer: Writer) -> Lines:
    writer.needs.add("fcntl")
    name = f"lock{writer.fresh()}"
    return [
        f"{name} = open('data_a.txt')",
        f"fcntl.flock({name}, fcntl.LOCK_SH)",
        f"{name}.close()",
    ]


def path_extended(writer: Writer) -> Lines:
    writer.needs.add("sys")
    return ["sys.path.insert(0, 'data')", "print(sys.path[0])"]


def told_of_a_caller(writer: Writer) -> Lines:
    writer.needs.update({"sys", "warnings"})
    number = writer.fresh()
    return [
        f"def where{number}():",
        "    warnings.warn('from here', stacklevel=2)",
        "    return sys._getframe(1).f_lineno",
        f"print(where{number}())",
    ]


def nested_loops(writer: Writer) -> Lines:
    before, function = writer.callee()
    return [
        *before,
        f"for i in range({writer.number(1, 3)}):",
        f"    for j in range({writer.number(1, 3)}):",
        f"        if {function}(j) == {writer.number(0, 20)}:",
        "            break",
        "        print('inner', i, j)",
        "    else:",
        "        continue",
        "else:",
        "    print('all', i)",
    ]


def matched(writer: Writer) -> Lines:
    return [
        f"match ({writer.value()}, 'x'):",
        f"    case ({writer.number(0, 9)}, _):",
        "        print('known')",
        "    case (other, name) if (twice := other * 2) > 4:",
        "        print('other', name, twice)",
        "    case _:",
        "        print('none')",
    ]


def ordered_by_hash(writer: Writer) -> Lines:
    return [
        f"print({{'one', 'two', 'three', str({writer.value()})}}, hash('a{writer.number(0, 9)}'))"
    ]


ODDITIES: tuple[Callable[[Writer], Lines], ...] = (
    held_for_later, bound_partly, begun_and_gone_on_with, failed_and_kept, closed_over,
    made_early_used_late,
    compared_code, pickled, imported_again, forgotten_and_imported, read_source, read_source,
    told_state, read_raw, mapped, kept_open, forked, threaded, moved_away, set_variable,
    redirected, replaced_output, opened_pipe, kept_writing, never_closed, last_words, locked, path_extended,
    told_of_a_caller, nested_loops, matched, ordered_by_hash,
)  # fmt: skip
