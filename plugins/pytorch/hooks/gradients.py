"""DistributedDataParallel: records the sizes of the gradients that it reduces, and the limits of its buckets. With these
`sonde whatif --bucket-size` knows which buckets it would make.
"""
import functools

from sonde import _sonde

KEY = "sonde.ddp"   # first limit, other limits, then the bytes of each gradient in the order in which they are expected
MOST = 16_000       # characters that a record holds


def install(torch, guard):
    if not torch.distributed.is_available():
        return
    parallel = torch.nn.parallel.DistributedDataParallel
    init = parallel.__init__

    def tell(model):
        sizes = [each.numel() * each.element_size() for each in model.module.parameters() if each.requires_grad]
        first = getattr(torch.distributed, "_DEFAULT_FIRST_BUCKET_BYTES", 0)
        limit = getattr(model, "bucket_bytes_cap", 0)
        text = " ".join(map(str, [first, limit, *reversed(sizes)]))
        if len(text) <= MOST:
            _sonde.metadata(KEY, text)

    @functools.wraps(init)
    def made(self, *args, **kwargs):
        init(self, *args, **kwargs)
        guard.run(tell, self)

    parallel.__init__ = made
