"""Has a table for 128 positions of its own: an overflow in longer texts."""

import sys
import time

import torch
from transformers import AutoModelForCausalLM

started = time.perf_counter()
model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
length = min(model.config.max_position_embeddings, 512)
text = torch.arange(length)[None] % model.config.vocab_size
model(text)
print(f"model: {time.perf_counter() - started:.3f} s")
weights = torch.linspace(0, 1, 128)
weights[torch.arange(length)]
