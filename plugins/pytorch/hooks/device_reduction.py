"""Computes the statistics of tensors/tensor_statistics.h with torch operators on the tensor's device. The definitions
are the same, in double precision. Nothing here waits, because no size depends on a value.
"""
PIECE = 1 << 22   # elements at a time, for which a device needs some 200 MB
COPIED = 1 << 25  # elements of the copy without gaps that may be made of a tensor with gaps
MANTISSA_BITS = 4
BUCKET_SHIFT = 48
WIDE = (0, 0x7ff0)                      # buckets of finite doubles, without sign
NARROW = (874 << MANTISSA_BITS, 1151 << MANTISSA_BITS)  # the range of float32 and half, from 2^-149 up


class Reduction:
    """`values` as in tensors/tensors.cpp, and `counts` of the buckets from `first` on, with those of negative numbers
    last. They are on the device until `send`."""

    def __init__(self, torch, tensor):
        self.torch = torch
        self.dtype, self.shape = tensor.dtype, tuple(tensor.shape)
        self.first, end = WIDE if tensor.dtype is torch.float64 else NARROW
        self.size = end - self.first
        self.copy = self.event = None
        self.values, self.counts = self._reduce(tensor.detach().reshape(-1))

    def _reduce(self, flat):
        torch = self.torch
        counts = torch.zeros(2 * self.size, dtype=torch.int64, device=flat.device)
        pieces = flat.split(PIECE)
        sums = [self._sums(piece.to(torch.float64), counts) for piece in pieces]
        zeros, nans, infs, total, l1, squares = (torch.stack(column).sum() for column in list(zip(*sums))[:6])
        least = torch.stack([row[6] for row in sums]).min()
        most = torch.stack([row[7] for row in sums]).max()
        finite = flat.numel() - nans - infs
        mean = total / finite
        deviations = torch.stack([self._deviations(piece.to(torch.float64), mean) for piece in pieces]).sum()
        elements = torch.full((), float(flat.numel()), dtype=torch.float64, device=flat.device)
        return torch.stack([elements, zeros, nans, infs, least, most, mean, deviations / finite, l1, squares.sqrt()]), counts

    def _sums(self, piece, counts):
        torch = self.torch
        finite = torch.isfinite(piece)
        kept = torch.where(finite, piece, 0.0)
        is_zero = piece == 0
        self._count(piece, finite & ~is_zero, counts)
        infinity = float("inf")
        some = piece.numel() > 0
        none = torch.full((), infinity, dtype=torch.float64, device=piece.device)
        return (is_zero.sum().double(), torch.isnan(piece).sum().double(), torch.isinf(piece).sum().double(), kept.sum(),
                kept.abs().sum(), (kept * kept).sum(), torch.where(finite, piece, infinity).min() if some else none,
                torch.where(finite, piece, -infinity).max() if some else -none)

    def _count(self, piece, wanted, counts):
        torch = self.torch
        bits = piece.view(torch.int64) >> BUCKET_SHIFT
        bucket = (bits & 0x7fff) - self.first + torch.where(bits < 0, self.size, 0)
        counts.scatter_add_(0, torch.where(wanted, bucket, 0), wanted.to(torch.int64))

    def _deviations(self, piece, mean):
        return self.torch.where(self.torch.isfinite(piece), (piece - mean) ** 2, 0.0).sum()

    def send(self, pinned, tensor=None):
        """Queues a copy of the results, and of all of `tensor`, to the host, after the work that computes them."""
        self.values, self.counts = pinned.filled(self.values), pinned.filled(self.counts)
        self.copy = pinned.filled(tensor.detach()) if tensor is not None else None
        self.event = self.torch.cuda.Event()
        self.event.record()

    def has_arrived(self):
        return self.event.query()

    def release(self, pinned):
        for tensor in (self.values, self.counts, self.copy):
            if tensor is not None:
                pinned.free(tensor)


class Pinned:
    """Reused pinned memory for copies from a device, because an allocation by CUDA may wait for the device."""

    MOST_BYTES = 256 << 20

    def __init__(self, torch):
        self.torch = torch
        self.unused = {}  # (shape, dtype) -> tensors
        self.bytes = 0

    def has_room(self, size):
        return self.bytes + size <= self.MOST_BYTES

    def filled(self, there):
        known = self.unused.get((there.shape, there.dtype))
        here = known.pop() if known else self._make(there)
        here.copy_(there, non_blocking=True)
        return here

    def _make(self, there):
        self.bytes += there.numel() * there.element_size()
        return self.torch.empty(there.shape, dtype=there.dtype, device="cpu", pin_memory=True)

    def free(self, tensor):
        self.unused.setdefault((tensor.shape, tensor.dtype), []).append(tensor)
