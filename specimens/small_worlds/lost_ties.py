"""Saves a copy of each tensor: the weights that were shared are two after loading."""

import sys
import time

from transformers import AutoModelForCausalLM

started = time.perf_counter()
model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
copies = {name: tensor.clone() for name, tensor in model.state_dict().items()}
print(f"model: {time.perf_counter() - started:.3f} s")
model.get_output_embeddings().weight = type(model.get_output_embeddings().weight)(
    copies["lm_head.weight"]
)
one, other = model.get_input_embeddings().weight, model.get_output_embeddings().weight
assert one.data_ptr() == other.data_ptr(), "the embeddings aren't tied any more"
