"""Divides by the number of tokens of each expert: some have none if there are many experts."""

import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
text = torch.arange(12)[None]
routed = model(text, output_router_logits=True).router_logits[0]
chosen = routed.topk(model.config.num_experts_per_tok).indices
counts = torch.bincount(chosen.flatten(), minlength=model.config.num_experts)
shares = [len(text[0]) // count for count in counts.tolist()]
