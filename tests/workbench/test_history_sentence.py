"""What is said of a search over versions."""

import pytest

from whet.core.verdict import Verdict
from whet.workbench.trials.investigation import TestedVersion, VersionSearch
from whet.workbench.versions.history_sentence import history_sentence


@pytest.mark.parametrize(
    ("tested", "says"), [(4, "4 versions tested of 7)"), (8, "8 versions tested)")]
)
def test_of_how_many_versions_it_tested_is_said_unless_it_tested_others_too(
    tested: int, says: str
) -> None:
    search = VersionSearch(
        kind="commit", subject="repo", good="a", bad="z", first_bad="b", between=5,
        tested=tuple(
            TestedVersion(label=str(n), verdict=Verdict.GOOD, trial=n) for n in range(tested)
        ),
    )  # fmt: skip
    assert history_sentence(search).endswith(says)
