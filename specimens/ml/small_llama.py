import torch
from transformers import LlamaConfig, LlamaForCausalLM


def build(seed):
    torch.manual_seed(seed)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=100, num_attention_heads=4, **shape))


def report(loss):
    print(f"loss {loss:.3f}")


def main():
    model = build(seed=0)
    tokens = torch.randint(0, 100, (4, 32))
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    report(loss.item())
    print("done")


if __name__ == "__main__":
    main()
