"""Plans the first step from a set of names, whose order is another one in each run."""

STEPS = {"load", "clean", "split", "train", "test"}
NEEDS = {"clean": "load", "split": "clean", "train": "split", "test": "train"}


def plan(steps: set[str]) -> list[str]:
    """Return the steps in an order."""
    done: list[str] = []
    for step in steps:
        done.append(step)
    return done


def main() -> None:
    """Begin with the first step of the plan."""
    first = plan(STEPS)[0]
    if NEEDS.get(first) == "split":
        raise KeyError("weights")


if __name__ == "__main__":
    main()
