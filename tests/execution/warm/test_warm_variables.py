"""The variables of a function that goes on are what they are cold: each name, and their order."""

import pytest
from workshop import SLOW, Workshop

pytestmark = pytest.mark.slow

_TAKES_ALL = "def main(p=1, /, q=2, *rest, k=3, **more):\n"
_SHOWS_ALL = "    print(list(locals()))\n"
_BOUND_IN_A_HEAD = {
    "a default": "def inner(a=(y := 1)): pass",
    "a lambda's default": "inner = lambda a=(y := 1): a",
    "an annotation": "def inner(a: (y := 1)): pass",
    "a base": "class Inner((y := object)): pass",
    "a class's keyword": "class Inner(metaclass=(y := type)): pass",
}


def _main(before: str, after: str) -> str:
    return f"{SLOW}{_TAKES_ALL}{before}    time.sleep(0.06)\n{after}main()\n"


@pytest.mark.parametrize(
    ("before", "cold", "after"),
    [
        pytest.param(
            "    x = 1\n    if more: w = 2\n    b = 2\n",
            "    print(1)\n",
            "    z = 1\n    a = 2\n    w = 3\n" + _SHOWS_ALL,
            id="that are set later",
        ),
        pytest.param(
            "    del p, rest\n    x = 1\n",
            "    print(1)\n",
            "    rest = z = 2\n" + _SHOWS_ALL + "    print(p)\n",
            id="that were deleted",
        ),
        pytest.param(
            "    z = 1\n    b = 2\n    a = 3\n    def inner(): return z\n",
            "    print(1)\n",
            "    y = 1\n    c = lambda: b\n" + _SHOWS_ALL,
            id="that inner functions share",
        ),
        pytest.param(
            "    b = 1\n    a = 2\n    z = 3\n",
            "    print((lambda: a)())\n",
            _SHOWS_ALL,
            id="that inner functions have shared",
        ),
        pytest.param(
            "    x = 1\n",
            "    print(1)\n",
            "    import inspect, sys\n    print(inspect.getargvalues(sys._getframe()))\n",
            id="that are parameters",
        ),
    ],
)
def test_variables_are_in_the_order_in_which_they_are_cold(
    workshop: Workshop, before: str, cold: str, after: str
) -> None:
    workshop.edit(_main(before, cold), _main(before, after))


@pytest.mark.parametrize("statement", _BOUND_IN_A_HEAD.values(), ids=_BOUND_IN_A_HEAD.keys())
def test_a_name_that_the_head_of_an_inner_function_binds_is_a_variable(
    workshop: Workshop, statement: str
) -> None:
    before = f"    if more:\n        {statement}\n"

    workshop.edit(_main(before, "    print(1)\n"), _main(before, "    print(y)\n"))


def test_what_locals_was_given_is_no_variable(workshop: Workshop) -> None:
    before = "    locals()['y'] = 1\n"
    workshop.write({"main.py": _main(before, "    print(1)\n")})
    workshop.run()
    workshop.write({"main.py": _main(before, "    print(y)\n")})
    workshop.run()
