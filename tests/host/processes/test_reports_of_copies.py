"""Any process of the user may write to the place where frozen copies report."""

import marshal
import socket
from pathlib import Path
from typing import Any

import pytest

from whet.host.spawner.frozen import FrozenCopies


@pytest.mark.parametrize("values", [(), (1,), ((),) * 5, ((),) * 7])
def test_a_report_of_another_shape_is_passed_over(values: tuple[Any, ...], tmp_path: Path) -> None:
    copies = FrozenCopies()
    copies.listen(str(tmp_path / "copies"))
    report = marshal.dumps(("line", "x.py:3", 0.5, values, {}, []))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(str(tmp_path / "copies"))
        line.sendall(len(report).to_bytes(4, "little") + report)
        line.shutdown(socket.SHUT_WR)

        assert copies.take() is None
    copies.end()
