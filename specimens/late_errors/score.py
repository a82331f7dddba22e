"""Fails at a line that only waits for what another line has launched."""

import gpu


def embed(table, tokens):
    return [gpu.launch(table, token) for token in tokens]


def score(rows):
    table = [0.5 * n for n in range(10)]
    total = 0.0
    for row in rows:
        vectors = embed(table, row)
        total += gpu.fetch(sum(vectors))
    return total


print(score([[1, 2, 3], [4, 5, 6], [7, 8, 10], [1, 1, 1]]))
