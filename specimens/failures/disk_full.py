"""Linux gives each program a full disk to try: /dev/full."""


def save(text):
    with open("/dev/full", "w") as file:
        file.write(text)


save("x")
