"""Which of the doors may be opened, from the bits of their state."""

from doors import LOCKED, MOVING, is_free, read

STATES = {"front": 0b000, "back": 0b010, "yard": 0b110, "attic": 0b101}


def plan(states):
    return sorted(name for name, state in states.items() if is_free(read(state)))


def main():
    free = plan(STATES)
    for name in free:
        state = STATES[name]
        assert not state & (LOCKED | MOVING), f"{name} is opened in state {state:03b}"
    print("free:", ", ".join(free))


if __name__ == "__main__":
    main()
