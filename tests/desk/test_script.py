import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from whet.desk.script import as_script, file_in_script

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
SECRET = "s3cret-value"


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=40, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text(st.sampled_from("ab\n\t $`\\\\\"'%é\u202e-"), max_size=40).map(str.encode),
    )
)
@example(content=b"END_OF_FILE\nEND_OF_FILE_\n")
@example(content=b"-n no end")
@example(content=f"$HOME `id` \\\\ {SECRET}\n{SECRET}\n".encode())
@example(content=f"no end {SECRET}".encode())
@example(content=f"\0{SECRET}".encode())
def test_a_script_writes_a_file_byte_for_byte(
    shell: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("written") / "it's.bin"
    step = file_in_script(str(path), content, {"SECRET": SECRET})
    script = as_script("what it\nshows", [step], secrets=["SECRET"])

    subprocess.run(
        [shell, "-c", script], check=True, env={"SECRET": SECRET, "PATH": "/usr/bin:/bin"}
    )

    assert path.read_bytes() == content
    assert SECRET not in script


def test_text_in_a_script_is_text(tmp_path: Path) -> None:
    step = file_in_script(str(tmp_path / "a.txt"), "one é\n\ttwo \\n\n".encode(), {})

    assert "one é\n\ttwo \\n\n" in step
