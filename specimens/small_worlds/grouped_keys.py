"""Takes the keys for as many heads as the queries have: a shape mismatch with grouped keys."""

import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
keys = model(torch.arange(8)[None]).past_key_values.layers[0].keys
queries = torch.ones(1, model.config.num_attention_heads, 8, keys.shape[-1])
torch.einsum("bhqd,bhkd->bhqk", queries, keys[:, : queries.shape[1]])
