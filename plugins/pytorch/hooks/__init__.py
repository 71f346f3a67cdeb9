"""What Sonde records of a PyTorch program, with no change to its code. Loaded by sitecustomize after `import torch`.

Each module here wraps a few functions of torch. The rules they keep: the original is always called with the arguments
it was given, and its result or exception passes unchanged; nothing is stored on the user's objects; no random number
is drawn, nothing is printed, no device is synchronised; and an error of our own switches that hook off and is noted in
the trace (see guard.py).
"""
import importlib

from sonde import _sonde

HOOKS = ("optimizers", "modules", "backward", "loading", "checkpoints", "groups", "operators", "tensors", "compiled")


def install(torch):
    """Wraps what there is to wrap in this version of torch. Does nothing without a recording library."""
    if not _sonde.recording:
        return
    from sonde._torch.guard import Guard
    for name in HOOKS:
        guard = Guard(name)
        try:
            importlib.import_module(f"sonde._torch.{name}").install(torch, guard)
        except Exception as error:
            guard.fail(error)
