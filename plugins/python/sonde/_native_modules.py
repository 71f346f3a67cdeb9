"""Whose native code a module has: the table behind the categories of the probe `python`.

A name stands for itself and all modules under it; the longest that fits decides. `sonde run --module-category
NAME=CATEGORY` adds to it and changes it. What is not in it is `python` where it comes with Python (it belongs to the
interpreter and is not recorded), else `other`.
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
    """Name → category. `additions`: as of `sonde run`, NAME=CATEGORY with commas between; what is not so is passed
    over, since the recorder has refused it."""
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
    """That of the longest entry that module `name` is, or is in; None where there is none."""
    while name:
        if name in categories:
            return categories[name]
        name = name.rpartition(".")[0]
    return None
