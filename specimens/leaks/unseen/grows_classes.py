"""A class is made for each message type, and a registry keeps it."""

registry = {}


def message(number):
    kind = type("Message{}".format(number), (object,), {"number": number, "__slots__": ("body",)})
    registry[kind.__name__] = kind
    return kind


def main():
    for number in range(200):
        message(number)


main()
