"""What is compiled again and again is said with what changes each time; a usual start is not."""

from dataclasses import replace

from whet.core.observations.profile import Compilation, Profile
from whet.measurement.profiles.compilations import compiling_sentences


def said(*compilations: Compilation, wall_seconds: float = 2.0) -> str:
    profile = Profile(question="cpu", engine="", unit="cpu_seconds", compilations=compilations)
    return " ".join(compiling_sentences(profile, wall_seconds))


def jax(*types: str, reason: str = "") -> Compilation:
    return Compilation(
        compiler="JAX", function="step", seconds=0.2, path="/p/train.py", line=11, caller="loss",
        types=types, reason=reason,
    )  # fmt: skip


def torch(reason: str) -> Compilation:
    return Compilation(
        compiler="torch.compile", function="step", seconds=0.2, path="/p/train.py", line=4,
        reason=reason,
    )  # fmt: skip


def test_the_argument_whose_shape_changes_is_named_with_its_shapes() -> None:
    text = said(*(jax("f32[3]", f"f32[{n},3]") for n in range(10, 15)))

    assert "JAX compiles `step` 5 times (1.0 s), called at train.py:11 in loss: " in text
    assert "argument 2 is f32[10,3], f32[11,3], f32[12,3] and 2 others." in text


def test_equal_types_point_at_a_static_argument_or_a_new_function() -> None:
    assert "are the same each time, so a static argument changes" in said(*[jax("f32[3]")] * 3)
    assert "couldn't see the types" in said(*[jax(reason="its types weren't logged")] * 3)
    assert "another number of arguments" in said(jax(), jax("f32[3]"), jax("f32[3]", "i32[]"))


def test_the_guard_that_fails_is_said_in_torchs_words_without_its_number() -> None:
    reasons = ("", "0/0: tensor 'x' size mismatch at index 0", "0/1: tensor 'x' dtype mismatch")
    text = said(*map(torch, reasons))

    assert "torch.compile compiles `step` (train.py:4) 3 times" in text
    assert ": tensor 'x' size mismatch at index 0; tensor 'x' dtype mismatch. " in text
    assert "`torch.compile(dynamic=True)`" in text
    assert "dynamic=True" not in said(*map(torch, ("", "0/0: a", "0/1: b")))


def test_what_is_compiled_twice_or_takes_no_time_is_not_said() -> None:
    assert "compiles `" not in said(jax("a"), jax("b"))
    assert said(*(jax(f"f32[{n}]") for n in range(4)), wall_seconds=1000.0) == ""


def test_ranks_that_compile_the_same_are_said_once() -> None:
    ranks = [replace(jax(f"f32[{n}]"), pid=pid) for pid in (7, 8, 9) for n in range(5)]
    text = said(*ranks, wall_seconds=1.5)

    assert text.count("JAX compiles `step` 5 times (1.0 s)") == 1
    assert "Compiling takes 1.0 s of 1.5 s (5 compilations)." in text


def test_compiling_is_said_if_it_is_a_large_part_of_the_time() -> None:
    assert "Compiling takes 400 ms of 1.0 s (2 compilations)." in said(
        jax("a"), jax("b"), wall_seconds=1.0
    )
    assert "Compiling takes" not in said(jax("a"), jax("b"), wall_seconds=2.0)
