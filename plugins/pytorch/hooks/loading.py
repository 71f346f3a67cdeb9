"""DataLoader: records a slice for each batch that the consuming process requests, and one for the start of an iterator,
which starts the worker processes. The number of samples is the first dimension of the batch's first tensor. The number
of tokens is the number of elements of `input_ids`, if the batch is a dictionary with such a tensor.

Batches are the program's own objects. This module reads them only with methods of torch and Python, never with
overrides of the program's classes. The number of samples of other objects is unknown.
"""
import functools
import math
import weakref
from collections import UserDict

from sonde._torch.guard import DATA_LOAD, NOTHING, Guard, enabled, past_overrides, scope
from sonde._torch.masking import MASKING
from sonde._torch.training import TRAINING


class Samples:
    """Counts the samples of batches."""

    def __init__(self, torch):
        self.torch = torch
        self.shape = torch.Tensor.shape.__get__
        self.past_overrides = past_overrides(torch)

    def count(self, batch, depth=4):
        """0: unknown."""
        while depth > 0:
            if issubclass(type(batch), self.torch.Tensor):
                return self._of_tensor(batch)
            batch, depth = self._first(batch), depth - 1
        return 0

    def tokens(self, batch):
        """0: unknown."""
        batch = self._plain(batch)
        if not issubclass(type(batch), dict):
            return 0
        shape = self._shape(dict.get(batch, "input_ids"))
        return math.prod(shape) if shape else 0

    def _of_tensor(self, tensor):
        shape = self._shape(tensor)
        return shape[0] if shape else 0

    def _shape(self, tensor):
        """The shape of a tensor; None: it is not a tensor, or has no known shape."""
        if not issubclass(type(tensor), self.torch.Tensor):
            return None
        if type(tensor).__torch_dispatch__ is not self.torch.Tensor.__torch_dispatch__:
            return None  # its class may define how its shape is found
        try:
            with self.past_overrides():
                return self.shape(tensor)
        except RuntimeError:  # a nested tensor
            return None

    @staticmethod
    def _plain(batch):
        """The content of a library's dictionary, such as a tokenizer's."""
        if UserDict in type(batch).__mro__:
            return object.__getattribute__(batch, "__dict__").get("data")
        return batch

    def _first(self, batch):
        batch = self._plain(batch)
        kind = type(batch)
        for base, items in ((dict, dict.values), (list, list.__iter__), (tuple, tuple.__iter__)):
            if issubclass(kind, base):
                return next(iter(items(batch)), None)
        return None


BATCHES = weakref.WeakKeyDictionary()  # iterator -> number of its batches; None: unknown


def batches_of(iterator):
    """Called once in an epoch, because it asks a sampler of the program."""
    if iterator._num_yielded == 0 or iterator not in BATCHES:
        try:
            BATCHES[iterator] = len(iterator._index_sampler)
        except Exception:  # the program's: no length, or none yet
            BATCHES[iterator] = None
    return BATCHES[iterator]


def install(torch, guard):
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter, _DatasetKind
    following, starting = _BaseDataLoaderIter.__next__, DataLoader.__iter__
    samples, counting = Samples(torch), Guard("samples")

    def is_used_up(iterator):
        return iterator._dataset_kind == _DatasetKind.Map and batches_of(iterator) == iterator._num_yielded

    def asked(iterator):
        if not is_used_up(iterator):
            TRAINING.event(False)
        return scope(DATA_LOAD, "data_load")

    def arrived(iterator, batch):
        TRAINING.loaded(counting.run(samples.count, batch) or 0, counting.run(samples.tokens, batch) or 0,
                        is_used_up(iterator))

    def passed(iterator):
        """Called while the probe is off; it still notices the last batch."""
        TRAINING.loaded(0, 0, is_used_up(iterator))

    @functools.wraps(following)
    def followed(self):
        if not guard.on:
            return following(self)
        if not enabled():
            batch = following(self)
            if MASKING.torch:
                guard.run(passed, self)
            return batch
        with guard.run(asked, self) or NOTHING:
            batch = following(self)
        guard.run(arrived, self, batch)
        return batch

    @functools.wraps(starting)
    def started(self):
        with guard.run(scope, DATA_LOAD, "start data loader") or NOTHING:
            return starting(self)

    _BaseDataLoaderIter.__next__ = followed
    DataLoader.__iter__ = started
