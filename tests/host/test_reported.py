"""Whoever waits for the process of a trial serves it once, and never keeps the trial waiting."""

import socket
import threading

from whet.host.process.reported import ReportServer
from whet.host.process.room_reports import connected


def test_the_process_that_reports_is_served_before_it_is_over() -> None:
    told: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            told.append(connection.recv(16))

    server = ReportServer("whet-test", serve, patience_seconds=60)
    server.begin()
    own = connected(server.address)
    own.send(b"here")
    own.close()
    server.finish()

    assert told == [b"here"]


def test_where_nobody_ever_came_the_wait_is_over_at_once() -> None:
    server = ReportServer("whet-test-nobody", lambda _: None, patience_seconds=60)
    server.begin()
    server.finish()
    server.finish()

    assert "whet-test-nobody" not in {each.name for each in threading.enumerate()}


def test_one_that_never_began_may_be_over_too() -> None:
    ReportServer("whet-test", lambda _: None, patience_seconds=60).finish()
