"""E-mails and mailboxes, as the standard library writes them."""

import email
import json
import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.mail import MAIL, parts_in_mail
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass

VALUE = {"a": {"deep": [1, 2]}, "b": [{"c": n} for n in range(20)]}


def message(number: int = 0) -> EmailMessage:
    made = EmailMessage()
    made["From"] = "a@example.org"
    made["To"] = "b@example.org, " * 8 + "c@example.org"
    made["Subject"] = f"Report {number}"
    made["X-Number"] = str(number)
    made.set_content("Hello,\n\nsee below. \xe9\n")
    made.add_alternative("<html><body><p>see <b>below</b></body></html>", subtype="html")
    value = json.dumps(VALUE).encode()
    made.add_attachment(value, maintype="application", subtype="json", filename="report.json")
    return made


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("mail") / "inbox"
    made = mailbox.mbox(path)
    for number in range(30):
        made.add(message(number))
    made.close()
    return Path(path).read_bytes()


def test_a_mailbox_keeps_the_promises_of_a_format(box: bytes) -> None:
    crlf = message().as_bytes().replace(b"\n", b"\r\n")
    check_format(MAIL, [box, message().as_bytes(), crlf, b"From: a\nTo: b\n", b"text"])
    mail, other = MAIL.parse(box), MAIL.parse(crlf)
    assert mail is not None
    assert other is not None
    assert (len(mail.messages), len(mail.parts), len(mail.bodies)) == (31, 120, 30)
    assert (len(other.parts), len(other.bodies)) == (4, 1)


@pytest.mark.parametrize(
    "payload",
    [b"", b"From here on\nall is text\n", b"note: a\nb: c\n", b"To: x\nSubject: y\nz z\n"],
)
def test_what_has_no_headers_of_mail_is_text(payload: bytes) -> None:
    assert kinds_of(payload, name="inbox.mbox")[0].name != "mail"


def test_passes_keep_their_promises() -> None:
    short = b"From a\nTo: x\nSubject: y\n z\n\nbody\n\nFrom b\nTo: z\nSubject: q\n\n"
    for each in KINDS["mail"].passes:
        check_pass(each, [short, message().as_bytes()])


def test_one_message_and_one_header_of_it_are_left(box: bytes) -> None:
    def is_wrong(payload: bytes) -> bool:
        return any(
            each["X-Number"] == "17"
            for each in map(email.message_from_bytes, payload.split(b"From MAILER-DAEMON")[1:])
        )

    done = shrunk(box, fails_if(is_wrong), format_name="mail")

    mail = MAIL.parse(done.reduction.payload)
    assert mail is not None
    assert (len(mail.messages), len(mail.headers), len(mail.parts)) == (2, 1, 0)
    assert done.calls < 60


def test_json_in_a_base64_attachment_is_reduced_where_it_lies() -> None:
    def is_wrong(payload: bytes) -> bool:
        (found,) = (
            each.get_payload(decode=True)
            for each in email.message_from_bytes(payload).walk()
            if each.get_content_type() == "application/json"
        )
        return isinstance(found, bytes) and "deep" in json.loads(found)["a"]

    done = shrunk(message().as_bytes(), fails_if(is_wrong), format_name="mail")

    (part,) = parts_in_mail(done.reduction.payload)
    assert json.loads(part.content)["a"] in ({"deep": 0}, ["deep"], "deep")
    assert done.calls < 250


def test_base64_that_is_none_is_left_alone() -> None:
    payload = b"From: a\nTo: b\nContent-Transfer-Encoding: base64\n\nAAA\n"

    assert parts_in_mail(payload) == []


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([b"To: a\n", b"Subject: b\n c\n", b"X: d\n"]), max_size=4),
    odd_judges(),
)
def test_no_header_can_go_alone_and_a_second_shrink_changes_nothing(
    lines: list[bytes], judge: Judge
) -> None:
    payload = b"From: a\n" + b"".join(lines) + b"\nbody\n"
    smallest = shrunk(payload, judge, format_name="mail").reduction.payload

    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge, format_name="mail").reduction.payload == smallest
    mail = MAIL.parse(smallest)
    for start, end in () if mail is None else mail.headers:
        assert judge(smallest[:start] + smallest[end:]) is not Verdict.BAD
