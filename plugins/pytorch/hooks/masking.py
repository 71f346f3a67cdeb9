"""`sonde run --calibrate`: removes hooks from PyTorch in iterations in which the probe `torch` is off, and restores
them. These iterations then cost as much as without Sonde.

The library silences the probe, so every hook returns early; this module removes those that still cost time. It removes
a hook only if the hook is still in its place: a later tool keeps its own wrapper, and the wrapped hook returns early.
The hooks that find the ends of iterations stay: step() and the batches of a DataLoader. Between two iterations all
hooks are in place, unless the program marks its iterations itself and Sonde knows of nothing between them.
"""
import os

from sonde import _sonde
from sonde._torch.guard import Guard

TORCH = 1 << 2  # wire::Probe::Torch


class Masking:
    def __init__(self):
        self.guard = Guard("masking")
        self.torch = False  # whether the probe is off in the iteration that is open, or was open last
        self.parts = []     # (function that removes a hook, function that restores it)
        self.follow = lambda: None
        if _sonde.calibrated() & TORCH:
            self.follow = _sonde.follow_mask  # the hooks must match the mask now
            _sonde.on_mask(lambda masked: self.guard.run(self._switch, masked))
            os.register_at_fork(after_in_child=lambda: self.guard.run(self._switch, 0))

    def add(self, take_out, put_back):
        self.parts.append((take_out, put_back))

    def _switch(self, masked):
        torch = bool(masked & TORCH)
        if torch == self.torch:
            return
        self.torch = torch
        for take_out, put_back in self.parts:
            (take_out if torch else put_back)()


MASKING = Masking()
