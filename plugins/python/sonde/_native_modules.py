"""The categories of native code by module, for the probe `python`.

A name stands for a module and all modules below it; the longest matching name decides. `sonde run --module-category
NAME=CATEGORY` adds or changes an entry. A module without an entry is `python`, and not recorded, if it comes with
Python; otherwise it is `other`.
"""
PYTHON, FRAMEWORK, SIMULATOR, OTHER = 1, 2, 3, 4
WORDS = {"python": PYTHON, "framework": FRAMEWORK, "simulator": SIMULATOR, "other": OTHER}

FRAMEWORKS = (
    "torch", "torchvision", "torchaudio", "torchtext", "torch_scatter", "torch_sparse", "torch_xla", "functorch",
    "tensorflow", "jaxlib", "mxnet", "paddle", "cupy", "cupy_backends", "mindspore", "oneflow", "triton", "xformers",
    "flash_attn", "flash_attn_2_cuda", "apex", "amp_C", "transformer_engine", "transformer_engine_torch", "vllm",
    "onnxruntime", "tensorrt", "nvidia.dali", "horovod",
)
# Gym and Gymnasium are Python code on top of the others; only their compiled parts count.
SIMULATORS = (
    "gym", "gymnasium", "ale_py", "mujoco", "mujoco_py", "pybullet", "Box2D", "_Box2D", "envpool", "retro",
    "stable_retro", "vizdoom", "nle", "habitat_sim", "isaacgym", "sapien", "madrona", "gpudrive", "pyspiel", "dartpy",
    "raisimpy", "deepmind_lab", "libsumo", "_libsumo",
)
OWN = ("sonde", "_sonde")


def table(additions=""):
    """Maps names to categories. `additions`: NAME=CATEGORY, separated by commas, as in `sonde run`. Skips other text,
    which the recorder has already refused."""
    categories = {}
    categories.update((name, FRAMEWORK) for name in FRAMEWORKS)
    categories.update((name, SIMULATOR) for name in SIMULATORS)
    categories.update((name, PYTHON) for name in OWN)
    for item in additions.split(","):
        name, _, word = item.partition("=")
        if name and word in WORDS:
            categories[name] = WORDS[word]
    return categories


def category(name, categories):
    """The category of the longest entry that contains module `name`, or None."""
    while name:
        if name in categories:
            return categories[name]
        name = name.rpartition(".")[0]
    return None
