"""What was seen of system calls is kept as JSON, and read back the same."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import Frame
from whet.core.observations.system_call import (
    AddressUse,
    FailedCall,
    FileLook,
    FileUse,
    LongCall,
    OpenFiles,
    PathFacts,
    SystemCalls,
)

# As `os.fsdecode` gives them: bytes that are no UTF-8 are lone surrogates.
paths = st.binary(max_size=12).map(lambda data: data.decode("utf-8", "surrogateescape"))
counts = st.integers(min_value=0, max_value=1 << 40)
frames = st.builds(Frame, path=paths, line=counts, function=paths, in_user_code=st.booleans())
facts = st.builds(
    PathFacts, existing=paths, owner=paths, mode=paths, free_bytes=counts, near=st.tuples(paths),
    is_read_only=st.booleans(), free_files=st.none() | counts,
)  # fmt: skip
held = st.builds(OpenFiles, held=counts, most=counts, kinds=st.tuples(st.tuples(paths, counts)))
failures = st.builds(
    FailedCall, call=paths, error=paths, path=paths, given=paths, detail=paths, pid=counts,
    count=counts, order=counts, frames=st.tuples(frames), started_by=st.tuples(frames),
    facts=st.none() | facts, open_files=st.none() | held, looked_in=counts, names=counts,
    before_end_seconds=st.none() | st.sampled_from([0.0, 1.5]), process=paths,
)  # fmt: skip
looks = st.builds(
    FileLook, path=paths, count=counts, before_end_seconds=st.none() | st.sampled_from([0.0, 1.5]),
    frames=st.tuples(frames),
)  # fmt: skip
waits = st.builds(
    LongCall, call=paths, target=paths, is_under_way=st.booleans(), frames=st.tuples(frames)
)
seen = st.builds(
    SystemCalls, seen=counts, failed=counts, usual=counts, processes=counts,
    failures=st.lists(failures, max_size=2).map(tuple),
    waits=st.lists(waits, max_size=2).map(tuple),
    files=st.lists(st.builds(FileUse, path=paths, count=counts), max_size=2).map(tuple),
    looks=st.lists(looks, max_size=2).map(tuple),
    addresses=st.lists(st.builds(AddressUse, call=paths, address=paths), max_size=2).map(tuple),
    notes=st.tuples(paths),
)  # fmt: skip


@given(seen)
def test_all_of_it_is_read_back_from_json(calls: SystemCalls) -> None:
    read = SystemCalls.from_json(json.loads(json.dumps(calls.to_json())))

    assert read == replace(calls, failures=read.failures)
    assert [replace(each, seconds=0) for each in read.failures] == [
        replace(each, seconds=0) for each in calls.failures
    ]
