"""From the report of a test session to the failure that it shows."""

from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.evidence.printed.test_report import TestReport
from whet.evidence.signature.message import normalise
from whet.evidence.signature.ownership import Owner, Ownership, own
from whet.evidence.signature.place import place_of
from whet.evidence.signature.python_failure import kind_of, said
from whet.evidence.signature.site import has_site, site_of
from whet.evidence.signature.wording import canonical_type

_NAMED_TESTS = 20


def failure_of_tests(report: TestReport, ownership: Ownership) -> Failure:
    """Return the failure of a test session: which tests failed, and how the first of them did."""
    frames = own(report.failure.stack, ownership)
    place = place_of(frames)
    kind = kind_of(report.failure.exception, report.failure.message)
    if not (report.is_collection and kind is FailureKind.BROKEN_IMPORT):
        kind = FailureKind.TEST_FAILURE
    names = ", ".join(map(ownership.test_name, report.tests[:_NAMED_TESTS]))
    if len(report.tests) > _NAMED_TESTS:
        names += f" and {len(report.tests) - _NAMED_TESTS} more"
    first = report.tests[0]
    users = [frame for frame in frames if frame.owner is Owner.USER]
    if len(users) > 1 and users[-1].place != users[0].place:
        # The code under test, where the test called it.
        names += f" in {place.user_function}"
    # What follows the first line explains an assertion, with the data at hand.
    message = report.failure.message.strip().split("\n", 1)[0]
    return Failure(
        signature=FailureSignature(
            kind=kind,
            exception=canonical_type(report.failure.exception),
            message=normalise(message),
            user_function=names,
            library_function=place.library_function,
        ),
        summary=said("", report.headline.replace(first, ownership.test_name(first))),
        site=site_of(
            report.failure.stack,
            report.failure.marks,
            report.failure.sources,
            ownership,
            (report.failure.exception, report.failure.message),
        )
        if has_site(kind, report.failure.exception)
        else None,
        frames=tuple(frame.frame for frame in frames),
    )
