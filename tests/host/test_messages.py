"""A message between whet's processes is read as it was written."""

import marshal
from typing import Any

from whet.host.process.messages import Ended, Noted, Sample, as_ended, plain


def test_how_a_trial_ended_is_read_field_by_field_as_it_was_written() -> None:
    sample = Sample(0.5, 1, 0.25, 2, 3, 4, 5)
    values: dict[str, Any] = {
        "exits": [(5, 0, False), (6, None, True)],
        "noted": [Noted("memory", 7.0, 8, "python")],
        "samples": [sample, sample],
        "peaks": [(9, "python", 10)],
        "stubborn": [11],
    }
    others: dict[str, Any] = {
        name: 100 + at for at, name in enumerate(Ended._fields) if name not in values
    }
    ended = Ended(**{**others, **values})

    again = as_ended(marshal.dumps(plain(ended)))

    assert again == ended
    assert again.noted[0].limit == "memory"
    assert again.samples[1].processes == 5
