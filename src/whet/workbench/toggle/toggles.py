"""The toggles that whet knows: switches that make a failure repeatable, immediate or more detailed.

Sources: the manuals of Python (`python --help-env`), of CUDA, PyTorch, JAX, NCCL, OpenMP and glibc.
"""

import os
from collections.abc import Collection, Mapping, Sequence

from whet.core.errors import BadSetting, BadUsage
from whet.core.text.record import JsonObject, MalformedRecordError, boolean, text, text_map, texts
from whet.core.toggle import Toggle
from whet.workbench.toggle.amplifiers import AMPLIFIERS

_AT_START = "when Python starts"
_POOLS = (
    "library:libgomp",
    "library:libiomp",
    "library:libomp",
    "library:libmkl",
    "library:libopen",
)
_CUDA = ("library:libcuda.so",)

# What CUDA's runtime, PyTorch, CuPy, JAX and ROCm say to a program that insists on a GPU.
_NO_GPU = (
    r"(?i)no (?:CUDA|HIP|NVIDIA|ROCm)?[- ]?(?:capable )?(?:GPUs?|devices?)\b|cudaErrorNoDevice"
    r"|not compiled with CUDA|unknown backend|backend '\w+' (?:is not|failed)"
)

# What `multiprocessing` says to a script that starts processes as it is imported, and of what
# can't be passed on.
_NO_SPAWN = r"bootstrapping phase|[Cc]an't pickle|cannot pickle|Can't get (?:local )?attribute|PicklingError"

_ALL = (
    Toggle(
        name="cuda-sync",
        does="the program waits for each CUDA kernel: an error is raised where it happens",
        read="when the program creates CUDA's context",
        variables={"CUDA_LAUNCH_BLOCKING": "1"},
        signs=_CUDA, simplifies=True, only_slows=True,
    ),
    Toggle(
        name="cpu",
        does="the program sees no GPU: it runs on the CPU, with Python's own errors",
        read="when CUDA, ROCm or JAX looks for devices",
        variables={"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"},
        signs=(*_CUDA, "module:torch", "module:jax", "module:tensorflow", "module:cupy"),
        refusal=_NO_GPU, simplifies=True,
    ),
    Toggle(
        name="no-cuda-cache",
        does="PyTorch frees GPU memory at once: a stale pointer fails where it is used",
        read="when PyTorch first asks for GPU memory",
        variables={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        signs=_CUDA, only_slows=True,
    ),
    Toggle(
        name="torch-anomaly",
        does="PyTorch names the forward call whose gradient went wrong",
        read="once the program has imported torch",
        inside=("torch-anomaly",), signs=("inside:torch-anomaly",),
    ),
    Toggle(
        name="torch-deterministic",
        does="PyTorch uses deterministic algorithms, and refuses operations that have none",
        read="once the program has imported torch",
        variables={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
        inside=("torch-deterministic",), signs=("inside:torch-deterministic",), simplifies=True,
    ),
    Toggle(
        name="no-compile",
        does="torch.compile leaves functions as they are",
        read="when torch._dynamo is imported",
        variables={"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1"},
        signs=("module:torch._dynamo",), simplifies=True,
    ),
    Toggle(
        name="no-autocast",
        does="PyTorch's autocast and GradScaler do nothing: no mixed precision",
        read="when the program enters autocast",
        inside=("no-autocast",), signs=("inside:no-autocast",), simplifies=True,
    ),
    Toggle(
        name="float32",
        does="what PyTorch makes or converts in float16 or bfloat16 is float32; no TF32",
        read="when the program makes or converts a tensor",
        variables={"NVIDIA_TF32_OVERRIDE": "0", "JAX_DEFAULT_MATMUL_PRECISION": "float32"},
        inside=("float32",), signs=("inside:float32", *_CUDA, "module:jax"), simplifies=True,
    ),
    Toggle(
        name="eval-without-grad",
        does="a PyTorch module that runs where no gradients are computed is in eval mode",
        read="when the program calls a module in training mode under `no_grad`",
        inside=("eval-without-grad",), signs=("inside:eval-without-grad",),
    ),
    Toggle(
        name="zero-grads",
        does="PyTorch's optimizers clear the gradients after each step",
        read="when an optimizer takes a step",
        inside=("zero-grads",), signs=("inside:zero-grads",),
    ),
    Toggle(
        name="registered",
        does="a PyTorch module's parameters include those in its lists and dicts, and tensors that take gradients",
        read="when a module is asked for its parameters, converts them or switches its mode, and holds such",
        inside=("registered",), signs=("inside:registered",),
    ),
    Toggle(
        name="reseeded-forks",
        does="a forked process draws its own random numbers from NumPy's and PyTorch's generators",
        read="when the program forks a process after it has imported NumPy or PyTorch",
        inside=("reseeded-forks",), signs=("inside:reseeded-forks",),
    ),
    Toggle(
        name="alike-forks",
        does="forked processes draw the same random numbers as one another, but others than without it",
        read="when the program forks a process after it has imported NumPy or PyTorch",
        inside=("alike-forks",), signs=("inside:alike-forks",),
    ),
    Toggle(
        name="no-workers",
        does="PyTorch's DataLoader loads in this process (num_workers=0)",
        read="when a DataLoader is made",
        inside=("no-workers",), signs=("inside:no-workers",), simplifies=True,
    ),
    Toggle(
        name="spawn",
        does="`multiprocessing` starts each process from scratch, where it would fork this one",
        read="when the program starts a process",
        inside=("spawn",), signs=("inside:spawn",), refusal=_NO_SPAWN,
    ),
    Toggle(
        name="one-process",
        does="pools of processes work in the process itself; torchrun and distributed programs have one rank",
        read="when a pool or a process group is made",
        variables={
            "WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
            "PET_NPROC_PER_NODE": "1", "PET_NNODES": "1", "LOKY_MAX_CPU_COUNT": "1",
            "JOBLIB_MULTIPROCESSING": "0",
        },
        inside=("one-process",),
        signs=(
            "inside:one-process", "module:torch.distributed.distributed_c10d", "module:joblib",
        ),
        simplifies=True,
    ),
    Toggle(
        name="one-thread",
        does="OpenMP, MKL, OpenBLAS, Rayon and thread pools have one thread",
        read="when the program loads each library",
        variables=dict.fromkeys(
            (
                "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS",
                "RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "TBB_NUM_THREADS",
            ),
            "1",
        ),
        inside=("one-thread",),
        signs=("inside:one-thread", *_POOLS, "module:polars", "module:tokenizers"),
        simplifies=True,
    ),
    Toggle(
        name="submission-order",
        does="as_completed and imap_unordered hand over results in the order of submission",
        read="when the program collects results",
        inside=("submission-order",), signs=("inside:submission-order",), simplifies=True,
    ),
    Toggle(
        name="no-tokenizer-threads",
        does="Hugging Face's tokenizers work in one thread",
        read="when tokenizers is used",
        variables={"TOKENIZERS_PARALLELISM": "false"},
        signs=("module:tokenizers",), simplifies=True,
    ),
    Toggle(
        name="hash-seed",
        does="sets of strings have the same order in each run",
        read=_AT_START,
        variables={"PYTHONHASHSEED": "0"}, simplifies=True,
    ),
    Toggle(
        name="asyncio-debug",
        does="asyncio names coroutines that were never awaited, slow callbacks, calls from wrong "
        "threads",
        read="when the program creates an event loop",
        variables={"PYTHONASYNCIODEBUG": "1"},
        signs=("module:asyncio",), only_slows=True,
    ),
    Toggle(
        name="dev-mode",
        does="Python warns of files left open, checks its memory, and says where it crashed",
        read=_AT_START,
        variables={"PYTHONDEVMODE": "1"}, signs=("flag:dev_mode",),
    ),
    Toggle(
        name="import-times",
        does="Python prints each import and how long it took",
        read=_AT_START,
        variables={"PYTHONPROFILEIMPORTTIME": "1"}, only_tells=True,
    ),
    Toggle(
        name="debug-malloc",
        does="Python checks both ends of its memory blocks: it finds overruns when it frees them",
        read=_AT_START,
        variables={"PYTHONMALLOC": "debug"},
    ),
    Toggle(
        name="perturb-malloc",
        does="glibc fills allocated and freed memory: uninitialized values stand out",
        read="when the program starts",
        variables={"MALLOC_PERTURB_": "165"},
    ),
    Toggle(
        name="jax-no-jit",
        does="JAX runs functions step by step, in Python",
        read="when the program imports jax",
        variables={"JAX_DISABLE_JIT": "1"},
        signs=("module:jax",), simplifies=True,
    ),
    Toggle(
        name="jax-debug-nans",
        does="JAX raises where the first NaN appears",
        read="when the program imports jax",
        variables={"JAX_DEBUG_NANS": "True"}, signs=("module:jax",),
    ),
    Toggle(
        name="nccl-log",
        does="NCCL logs its connections and errors",
        read="when the program loads NCCL",
        variables={"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,COLL"},
        signs=("library:libnccl",), only_tells=True,
    ),
    Toggle(
        name="distributed-log",
        does="torch.distributed checks that all ranks make the same calls, and logs them",
        read="when the program imports torch.distributed",
        variables={
            "TORCH_DISTRIBUTED_DEBUG": "DETAIL", "TORCH_CPP_LOG_LEVEL": "INFO",
            "TORCH_SHOW_CPP_STACKTRACES": "1",
        },
        signs=("module:torch.distributed.distributed_c10d",),
    ),
)  # fmt: skip


def _one_device(environment: Mapping[str, str]) -> Toggle:
    """Return what leaves the first of the GPUs that the user's environment allows."""
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    allowed = {name: environment.get(name, "0").split(",")[0].strip() for name in names}
    return Toggle(
        name="one-device",
        does="the program sees one GPU, the first of those that it saw",
        read="when CUDA or ROCm looks for devices",
        variables=allowed, signs=_CUDA, simplifies=True,
    )  # fmt: skip


def known_toggles(own: Mapping[str, JsonObject] | None = None) -> dict[str, Toggle]:
    """Return all toggles by name; one of the user's own takes the place of whet's.

    Args:
        own: those of the settings, as they are written there.

    Raises:
        BadSetting: if one of them can't be read.
    """
    own_toggles = {name: _toggle_of(name, data) for name, data in (own or {}).items()}
    # `cpu` is set after it, and takes that GPU away too.
    whole = (_one_device(os.environ), *_ALL, *AMPLIFIERS)
    return {**{each.name: each for each in whole}, **own_toggles}


def _toggle_of(name: str, data: JsonObject) -> Toggle:
    try:
        _check_words(data)
        return Toggle(
            name=name,
            does=text(data, "does", "a switch of your own"),
            variables=text_map(data, "variables"),
            signs=texts(data, "signs") if "signs" in data else (),
            simplifies=boolean(data, "simplifies") if "simplifies" in data else False,
            amplifies=boolean(data, "amplifies") if "amplifies" in data else False,
        )
    except MalformedRecordError as error:
        raise BadSetting(
            f"`[toggles.{name}]` is invalid: {error}",
            hint='it needs `variables = { NAME = "VALUE" }`, and optionally `does`, `signs`,'
            " `simplifies` and `amplifies`",
        ) from error


def _check_words(data: JsonObject) -> None:
    """Refuse words that say nothing.

    Raises:
        MalformedRecordError: if there are any.
    """
    for word in set(data) - {"does", "variables", "signs", "simplifies", "amplifies"}:
        raise MalformedRecordError(f"`{word}` is not known")


def chosen(
    names: Sequence[str], known: Mapping[str, Toggle], not_agreed: Collection[str] = ()
) -> tuple[Toggle, ...]:
    """Return the toggles of these names; without one, all but those that only amplify.

    Raises:
        BadUsage: if there is none of a name, or the user has not agreed to it.
    """
    for name in names:
        if name in not_agreed:
            raise BadUsage(
                f"`{name}` is this project's own switch, and you haven't agreed to it yet",
                hint="`whet settings` shows its variables, `whet settings --agree` lets whet use it",
            )
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(f'`{each}`' for each in near)}? " if near else ""
            raise BadUsage(
                f"there is no toggle `{name}`", hint=f"{hint}`whet toggle --list` shows all"
            )
    selection = tuple(known[name] for name in dict.fromkeys(names))
    return selection or tuple(each for each in known.values() if not each.amplifies)
