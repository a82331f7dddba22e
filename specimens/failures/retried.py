"""Each try chains one more exception."""


def fetch(tries):
    try:
        raise ConnectionError("refused")
    except ConnectionError:
        if tries:
            fetch(tries - 1)
        raise


fetch(5)
