"""The programs of `warm.py`, as texts with places to edit."""

from collections.abc import Mapping

LLAMA = {
    "train.py": """\
import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import steps

model = steps.build(torch, LlamaConfig, LlamaForCausalLM)


def main():
    with open("text.txt") as file:
        batch = steps.batch_of(torch, file.read())
    with open("settings.json") as file:
        settings = json.load(file)
    model.zero_grad()
    loss = model(input_ids=batch, labels=batch).loss * settings["scale"]
    loss.backward()
    told = steps.report(loss, model)
    print("RESULT", told, {last lines}, flush=True)


if __name__ == "__main__":
    main()
""",
    "steps.py": """\
def build(torch, config_type, model_type):
    torch.manual_seed({function called early})
    config = config_type(
        vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64,
    )
    return model_type(config)


def batch_of(torch, text):
    return torch.tensor([[ord(each) % 512 for each in text.strip()[:48]]])


def report(loss, model):
    norm = sum(float(each.grad.norm()) for each in model.parameters() if each.grad is not None)
    return f"{loss.item():.3f} {norm:.2f} {function called late}"
""",
    "text.txt": "a text of {data} words, and what comes after it is more of it\n",
    "settings.json": '{"scale": {configuration}}\n',
}
KINDS = ("last lines", "function called late", "data", "configuration", "function called early")
"""The places in the order in which the program comes to them, from its end."""

PRELOADED = ("json", "torch", "transformers")
"""What a fork server loads once for all runs."""


def llama(values: Mapping[str, int]) -> dict[str, str]:
    """Return the program's files with a number at each place.

    Args:
        values: the number of each kind of place.
    """
    texts: dict[str, str] = {}
    for path, template in LLAMA.items():
        text = template
        for kind, value in values.items():
            text = text.replace("{" + kind + "}", str(value))
        texts[path] = text
    return texts


CALLS = """\
def inner(x):
    return x + 1

def outer(x):
    return inner(x) + inner(x + 1)

total = 0
for i in range({count}):
    total += outer(i)
print(total)
"""
"""Does little but call functions."""

IMPORTS = """\
import argparse, ast, asyncio, concurrent.futures, csv, ctypes, dataclasses, decimal, difflib
import email.message, fractions, html.parser, http.client, inspect, json, logging.config
import multiprocessing, optparse, pdb, pickle, platform, pydoc, sqlite3, ssl, statistics
import tarfile, tempfile, tkinter.constants, unittest.mock, urllib.request, uuid
import xml.dom.minidom, xml.etree.ElementTree, xmlrpc.client, zipfile
print("done")
"""
"""Does little but import modules."""

MODELS = """\
from transformers import LlamaForCausalLM
print(LlamaForCausalLM.__name__)
"""
"""Imports much that is installed."""

HOLDER = """\
import os, sys, time

SIZE = {size}
{make}
def read():
    {read}
    time.sleep(0.06)
{reads}
def wait_for(name):
    os.mkdir(name + ".reached")
    while not os.path.exists(name + ".go"):
        time.sleep(0.02)

wait_for("read")
{write}
wait_for("written")
"""
"""Holds much memory, reads it all again and again, and in the end writes it all anew."""

BYTES = {
    "make": "held = bytearray(b'1') * SIZE",
    "read": "held.count(b'2')",
    "write": "held[:] = b'3' * SIZE",
}
OBJECTS = {
    # A list of 8 bytes and a float of 24 for each.
    "make": "held = [float(i) for i in range(SIZE // 32)]",
    "read": "sum(held)",
    "write": "held[:] = [each + 1 for each in held]",
}
