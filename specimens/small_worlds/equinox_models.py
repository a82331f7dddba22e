"""Models of Equinox, each of millions of parameters; a call takes one example."""

import equinox as eqx
import jax
from jax import numpy as jnp


class Perceptron(eqx.Module):
    """Layers in a row."""

    layers: eqx.nn.MLP

    def __init__(
        self, inputs: int = 784, hidden: int = 1024, depth: int = 3, *, key: jax.Array
    ) -> None:
        self.layers = eqx.nn.MLP(inputs, 10, hidden, depth, key=key)

    def __call__(self, row: jax.Array) -> jax.Array:
        """Return a number for each class."""
        return self.layers(row)


class Block(eqx.Module):
    """Attention and a perceptron."""

    first: eqx.nn.LayerNorm
    attention: eqx.nn.MultiheadAttention
    second: eqx.nn.LayerNorm
    into: eqx.nn.Linear
    out: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, width: int, heads: int, dropout: float, *, key: jax.Array) -> None:
        one, two, three = jax.random.split(key, 3)
        self.first = eqx.nn.LayerNorm(width, eps=1e-6)
        self.attention = eqx.nn.MultiheadAttention(heads, width, key=one)
        self.second = eqx.nn.LayerNorm(width, eps=1e-6)
        self.into = eqx.nn.Linear(width, 4 * width, key=two)
        self.out = eqx.nn.Linear(4 * width, width, key=three)
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, values: jax.Array, key: jax.Array) -> jax.Array:
        """Return other values."""
        normal = jax.vmap(self.first)(values)
        values = values + self.attention(normal, normal, normal)
        inner = jax.nn.gelu(jax.vmap(self.into)(jax.vmap(self.second)(values)))
        return values + self.dropout(jax.vmap(self.out)(inner), key=key)


class Transformer(eqx.Module):
    """A language model."""

    tokens: eqx.nn.Embedding
    blocks: list[Block]
    head: eqx.nn.Linear

    def __init__(
        self,
        vocabulary: int = 32000,
        width: int = 512,
        heads: int = 8,
        layers: int = 6,
        dropout: float = 0.1,
        *,
        key: jax.Array,
    ) -> None:
        keys = jax.random.split(key, layers + 2)
        self.tokens = eqx.nn.Embedding(vocabulary, width, key=keys[0])
        self.blocks = [Block(width, heads, dropout, key=each) for each in keys[2:]]
        self.head = eqx.nn.Linear(width, vocabulary, key=keys[1])

    def __call__(self, tokens: jax.Array, key: jax.Array) -> jax.Array:
        """Return a number for each token that may come next."""
        values = jax.vmap(self.tokens)(tokens)
        for block in self.blocks:
            values = block(values, key)
        return jax.vmap(self.head)(values)


class Images(eqx.Module):
    """Convolutions over images of 28 by 28."""

    convolutions: eqx.nn.Sequential
    hidden: eqx.nn.Linear
    out: eqx.nn.Linear

    def __init__(
        self, channels: int = 64, hidden: int = 1024, classes: int = 10, *, key: jax.Array
    ) -> None:
        keys = jax.random.split(key, 4)
        self.convolutions = eqx.nn.Sequential([
            eqx.nn.Conv2d(1, channels, 3, padding=1, key=keys[0]),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.AvgPool2d(2, 2),
            eqx.nn.Conv2d(channels, 2 * channels, 3, padding=1, key=keys[1]),
            eqx.nn.AvgPool2d(2, 2),
        ])
        self.hidden = eqx.nn.Linear(2 * channels * 7 * 7, hidden, key=keys[2])
        self.out = eqx.nn.Linear(hidden, classes, key=keys[3])

    def __call__(self, image: jax.Array) -> jax.Array:
        """Return a number for each class."""
        values = jnp.ravel(self.convolutions(image))
        return self.out(jax.nn.relu(self.hidden(values)))
