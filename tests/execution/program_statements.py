"""What a random program is made of: functions, statements and ends, each as lines of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from programs import Writer

Lines = list[str]


def _needs(writer: Writer, *modules: str) -> None:
    writer.needs.update(modules)


def _indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def _call(writer: Writer) -> tuple[Lines, str]:
    before, function = writer.callee()
    return before, f"{function}({writer.value()})"


def _new_name(writer: Writer) -> str:
    return f"v{writer.fresh()}"


def _bind(writer: Writer, name: str) -> None:
    writer.names.append(name)


# ---- statements ----


def assigned(writer: Writer) -> Lines:
    value, name = writer.value(), _new_name(writer)
    _bind(writer, name)
    return [f"{name} = {value}"]


def called(writer: Writer) -> Lines:
    before, call = _call(writer)
    name = _new_name(writer)
    _bind(writer, name)
    return [*before, f"{name} = {call}"]


def printed(writer: Writer) -> Lines:
    ending = writer.pick(("", ", end=' '", ", flush=True", ", file=sys.stderr"))
    if "sys" in ending:
        _needs(writer, "sys")
    return [f"print('p{writer.fresh()}', {writer.value()}{ending})"]


def printed_call(writer: Writer) -> Lines:
    before, call = _call(writer)
    return [*before, f"print('c{writer.fresh()}', {call})"]


def looped(writer: Writer) -> Lines:
    before, function = writer.callee()
    name = _new_name(writer)
    lines = [
        *before,
        f"{name} = 0",
        f"for i in range({writer.number(1, 4)}):",
        f"    {name} += {function}(i + {writer.number(0, 9)})",
    ]
    if writer.chance(50):
        lines.append(f"    print('step', i, {name})")
    _bind(writer, name)
    return lines


def while_looped(writer: Writer) -> Lines:
    name = _new_name(writer)
    _bind(writer, name)
    before, call = _call(writer)
    head = [*before, f"{name} = {writer.number(1, 3)}", f"while {name} > 0:"]
    return [*head, f"    {name} -= 1", f"    print('while', {name}, {call})"]


def branched(writer: Writer) -> Lines:
    condition = f"if {writer.value()} > {writer.number(0, 20)}:"
    other = _indented(printed_call(writer))
    return [condition, *_indented(printed_call(writer)), "else:", *other]


def tried(writer: Writer) -> Lines:
    before, call = _call(writer)
    lines = ["try:", *_indented(before), f"    print('tried', {call})"]
    if writer.chance(40):
        lines.append(f"    raise ValueError('bad {writer.number(0, 9)}')")
    lines.append("except ValueError as error:")
    if writer.chance(50):
        _needs(writer, "traceback")
        lines.append("    traceback.print_exc()")
    lines.append("    print('caught', error)")
    if writer.chance(40):
        lines += ["finally:", f"    print('finally {writer.number(0, 9)}')"]
    return lines


def read_data(writer: Writer) -> Lines:
    name = _new_name(writer)
    _bind(writer, name)
    path = writer.data()
    lines = [f"with open({path!r}) as file:", f"    {name} = len(file.read())"]
    return [*lines, f"print('data', {name})"]


def read_text(writer: Writer) -> Lines:
    _needs(writer, "pathlib")
    return [f"print(pathlib.Path({writer.data()!r}).read_text().split())"]


def read_line_by_line(writer: Writer) -> Lines:
    name = f"file{writer.fresh()}"
    return [
        f"{name} = open({writer.data()!r})",
        f"print({name}.readline())",
        f"print({name}.readline())",
        f"{name}.close()",
    ]


def read_config(writer: Writer) -> Lines:
    _needs(writer, "json")
    name = _new_name(writer)
    _bind(writer, name)
    return [
        "with open('config.json') as file:",
        "    config = json.load(file)",
        f"{name} = config['size'] + {writer.number(0, 9)}",
        f"print(config.get('name'), {name})",
    ]


def looked(writer: Writer) -> Lines:
    _needs(writer, "os")
    path = writer.pick(("later_0.txt", "data_a.txt", "current", "data", "nowhere/at_all"))
    question = writer.pick(("exists", "isfile", "islink", "getsize"))
    if question == "getsize":
        # A look-up that fails shows a frame of whet's; see test_warm.py.
        return [f"print('size', os.path.exists({path!r}) and os.path.getsize({path!r}))"]
    return [f"print({question!r}, os.path.{question}({path!r}))"]


def listed(writer: Writer) -> Lines:
    if writer.chance(50):
        _needs(writer, "os")
        return [f"print(sorted(os.listdir({writer.pick(('data', '.', 'pack'))!r})))"]
    _needs(writer, "pathlib")
    return ["print(sorted(p.name for p in pathlib.Path('data').glob('*.txt')))"]


def linked(writer: Writer) -> Lines:
    _needs(writer, "os")
    told = "os.readlink('current'), os.path.basename(os.path.realpath('current'))"
    return [f"print(os.path.islink('current') and ({told}))"]


def imported_if_there(writer: Writer) -> Lines:
    name = writer.pick(("maybe_0", "maybe_1"))
    return [
        "try:",
        f"    import {name}",
        "except ImportError as error:",
        "    print('none', error)",
        "else:",
        f"    print({name}.__name__, sorted(n for n in vars({name}) if n[0] != '_'))",
    ]


def chosen_at_random(writer: Writer) -> Lines:
    _needs(writer, "random")
    return [f"print(random.Random({writer.number(0, 9)}).randrange(1000))"]


def seeded(writer: Writer) -> Lines:
    _needs(writer, "random")
    return [f"random.seed({writer.number(0, 9)})", "print(random.random())"]


def wrote(writer: Writer) -> Lines:
    mode = writer.pick(("w", "a", "x"))
    path = writer.pick(("out_0.txt", "out_1.txt", "data/out_2.txt"))
    written = [f"with open({path!r}, {mode!r}) as file:", f"    file.write(str({writer.value()}))"]
    if mode == "x":
        return ["try:", *_indented(written), "except FileExistsError:", "    print('there')"]
    return written


def rearranged(writer: Writer) -> Lines:
    _needs(writer, "os")
    return writer.pick(
        (
            ["os.makedirs('made/inner', exist_ok=True)"],
            ["if os.path.exists('out_0.txt'):", "    os.remove('out_0.txt')"],
            ["if os.path.exists('out_1.txt'):", "    os.rename('out_1.txt', 'out_3.txt')"],
            ["if not os.path.lexists('link_0'):", "    os.symlink('data_b.txt', 'link_0')"],
            ["os.chmod('data_b.txt', 0o640)"],
        )
    )


def read_what_was_written(writer: Writer) -> Lines:
    _needs(writer, "os")
    path = writer.pick(("out_0.txt", "out_1.txt", "out_3.txt", "link_0"))
    return [f"if os.path.exists({path!r}):", f"    print('out', open({path!r}).read())"]


def executed(writer: Writer) -> Lines:
    how = writer.pick(("exec(open('snippet.txt').read())", "print(eval('1 + 2'))"))
    return [how]


def inspected(writer: Writer) -> Lines:
    before, function = writer.callee()
    if function == "abs":
        return ["print(abs.__name__)"]
    _needs(writer, "inspect")
    what = writer.pick((
        f"{function}.__doc__", f"{function}.__defaults__", f"{function}.__name__",
        f"inspect.getsource({function})", f"inspect.signature({function})",
        f"inspect.unwrap({function}).__code__.co_firstlineno",
        f"inspect.unwrap({function}).__code__.co_varnames",
        f"sorted({function}.__annotations__)", f"inspect.getdoc({function})",
        f"{function}.__module__", f"inspect.unwrap({function}).__code__.co_consts[0]",
    ))  # fmt: skip
    return [*before, f"print({what})"]


def told_line(writer: Writer) -> Lines:
    _needs(writer, "sys")
    return ["print('line', sys._getframe().f_lineno)"]


def warned(writer: Writer) -> Lines:
    _needs(writer, "warnings")
    return [f"warnings.warn('careful {writer.number(0, 3)}')"]


def logged(writer: Writer) -> Lines:
    _needs(writer, "logging")
    setting = "logging.basicConfig(format='%(filename)s:%(lineno)d %(funcName)s %(message)s')"
    return [setting, f"logging.warning('log %s', {writer.value()})"]


def registered(writer: Writer) -> Lines:
    _needs(writer, "atexit")
    before, function = writer.callee()
    # What fails at the exit is told with an address, which no two runs share.
    told = f"'bye', {function}.__name__" if writer.chance(50) else f"'bye', {writer.number(0, 9)}"
    guarded = [*before, "try:", f"    atexit.register(print, {told})"]
    return [*guarded, "except AttributeError:", "    print('no name')"]


def compared(writer: Writer) -> Lines:
    constant = writer.pick(("1000", "'a text with blanks'", "(1, 'two words')", "2.5", "b'by te'"))
    name = f"a{writer.fresh()}"
    return [f"{name} = {constant}", f"print({name} is {constant!s})".replace(" is ", " == ")]


def compared_for_identity(writer: Writer) -> Lines:
    """Two statements that share a constant, with a statement between them."""
    constant = writer.pick(("1000", "'a text with blanks'", "(1, 'two words')", "2.5"))
    one, other = f"a{writer.fresh()}", f"a{writer.fresh()}"
    lines = [f"{one} = {constant}", f"print('between', {writer.value()})", f"{other} = {constant}"]
    return [*lines, f"print({one} is {other})"]


def told_names(writer: Writer) -> Lines:
    names = f"n for n in globals() if n[:2] not in ('__', 'v{writer.number(0, 9)}')"
    return [f"print(sorted({names}))", "print(__name__, __doc__)"]


def told_file(writer: Writer) -> Lines:
    _needs(writer, "os", "sys")
    return [
        "print(os.path.basename(__file__), sys.argv[1:], os.getcwd() == os.path.dirname(os.path.abspath(__file__)))"
    ]


def made_class(writer: Writer) -> Lines:
    name = f"C{writer.fresh()}"
    before, call = _call(writer)
    return [
        *before,
        f"class {name}:",
        f"    size = {writer.number(0, 9)}",
        "    def grown(self, by=2):",
        f"        return self.size * by + {writer.number(0, 9)}",
        f"print({name}().grown({call}))",
    ]


def made_function(writer: Writer) -> Lines:
    name = f"g{writer.fresh()}"
    return [
        f"def {name}(y, z={writer.number(0, 9)}):",
        f"    return y * {writer.number(0, 9)} + z",
        f"print(list(map({name}, range({writer.number(1, 4)}))))",
    ]


def comprehended(writer: Writer) -> Lines:
    before, function = writer.callee()
    return [*before, f"print([{function}(each) for each in range({writer.number(1, 4)})])"]


def imported_by_name(writer: Writer) -> Lines:
    _needs(writer, "importlib")
    if writer.module:
        return [f"print({writer.value()})"]
    return ["print(importlib.import_module('alpha').__name__)"]


def imported_late(writer: Writer) -> Lines:
    module = writer.pick(("string", "colorsys", "textwrap"))
    return [f"import {module}", f"print({module}.__name__)"]


def looped_over_an_iterator(writer: Writer) -> Lines:
    before, function = writer.callee()
    name = f"it{writer.fresh()}"
    lines = [*before, f"{name} = iter(range({writer.number(2, 6)}))", f"for i in {name}:"]
    lines.append(f"    print('at', i, {function}(i))")
    if writer.chance(50):
        lines.append(f"    print('skips', next({name}, None))")
    return [*lines, f"print('left', list({name}))"]


def looped_over_a_file(writer: Writer) -> Lines:
    before, function = writer.callee()
    return [
        *before,
        f"for number, line in enumerate(open({writer.data()!r})):",
        "    if not line.strip():",
        "        continue",
        f"    print(number, line.strip(), {function}(number))",
    ]


def looped_until_done(writer: Writer) -> Lines:
    name = _new_name(writer)
    before, call = _call(writer)
    lines = [*before, f"{name} = 0", "while True:", f"    {name} += 1"]
    lines += [f"    if {name} > {writer.number(1, 4)}:", "        break", f"    print({call})"]
    _bind(writer, name)
    return lines


def gathered(writer: Writer) -> Lines:
    before, function = writer.callee()
    name = f"all{writer.fresh()}"
    return [
        *before,
        f"{name} = []",
        f"for i in range({writer.number(1, 4)}):",
        f"    {name}.append(i)",
        f"    {name}.append({function}(i))",
        f"first, *rest = {name}",
        f"print(first, rest, len({name}))",
        f"del first, rest, {name}",
    ]


def kept_in_order(writer: Writer) -> Lines:
    """A context manager of the program's own around a call."""
    writer.needs.add("contextlib")
    number = writer.fresh()
    before, call = _call(writer)
    return [
        *before,
        "@contextlib.contextmanager",
        f"def within{number}(value):",
        "    print('enters', value)",
        "    yield value",
        f"    print('leaves {writer.number(0, 9)}')",
        f"with within{number}({writer.value()}) as held:",
        f"    print(held, {call})",
    ]


def remembered(writer: Writer) -> Lines:
    """Functions that share what they change."""
    number = writer.fresh()
    return [
        f"seen{number} = {{}}",
        f"def note{number}(key, seen=seen{number}):",
        f"    seen[key] = seen.get(key, 0) + {writer.number(1, 9)}",
        "    return len(seen)",
        f"print(note{number}({writer.value()}))",
        f"print(note{number}({writer.value()}), sorted(seen{number}.values()))",
    ]


def in_a_block(writer: Writer) -> Lines:
    """Statements in a `with` or a `try`, sometimes in both."""
    number = writer.fresh()
    kind = writer.pick(("one", "several", "suppressed", "finally", "else", "any error"))
    inner = [line for _ in range(writer.number(1, 3)) for line in writer.pick(_INNER)(writer)]
    if kind in {"one", "several"}:
        held = f"Held{number}"
        name = f"held{number}"
        more = f", contextlib.nullcontext({writer.number(0, 9)})" if kind == "several" else ""
        _needs(writer, "contextlib")
        return [
            f"class {held}:",
            "    def __init__(self, name): self.name = name",
            "    def __enter__(self): print('holds', self.name); return self",
            "    def __exit__(self, *error): print('lets go', self.name, error[0])",
            "    def __del__(self): print('gone', self.name)",
            f"with {held}({writer.number(0, 9)}) as {name}{more}:",
            *_indented(inner),
            f"    print({name}.name)",
            *([f"del {name}"] if writer.chance(50) else []),
        ]
    if kind == "suppressed":
        _needs(writer, "contextlib")
        head = "with contextlib.suppress(ValueError, NameError):"
        return [head, *_indented(inner), f"    raise ValueError({writer.number(0, 9)})"]
    lines = ["try:", *_indented(inner)]
    if kind == "any error":
        _needs(writer, "sys")
        lines += [f"    [][{writer.number(0, 9)}]", "except:", "    print(sys.exc_info()[0])"]
    if kind == "else":
        lines += ["except ValueError as error:", "    print('failed', error)", "else:"]
        lines += _indented(printed(writer))
    if kind != "any error" or writer.chance(50):
        lines += ["finally:", f"    print('at last {writer.number(0, 9)}')"]
    return lines


_INNER: tuple[Callable[[Writer], Lines], ...] = (
    printed, assigned, called, printed_call, looped, while_looped, branched, tried, read_data,
    looped_until_done, kept_in_order, in_a_block,
)  # fmt: skip


STATEMENTS: tuple[Callable[[Writer], Lines], ...] = (
    printed, assigned, called, called, printed_call, printed_call, looped, while_looped, branched,
    tried, read_data, read_text, read_line_by_line, read_config, looked, listed, linked,
    imported_if_there, chosen_at_random, seeded, wrote, rearranged, read_what_was_written,
    executed, inspected, told_line, warned, logged, registered, compared, compared_for_identity,
    told_names, told_file, made_class, made_function, comprehended, imported_by_name,
    imported_late, looped_over_an_iterator, looped_over_a_file, looped_until_done, gathered,
    kept_in_order, remembered, in_a_block, in_a_block, in_a_block,
)  # fmt: skip


# ---- the last statement of the script ----


def nothing_more(writer: Writer) -> Lines:
    return [f"print('end', {writer.value()})"]


def left_with_code(writer: Writer) -> Lines:
    _needs(writer, "sys")
    return [f"sys.exit({writer.value()})"]


def left_with_words(writer: Writer) -> Lines:
    return [f"raise SystemExit('words {writer.number(0, 9)}')"]


def failed(writer: Writer) -> Lines:
    return [f"raise RuntimeError(f'bad {{{writer.value()}}}')"]


def divided(writer: Writer) -> Lines:
    return [f"print(1 // ({writer.value()} - {writer.number(0, 9)}))"]


def left_at_once(writer: Writer) -> Lines:
    _needs(writer, "os")
    return [f"os._exit({writer.number(0, 9)})"]


def killed(writer: Writer) -> Lines:
    _needs(writer, "os", "signal")
    return ["print('dies', flush=True)", "os.kill(os.getpid(), signal.SIGTERM)"]


def told_all(writer: Writer) -> Lines:
    _needs(writer, "sys")
    return ["sys.stdout.write('the end, no newline')"]


LASTS: tuple[Callable[[Writer], Lines], ...] = (
    nothing_more, nothing_more, nothing_more, left_with_code, left_with_words, failed, divided,
    left_at_once, killed, told_all,
)  # fmt: skip


# ---- functions of one argument ----

Parts = tuple[Lines, Lines]
"""What is a function's signature to an edit, and its body."""


def _signature(writer: Writer, name: str) -> Lines:
    default = writer.pick(
        ("", f"={writer.number(0, 9)}", ": int", f": int = {writer.number(0, 9)}")
    )
    lines = [f"def {name}(x{default}):"]
    if writer.chance(25):
        lines.append(f'    """Text {writer.number(0, 9)}."""')
    return lines


def _with_body(writer: Writer, name: str, body: Lines) -> Parts:
    return _signature(writer, name), _indented(body)


def plain(writer: Writer, name: str) -> Parts:
    return _with_body(
        writer, name, [f"return (x * {writer.number(1, 9)} + {writer.number(0, 9)}) % 97"]
    )


def calling(writer: Writer, name: str) -> Parts:
    before, call = _call(writer)
    return _with_body(writer, name, [*before, f"return {call} + {writer.number(0, 9)}"])


def speaking(writer: Writer, name: str) -> Parts:
    lines = printed(writer)
    return _with_body(writer, name, [*lines, f"return x + {writer.number(0, 9)}"])


def doing(writer: Writer, name: str) -> Parts:
    """A function with any statement in it."""
    lines = writer.pick(STATEMENTS)(writer)
    return _with_body(writer, name, [*lines, f"return x * {writer.number(0, 9)}"])


def raising(writer: Writer, name: str) -> Parts:
    lines = [f"if x % 3 == {writer.number(0, 4)}:", f"    raise ValueError('{name} got %s' % x)"]
    return _with_body(writer, name, [*lines, "return x"])


def closing_over(writer: Writer, name: str) -> Parts:
    lines = ["def inner(y):", f"    return x + y * {writer.number(0, 9)}"]
    return _with_body(writer, name, [*lines, f"return inner({writer.number(0, 9)})"])


def generating(writer: Writer, name: str) -> Parts:
    lines = ["def each():", f"    for i in range({writer.number(1, 4)}):", "        yield i * x"]
    return _with_body(writer, name, [*lines, "return sum(each())"])


def counting(writer: Writer, name: str) -> Parts:
    count = f"N_{name}"
    signature = [f"{count} = {writer.number(0, 9)}", *_signature(writer, name)]
    return signature, _indented([f"global {count}", f"{count} += x", f"return {count}"])


def decorated(writer: Writer, name: str) -> Parts:
    _needs(writer, "functools")
    wrapper = [
        f"def deco_{name}(function):",
        "    print('decorates', function.__name__)",
        "    @functools.wraps(function)",
        "    def inner(x):",
        f"        return function(x) + {writer.number(0, 9)}",
        "    return inner",
        f"@deco_{name}",
        f"def {name}(x):",
    ]
    return wrapper, [f"    return x * {writer.number(0, 9)}"]


def cached(writer: Writer, name: str) -> Parts:
    _needs(writer, "functools")
    return ["@functools.lru_cache", f"def {name}(x):"], [f"    return x - {writer.number(0, 9)}"]


def of_a_class(writer: Writer, name: str) -> Parts:
    signature = [f"class D_{name}:", f"    factor = {writer.number(0, 9)}", "    def of(self, x):"]
    bound = [f"        return self.factor * x + {writer.number(0, 9)}", f"{name} = D_{name}().of"]
    return signature, bound


def unnamed(writer: Writer, name: str) -> Parts:
    return [f"{name} = lambda x: x + {writer.number(0, 9)}"], []


def reading(writer: Writer, name: str) -> Parts:
    lines = [f"with open({writer.data()!r}) as file:", "    return x + len(file.read())"]
    return _with_body(writer, name, lines)


def of_many_statements(writer: Writer, name: str) -> Parts:
    lines: Lines = []
    for _ in range(writer.number(2, 4)):
        lines += writer.pick(STATEMENTS)(writer)
    return _with_body(writer, name, [*lines, f"return ({writer.value()}) % 97"])


def calling_itself(writer: Writer, name: str) -> Parts:
    before, call = _call(writer)
    lines = [
        f"if x > {writer.number(1, 9)}:",
        f"    below = {name}(x // 2)",
        f"    print('below', below, {call})",
        "    return below + 1",
    ]
    return _with_body(writer, name, [*before, *lines, f"return x + {writer.number(0, 9)}"])


def sharing_a_variable(writer: Writer, name: str) -> Parts:
    lines = [
        f"total = {writer.number(0, 9)}",
        "def add(y):",
        "    nonlocal total",
        f"    total += y + {writer.number(0, 9)}",
        f"for i in range({writer.number(1, 4)}):",
        "    add(i)",
        *printed_call(writer),
        "add(x)",
        "return total",
    ]
    return _with_body(writer, name, lines)


def with_any_arguments(writer: Writer, name: str) -> Parts:
    before, call = _call(writer)
    signature = [f"def {name}(x, *rest, flag={writer.number(0, 9)}, **more):"]
    lines = [*before, f"y = {call}", "print(sorted(locals()), rest, more)"]
    return signature, _indented([*lines, "return x + y + flag + len(rest) + len(more)"])


def left_by_a_way_of_its_own(writer: Writer, name: str) -> Parts:
    before, call = _call(writer)
    lines = [*before, "try:", f"    if x > {writer.number(0, 30)}:", f"        return {call}"]
    lines += [f"    print('stays {writer.number(0, 9)}')", "finally:"]
    lines += [
        f"    print('leaves', x + {writer.number(0, 9)})",
        f"return x - {writer.number(0, 9)}",
    ]
    return _with_body(writer, name, lines)


FUNCTIONS: tuple[Callable[[Writer, str], Parts], ...] = (
    plain, calling, calling, speaking, doing, doing, raising, closing_over, generating, counting,
    decorated, cached, of_a_class, unnamed, reading, of_many_statements, of_many_statements,
    calling_itself, sharing_a_variable, with_any_arguments, left_by_a_way_of_its_own,
)  # fmt: skip
