"""Has a table for 128 positions of its own: an overflow in longer texts."""

import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
length = min(model.config.max_position_embeddings, 512)
text = torch.arange(length)[None] % model.config.vocab_size
model(text)
weights = torch.linspace(0, 1, 128)
weights[torch.arange(length)]
