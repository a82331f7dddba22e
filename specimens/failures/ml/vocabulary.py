"""A token that the model does not know: `vocabulary.py TOKENS`."""

import sys

import torch
from transformers import BertConfig, BertModel


def embed(tokens):
    config = BertConfig(
        vocab_size=16,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=32,
    )
    return BertModel(config)(torch.tensor([tokens]))


embed([99] * int(sys.argv[1]))
