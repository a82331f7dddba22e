"""A transcript of an agent stays one: results go with their calls, and roles take turns as they did."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.transcripts import rules_of
from whet.reduction.preference import Preference
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reducer_of
from whet.reduction.statistics import Reduction
from whet.reduction.validity import validity_of
from whet.search.proposal import run_search

Message = dict[str, Any]


def with_tool_calls(number: int, result: str) -> Iterator[Message]:
    yield {"role": "user", "content": f"please do task {number} with care"}
    arguments = json.dumps({"path": f"/src/f{number}.py"})
    call = {"id": f"call_{number}", "type": "function", "function": {"arguments": arguments}}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"call_{number}", "content": result}
    yield {"role": "assistant", "content": f"Done with {number}."}


def with_tool_uses(number: int, result: str) -> Iterator[Message]:
    yield {"role": "user", "content": [{"type": "text", "text": f"please do task {number}"}]}
    use = {"type": "tool_use", "id": f"t_{number}", "name": "read", "input": {"path": "x.py"}}
    yield {"role": "assistant", "content": [{"type": "text", "text": "ok"}, use]}
    told = {"type": "tool_result", "tool_use_id": f"t_{number}", "content": result}
    yield {"role": "user", "content": [told]}
    yield {"role": "assistant", "content": [{"type": "text", "text": f"Done with {number}."}]}


def with_function_calls(number: int, result: str) -> Iterator[Message]:
    yield {"role": "user", "content": f"please do task {number}"}
    yield {"type": "function_call", "call_id": f"c{number}", "name": "read", "arguments": "{}"}
    yield {"type": "function_call_output", "call_id": f"c{number}", "output": result}
    yield {"role": "assistant", "content": f"Done with {number}."}


WAYS = (with_tool_calls, with_tool_uses, with_function_calls)


Way = Callable[[int, str], Iterator[Message]]


def conversation(way: Way, size: int = 60, failing: int = 37) -> list[Message]:
    results = {failing: "permission denied\n"}
    return [
        message
        for number in range(size)
        for message in way(number, results.get(number, f"line {number}\n" * 8))
    ]


def document(messages: list[Message]) -> bytes:
    return json.dumps({"model": "x", "messages": messages, "n": [1, 2]}, indent=1).encode()


def lines(messages: list[Message]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in messages).encode()


def messages_of(payload: bytes) -> list[Message]:
    try:
        found: Any = json.loads(payload)
    except ValueError:
        return [json.loads(line) for line in payload.splitlines() if line.strip()]
    inner: list[Message] = found.get("messages", [found])
    return inner


def reduced(payload: bytes, judge: Judge, name: str) -> tuple[Reduction, list[bytes]]:
    """Reduce what has a name, and stays valid by it."""
    preference = Preference(is_valid=validity_of(payload, name))
    told: list[bytes] = []

    def test(candidate: Reduced) -> Verdict:
        told.append(candidate.data)
        return judge(candidate.data)

    search = reducer_of(payload, name=name, preference=preference).reduce()
    return run_search(search, test), told


def objects_in(value: object) -> Iterator[Message]:
    """Yield the objects in a value, the outermost first."""
    if isinstance(value, dict):
        found = cast("Message", value)
        yield found
        for each in found.values():
            yield from objects_in(each)
    for each in cast("list[object]", value) if isinstance(value, list) else ():
        yield from objects_in(each)


def is_denied(payload: bytes) -> bool:
    """Replay it as an agent does: each result needs its call."""
    called = set[object]()
    for part in objects_in(messages_of(payload)):
        is_result = part.get("type") == "function_call_output"
        answered = part.get("tool_call_id", part.get("tool_use_id"))
        answered = part.get("call_id") if is_result else answered
        if part.get("type") in ("tool_use", "function", "function_call"):
            called.add(part.get("id", part.get("call_id")))
        if answered is not None and answered not in called:
            raise ValueError("a result without its call")
        if answered is not None and "denied" in str(part.get("output", part.get("content"))):
            return True
    return False


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("write", "name"), [(document, "a.json"), (lines, "a.jsonl")])
def test_one_failing_result_is_left_with_its_call(
    way: Way, write: Callable[[list[Message]], bytes], name: str
) -> None:
    payload = write(conversation(way))
    assert rules_of(payload) is not None

    reduction, told = reduced(payload, fails_if(is_denied), name)

    left = messages_of(reduction.payload)
    assert len(left) == 3
    assert left[0]["role"] == "user"
    assert b"denied" in reduction.payload
    assert len(reduction.payload) < 200
    assert len(told) <= 230, "ask for the reason before raising this"


@given(
    st.sampled_from(WAYS),
    st.sampled_from([(document, "a.json"), (lines, "a.jsonl")]),
    st.integers(1, 2),
    odd_judges(),
)
@settings(max_examples=4)
def test_every_candidate_is_a_transcript(
    way: Way, form: tuple[Callable[[list[Message]], bytes], str], size: int, judge: Judge
) -> None:
    write, name = form
    messages = conversation(way, size)
    followed = {*pairwise(map(role, messages))}

    _, told = reduced(write(messages), judge, name)

    for candidate in told:
        left = messages_of(candidate)
        assert {*pairwise(map(role, left))} <= followed
        assert role(left[0]) == "user"
        assert not is_denied(candidate), "it raises if a result has no call"


def role(message: Message) -> str:
    return str(message.get("role") or message.get("type"))


@pytest.mark.parametrize(
    "payload",
    [
        b'[{"role": "admin", "name": "a"}, {"role": "guest", "name": "b"}]',
        b'{"messages": [{"role": "assistant", "content": "a"}]}',
        b'[{"role": "user"}, {"role": "assistant"}, 7]',
        b'{"role": "user"',
        b'[{"role": "assistant"}, {"role": "tool", "tool_call_id": "x"}]',
        b'{"a":' * 90_000 + b'"role"',
    ],
)
def test_what_is_no_transcript(payload: bytes) -> None:
    assert rules_of(payload) is None
    validity_of(payload, "a.json")


def test_a_rule_that_a_transcript_breaks_already_does_not_hold() -> None:
    messages = conversation(with_tool_calls, 5)
    del messages[1]["tool_calls"], messages[2]["tool_call_id"]
    payload = document(messages)

    reduction, _ = reduced(payload, fails_if(lambda it: b"line 4" in it), "a.json")

    assert rules_of(payload) is not None
    assert len(messages_of(reduction.payload)) == 3
