"""The releases of a set of packages as an installer would have resolved them on a given day."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from whet.core.errors import ReleaseNotInstallable
from whet.host.process.tool import call_tool
from whet.host.python.environments import find_uv
from whet.host.python.index_settings import IndexSettings
from whet.host.python.python_interpreter import PythonFacts


def resolved_as_of(
    packages: Iterable[str],
    moment: str,
    *,
    python: PythonFacts,
    settings: IndexSettings,
    environment: Mapping[str, str],
) -> bytes:
    """Return the packages at the newest releases of a day that go together, one pin a line.

    Args:
        packages: their names.
        moment: a day, such as ``2024-05-01``, or a moment (ISO 8601).
        python: the Python that they are for.
        settings: the package index.
        environment: what uv inherits.

    Raises:
        ReleaseNotInstallable: if there is no uv, or nothing goes together.
    """
    uv = find_uv(environment)
    if not uv:
        raise ReleaseNotInstallable(
            f"only uv can find out what the index held on {moment}",
            hint="install it: `pip install uv`",
        )
    told = {**settings.for_uv(), "UV_PYTHON_DOWNLOADS": "never"}
    answer = call_tool(
        [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-config",
         "--python", python.path, "--exclude-newer", moment, "-"],
        stdin="".join(f"{name}\n" for name in packages).encode(),
        environment={**environment, **told},
        cwd=Path("/"),
    )  # fmt: skip
    if answer.exit_code != 0:
        raise ReleaseNotInstallable(
            f"the packages as of {moment} aren't compatible: {answer.complaint}",
            hint="name a file of pins instead, such as what `pip freeze` printed then",
        )
    return answer.stdout
