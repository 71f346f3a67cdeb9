"""Records a PyTorch program without changes to its code. sitecustomize loads it after `import torch`.

Each module here wraps a few functions of torch, by these rules. The wrapper always calls the original with the given
arguments, and passes its result or exception on unchanged. It stores nothing on the user's objects, draws no random
number, prints nothing and synchronises no device. An error in a hook switches that hook off, and a note in the trace
reports it (see guard.py).
"""
import importlib

from sonde import _sonde

HOOKS = ("optimizers", "modules", "backward", "loading", "checkpoints", "groups", "gradients", "operators", "tensors", "compiled")


def install(torch):
    """Wraps the functions that this version of torch has. Does nothing without a recording library."""
    if not _sonde.recording:
        return
    from sonde._torch.guard import Guard
    for name in HOOKS:
        guard = Guard(name)
        try:
            importlib.import_module(f"sonde._torch.{name}").install(torch, guard)
        except Exception as error:
            guard.fail(error)
