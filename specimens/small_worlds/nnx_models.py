"""Models of flax.nnx, each of millions of parameters."""

import jax
from flax import nnx


class Perceptron(nnx.Module):
    """Layers in a row."""

    def __init__(
        self, inputs: int = 784, hidden: int = 2048, outputs: int = 10, *, rngs: nnx.Rngs
    ) -> None:
        self.into = nnx.Linear(inputs, hidden, rngs=rngs)
        self.norm = nnx.BatchNorm(hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, outputs, use_bias=False, rngs=rngs)

    def __call__(self, rows: jax.Array) -> jax.Array:
        """Return a number for each class."""
        return self.out(nnx.relu(self.norm(self.into(rows))))


class Block(nnx.Module):
    """Attention and a perceptron."""

    def __init__(self, width: int, heads: int, dropout: float, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.second = nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs)
        self.into = nnx.Linear(width, 4 * width, rngs=rngs)
        self.out = nnx.Linear(4 * width, width, rngs=rngs)
        self.dropout = nnx.Dropout(dropout, rngs=rngs)

    def __call__(self, values: jax.Array) -> jax.Array:
        """Return other values."""
        values = values + self.attention(self.first(values))
        return values + self.dropout(self.out(nnx.gelu(self.into(self.second(values)))))


class Transformer(nnx.Module):
    """A language model whose embedding is its last layer too."""

    def __init__(
        self,
        vocabulary: int = 32000,
        width: int = 512,
        heads: int = 8,
        layers: int = 6,
        dropout: float = 0.1,
        *,
        rngs: nnx.Rngs,
    ) -> None:
        self.tokens = nnx.Embed(vocabulary, width, rngs=rngs)
        self.blocks = nnx.List(Block(width, heads, dropout, rngs=rngs) for _ in range(layers))
        self.norm = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Return a number for each token that may come next."""
        values = self.tokens(tokens)
        for block in self.blocks:
            values = block(values)
        return self.tokens.attend(self.norm(values))


class Images(nnx.Module):
    """Convolutions over images of 28 by 28."""

    def __init__(
        self, channels: int = 64, hidden: int = 1024, classes: int = 10, *, rngs: nnx.Rngs
    ) -> None:
        self.first = nnx.Conv(1, channels, (3, 3), rngs=rngs)
        self.second = nnx.Conv(channels, 2 * channels, (3, 3), rngs=rngs)
        self.hidden = nnx.Linear(2 * channels * 7 * 7, hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, classes, rngs=rngs)

    def __call__(self, images: jax.Array, train: bool) -> jax.Array:
        """Return a number for each class."""
        values = nnx.avg_pool(nnx.relu(self.first(images)), (2, 2), (2, 2))
        values = nnx.avg_pool(nnx.relu(self.second(values)), (2, 2), (2, 2))
        values = nnx.relu(self.hidden(values.reshape(values.shape[0], -1)))
        return self.out(values if train else values * 1.0)
