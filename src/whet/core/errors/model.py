"""Errors about models to make small."""

from whet.core.errors.base import DATA, NO_INPUT, NO_PERMISSION, UNAVAILABLE, WhetError


class ModelUnknown(WhetError):
    """whet doesn't find the model, or the libraries of your program don't know it.

    A model is a folder with a `config.json`, such a file, a class of transformers (`LlamaConfig`)
    or something of your own: a class (`pkg.mod:Class`), a function that makes a model or an estimator
    (`train:pipeline`), or one that the module holds. whet imports it with the Python of your program.
    """

    exit_code = NO_INPUT


class ModelCodeNotTrusted(WhetError):
    """The model needs Python code that comes with it, or unpickling, which could run any code.

    whet doesn't run it unasked. Read the files that `auto_map` in `config.json` names, then add
    `--trust-remote-code`.
    """

    exit_code = NO_PERMISSION


class ModelUnsolved(WhetError):
    """whet finds no small dimensions with which the model is built and runs.

    The message names the constraint and the dimensions between which it holds. Fix one of them
    yourself with `--set NAME=VALUE`. For an estimator, it says why none of the tiny tables could be
    fitted.
    """

    exit_code = DATA


class ModelNotMade(WhetError):
    """The small model fails one of its checks, so whet doesn't keep it.

    whet calls a model made if forward, backward and `generate` (where there is one) work, and if
    the saved model answers the same after loading. If the reference fails too, repair its
    configuration first.
    """

    exit_code = DATA


class LibraryMissing(WhetError):
    """A library that the model, the format or the type needs isn't installed.

    A model needs the library in the Python of your program. whet takes the Python of the command, or
    the first one on `PATH`; name another one with `--python PATH`. For the formats of files,
    `pip install 'whet[formats]'` installs what whet itself needs.
    """

    exit_code = UNAVAILABLE


class TokenizerUnreadable(WhetError):
    """The model's folder has no tokenizer that whet can read as data.

    whet cuts `tokenizer.json`, and the older `vocab.json` with `merges.txt`, and `vocab.txt`. A
    SentencePiece model alone (`tokenizer.model`, `spiece.model`) isn't enough: have transformers
    write `tokenizer.json` with `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)`.
    """

    exit_code = DATA


class CheckpointUnreadable(WhetError):
    """whet can't read the weights of the model as data, or can't count its layers.

    whet reads safetensors files and their index, and torch's zip files if they hold tensors alone.
    It never runs a pickle. A file that isn't complete has to be copied again.
    """

    exit_code = DATA
