"""A folder without a model in it: `no_model.py FOLDER`."""

import sys

from transformers import AutoModel


def load(folder):
    return AutoModel.from_pretrained(folder, local_files_only=True)


load(sys.argv[1])
