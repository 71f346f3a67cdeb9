"""Records the tensor on which backward() is called as the scalar `loss`, with exactly the value of `loss.item()`.

On the CPU it reads the element from memory, because profilers and dispatch modes of the program would see item(). On a
GPU it queues a copy to pinned memory, and reads that at a later loss or at the end of the program, so nothing waits for
the device. The record has the time of the backward. A loss that GradScaler has scaled is recorded unscaled.
"""
import atexit
import functools
import weakref

from sonde import _sonde
from sonde._torch.guard import Guard, past_overrides

PENDING = 8  # copies in flight; more are not read


class Reader:
    def __init__(self, torch):
        self.torch = torch
        self.guard = Guard("losses")
        self.past_overrides = past_overrides(torch)
        self.modes = getattr(torch._C, "_len_torch_function_stack", lambda: 1)  # number of active modes
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.kinds = {torch.float32: "f", torch.float64: "d", torch.float16: "e", torch.bfloat16: "b"}
        functorch = getattr(torch._C, "_functorch", None)
        self.wrapped = [tell for tell in (getattr(functorch, "is_functorch_wrapped_tensor", None),
                                          getattr(torch, "_is_functional_tensor", None)) if tell]
        self.free = {}        # dtype -> pinned tensors that hold no copy
        self.pending = []     # (event, pinned tensor, when its backward was), oldest first
        self.unscaled = None  # weak references: GradScaler's result and its argument

    def read(self, tensors):
        """Reads the tensors on which backward() is called. Handles the usual case directly: a plain tensor in host
        memory, without a class or mode of the program."""
        if not self.guard.on:
            return
        try:
            if (type(tensors) is tuple and tensors and type(tensors[0]) is self.plain[0] and not self.modes()
                    and not self.pending and self.unscaled is None and tensors[0].is_cpu):
                self._record(tensors[0])
            else:
                self._read_past_overrides(tensors)
        except Exception as error:
            self.guard.fail(error)

    def _read_past_overrides(self, tensors):
        with self.past_overrides():
            self.collect()
            if type(tensors) is not tuple or not tensors:
                return
            tensor = tensors[0]
            if self.unscaled is not None and self.unscaled[0]() is tensor:
                tensor = self.unscaled[1]()
            self._look_at(tensor)

    def _look_at(self, tensor):
        if type(tensor) not in self.plain:
            return
        if tensor.device.type == "cpu":
            self._record(tensor)
        elif tensor.device.type == "cuda" and tensor.dtype in self.kinds and tensor.numel() == 1:
            self._copy(tensor)

    def _record(self, tensor, *when):
        """Records a tensor in host memory, if it has one element."""
        kind = self.kinds.get(tensor.dtype)
        if kind is None or tensor.numel() != 1 or tensor.is_neg():
            return
        for is_wrapped in self.wrapped:  # inside functorch and functionalisation a plain Tensor stands for another one
            if is_wrapped(tensor):
                return
        try:
            address = tensor.data_ptr()
        except RuntimeError:  # a tensor without memory of its own, or a sparse one
            return
        if address:
            _sonde.torch_element("loss", address, kind, *when)

    def _copy(self, tensor):
        cuda = self.torch.cuda
        if cuda.is_current_stream_capturing() or len(self.pending) >= PENDING:
            return
        free = self.free.setdefault(tensor.dtype, [])
        pinned = free.pop() if free else self.torch.empty(1, dtype=tensor.dtype, pin_memory=True)
        with cuda.device(tensor.device):
            with self.torch.no_grad():
                pinned.copy_(tensor.detach().reshape(1), non_blocking=True)
            event = cuda.Event()
            event.record()
        self.pending.append((event, pinned, _sonde.torch_now()))

    def collect(self):
        """Records the copies that have arrived. Not during the capture of a CUDA graph, which the query would break."""
        if not self.pending or self.torch.cuda.is_current_stream_capturing():
            return
        while self.pending and self.pending[0][0].query():
            _, pinned, when = self.pending.pop(0)
            self._record(pinned, when)
            self.free[pinned.dtype].append(pinned)

    def scaled(self, result, given):
        self.unscaled = (weakref.ref(result), weakref.ref(given)) if result is not given else None


READER = None  # the one of this process


def install(torch):
    global READER
    reader = READER = Reader(torch)
    amp = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    scale = amp.scale

    @functools.wraps(scale)
    def scaled(self, outputs):
        result = scale(self, outputs)
        if issubclass(type(outputs), torch.Tensor) and issubclass(type(result), torch.Tensor):
            reader.guard.run(reader.scaled, result, outputs)
        return result

    amp.scale = scaled
    atexit.register(lambda: reader.guard.run(reader.collect))
    return reader
