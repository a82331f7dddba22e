"""The command ``whet``."""

import sys


def main() -> int:
    """Run whet and return its exit code."""
    from whet.cli.main import run_cli

    return run_cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
