"""DataLoader: a slice for each batch that the consuming process asks for, and one for the start of an iterator, which
is where worker processes are made. The number of samples is the first dimension of the batch's first tensor."""
import functools
from collections.abc import Mapping, Sequence

from sonde._torch.guard import DATA_LOAD, NOTHING, enabled, scope
from sonde._torch.training import TRAINING


def samples_in(torch, batch, depth=4):
    if type(batch) is torch.Tensor:
        with torch._C.DisableTorchFunction():
            return batch.shape[0] if batch.dim() > 0 else 0
    if depth == 0 or not batch:
        return 0
    if isinstance(batch, Mapping):
        return samples_in(torch, next(iter(batch.values())), depth - 1)
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        return samples_in(torch, batch[0], depth - 1)
    return 0


def remaining(iterator):
    """Batches that this iterator still has, or None when that cannot be known."""
    loader = iterator._index_sampler
    if not hasattr(loader, "__len__") or getattr(iterator, "_IterableDataset_len_called", None) is not None:
        return None
    return len(loader) - iterator._num_yielded


def is_used_up(iterator):
    from torch.utils.data.dataloader import _DatasetKind
    try:
        return iterator._dataset_kind == _DatasetKind.Map and remaining(iterator) == 0
    except (TypeError, NotImplementedError):  # a sampler without a length
        return False


def install(torch, guard):
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter
    following, starting = _BaseDataLoaderIter.__next__, DataLoader.__iter__

    def asked(iterator):
        if not is_used_up(iterator):
            TRAINING.event(False)
        return scope(DATA_LOAD, "data_load")

    def arrived(iterator, batch):
        TRAINING.loaded(samples_in(torch, batch), is_used_up(iterator))

    @functools.wraps(following)
    def followed(self):
        if not guard.on or not enabled():
            return following(self)
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
