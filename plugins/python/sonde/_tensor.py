"""sonde.tensor: of the program's own tensors, what the probe `tensor` tells of those that it finds."""
import sys


def tensor(name, value, /):
    """Statistics of `value` (a tensor, or what torch makes one of: an array of NumPy, a number, a list of numbers) in the
    current iteration, with `sonde run --sources +tensor` and PyTorch. Each call is recorded."""
    if not isinstance(name, str):
        raise TypeError("sonde: a tensor's name must be a str")
    probe = sys.modules.get("sonde._torch.tensors")
    if probe is not None:
        probe.given(name, value)
