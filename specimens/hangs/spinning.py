"""Waits for what never comes without letting go of the processor."""


def poll() -> None:
    # From inside: whoever waits for this word finds it here.
    print("polling", flush=True)
    while True:
        pass


poll()
