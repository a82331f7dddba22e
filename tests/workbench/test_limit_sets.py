"""Limits that make no sense on this machine, and sets of limits by name."""

import click
import pytest

from whet.cli.options.limits import LIMIT_OPTIONS
from whet.core.errors import BadSetting, LimitMakesNoSense
from whet.core.limits import NAMED_LIMITS, Limits
from whet.workbench.trials.limit_sets import limits_asked


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(memory_bytes=900 << 40), "`--memory 900 TiB` is more than this machine's "),
        (Limits(memory_bytes=100 << 10), "is less than any program needs to start"),
        (
            Limits(memory_high_bytes=900 << 40),
            "`--memory-high 900 TiB` is more than this machine's ",
        ),
        (Limits(memory_bytes=1 << 20, memory_high_bytes=2 << 20), "so it has no effect"),
        (Limits(files=2), "`--files 2` is less than every program starts with"),
        (Limits(cpus=9999), "`--cpus 9999` is more than this machine's "),
        (Limits(cpus=1e-9), "`--cpus 1e-09` is less than the kernel gives out"),
        (Limits(stack_bytes=1), "`--stack 1 B` is less than any program needs to start"),
        (Limits(address_space_bytes=1 << 10), "`--address-space 1 KiB` is less than any program"),
        (
            Limits(processes=10**17),
            "`--processes 100000000000000000` is more than a kernel's maximum of 4194304",
        ),
        (Limits(cpu_seconds=10**14), "`--cpu-seconds 100000000000000` is more than a century"),
        (Limits(swap_bytes=1 << 30), "`--swap 1 GiB` limits nothing on its own"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_value(limits: Limits, words: str) -> None:
    with pytest.raises(LimitMakesNoSense, match=words):
        limits_asked(limits, "")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (option, words)
        for option in ("--memory", "--stack", "--cpus", "--files", "--processes", "--slow-disk")
        for words in (
            "5X",
            "-1",
            "0",
            "",
            "\u0665",
            "\uff15",
            "\u00b2",
            "nan",
            "1e400",
            "0x1",
            "5 0",
        )
    ],
)
def test_what_is_no_number_is_refused_with_its_words(option: str, words: str) -> None:
    @click.command()
    def command() -> None: ...

    for each in LIMIT_OPTIONS:
        each(command)
    with pytest.raises(click.BadParameter) as raised:
        command.make_context("whet", [option, words])
    assert f"`{words}` is not a " in raised.value.message
    assert option in raised.value.format_message()


@pytest.mark.parametrize("name", NAMED_LIMITS)
def test_each_set_is_made_of_limits(name: str) -> None:
    assert limits_asked(Limits(), name).starve


def test_an_option_wins_over_a_set() -> None:
    assert limits_asked(Limits(files=30), "laptop").files == 30


def test_a_set_says_how_small_a_machine_is_and_not_how_large() -> None:
    limits = limits_asked(Limits(), "huge", {"huge": {"memory": "900T", "cpus": 9999, "files": 9}})
    assert limits == Limits(files=9)


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(LimitMakesNoSense) as caught:
        limits_asked(Limits(), "boat", {"own": {"files": 3}})
    assert "`laptop`, `own`, `tiny-container`" in caught.value.hint


@pytest.mark.parametrize(
    ("option", "words"),
    [("spoons", 3), ("files", "x"), ("memory", "5X"), ("room", 1), ("spares-command", 1)],
)
def test_what_is_no_limit_is_refused_in_a_set(option: str, words: object) -> None:
    with pytest.raises(BadSetting, match=f"`{option} = "):
        limits_asked(Limits(), "own", {"own": {option: words}})
