"""Which orders are worked on the day they come?"""

import inbox
from calendar import is_open

MAILS = (
    "Subject: two lamps\nDate: Mon, 04 Mar 2024 10:00:00 +0100\n\nplease",
    "Subject: a chair\nDate: Wed, 25 Dec 2024 11:30:00 +0100\n\nplease",
)


def main() -> None:
    for mail in MAILS:
        subject, day = inbox.received(mail)
        print(subject, "today" if is_open(day) else "tomorrow")


main()
