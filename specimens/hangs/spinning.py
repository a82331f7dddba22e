"""Waits for what never comes without letting go of the processor."""

print("polling", flush=True)


def poll() -> None:
    while True:
        pass


poll()
