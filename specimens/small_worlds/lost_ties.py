"""Saves a copy of each tensor: the weights that were shared are two after loading."""

import sys

from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
copies = {name: tensor.clone() for name, tensor in model.state_dict().items()}
model.get_output_embeddings().weight = type(model.get_output_embeddings().weight)(
    copies["lm_head.weight"]
)
one, other = model.get_input_embeddings().weight, model.get_output_embeddings().weight
assert one.data_ptr() == other.data_ptr(), "the embeddings aren't tied any more"
