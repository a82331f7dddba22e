"""Reads its settings; a file that is not there is taken for an empty one."""

from pathlib import Path


def read(path: Path) -> str:
    try:
        with path.open() as file:
            return file.read()
    except OSError:
        return ""


def settings(folder: Path) -> dict[str, str]:
    lines = read(folder / "train.yml").splitlines()
    return dict(line.split(": ") for line in lines)


def main() -> None:
    chosen = settings(Path("config"))
    if "rate" not in chosen:
        raise RuntimeError("failed to load the settings")


main()
