"""`sonde run --calibrate`: takes hooks out of PyTorch in the iterations in which the probe `torch` is off, so that these
cost what the program costs without Sonde, and puts them back.

The library silences the probe by itself, and every hook returns early then; here are those that cost something all the
same. Taking one out is only done where the place still holds what was put there: a tool that came later keeps its own, and
what it wraps returns early. The hooks that find where iterations end stay: step() and the batches of a DataLoader.
Between two iterations all hooks are in, but for a program that marks its iterations itself and has nothing between them
that Sonde knows of.
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
