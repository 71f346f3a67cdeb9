"""Reads tensors and computes statistics of their elements. In host memory it does so at once. On a device it queues
work after the program's, and reads the result when it has arrived. Nothing waits for a device.
"""
import contextlib
import ctypes
import functools
import os
import platform
import threading
import time

from sonde import metadata
from sonde._torch.guard import Guard, past_overrides
from sonde._torch import device_reduction

PENDING = 256  # device tensors with pending results; further ones are counted as lost


def load_library():
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_tensors.so"))
    library.sonde_tensors_find.restype = ctypes.c_char_p
    layout = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    library.sonde_tensors_describe.argtypes = layout
    library.sonde_tensors_has_nan.argtypes = layout
    library.sonde_tensors_save.argtypes = [ctypes.c_int, *layout]
    library.sonde_tensors_save.restype = ctypes.c_int64
    library.sonde_tensors_take.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.sonde_tensors_record.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
                                             ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    library.sonde_tensors_now.restype = ctypes.c_uint64
    missing = library.sonde_tensors_find()
    if missing is not None:
        raise RuntimeError(missing.decode())
    return library


class Unsupported(Exception):
    """Raised for a tensor that cannot be read; its text is the reason."""


class SideFile:
    """The file to which this process appends whole tensors; created for the first one."""

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit
        self.process = self.file = self.identity = None
        self.name = b""

    def descriptor(self):
        if self.process != os.getpid():  # a forked child has its own
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            name = f"{platform.node()}-{os.getpid()}-{time.monotonic_ns()}.npys"
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self.file = os.open(os.path.join(self.folder, name), flags, 0o600)
            self.process, self.identity = os.getpid(), self._found()
            self.name = os.path.join(os.path.basename(self.folder), name).encode(errors="surrogateescape")
        if self._found() != self.identity:
            raise OSError("the program has closed its descriptor")
        return self.file

    def _found(self):
        found = os.fstat(self.file)
        return found.st_dev, found.st_ino

    def has_room(self, size):
        return os.fstat(self.descriptor()).st_size + size <= self.limit


class Captures:
    """Whether any thread captures a CUDA graph, which a query to CUDA may break."""

    def __init__(self, torch):
        self.count = 0
        self.here = torch.cuda.is_current_stream_capturing
        graph = getattr(torch.cuda, "CUDAGraph", None)
        if graph is not None and hasattr(graph, "capture_begin"):
            graph.capture_begin, graph.capture_end = self._counted(graph.capture_begin, graph.capture_end)

    def _counted(self, begin, end):
        @functools.wraps(begin)
        def begins(*args, **kwargs):
            self.count += 1
            try:
                return begin(*args, **kwargs)
            except BaseException:
                self.count -= 1
                raise

        @functools.wraps(end)
        def ends(*args, **kwargs):
            try:
                return end(*args, **kwargs)
            finally:
                self.count -= 1

        return begins, ends

    def are_on(self):
        return self.count > 0 or self.here()


class Memory:
    """A tensor's elements in the form that the library expects. Holds a reference to the tensor."""

    def __init__(self, tensor, code):
        self.tensor = tensor
        self.code = code
        shape = tensor.shape
        if tensor.is_contiguous():
            sizes, strides = (tensor.numel(),), (1,)
        else:
            sizes, strides = shape, tensor.stride()
        self.layout = self._layout(tensor, sizes, strides)
        self.whole = self._layout(tensor, shape, tensor.stride())

    def _layout(self, tensor, sizes, strides):
        array = ctypes.c_int64 * len(sizes)
        return tensor.data_ptr(), self.code, len(sizes), array(*sizes), array(*strides)


class Label:
    """The name, role and collections of a recorded tensor; several collections may select it."""

    __slots__ = ("name", "role", "collections", "saves")

    def __init__(self, name, role, collections):
        self.name, self.role = name.encode(errors="replace"), role
        self.collections = [one.name.encode(errors="replace") for one in collections]
        self.saves = any(one.saves for one in collections)


class TensorReader:
    def __init__(self, torch, library, folder, save_limit):
        self.torch, self.native = torch, library
        self.guard = Guard("tensors")
        self.past_overrides = past_overrides(torch)
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.codes = {torch.bool: 0, torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5,
                      torch.float16: 6, torch.bfloat16: 7, torch.float32: 8, torch.float64: 9}
        self.names = {dtype: str(dtype).partition(".")[2].encode() for dtype in self.codes}
        self.side = SideFile(folder, save_limit)
        self.saving = bool(folder)
        self.pending = []      # (device_reduction.Reduction, Label, when), oldest first
        self.pinned = device_reduction.Pinned(torch)
        self.captures = Captures(torch)
        self.no_dispatch = getattr(torch._C, "_DisableTorchDispatch", contextlib.nullcontext)
        self.collecting = threading.Lock()
        self.told = set()      # reasons already reported
        self.lock = threading.Lock()

    def read(self, tensor, label):
        """Records any tensor of the program."""
        try:
            self._read(tensor, label)
        except Unsupported as why:
            self.lose(label.name.decode(errors="replace"), str(why))

    def _read(self, tensor, label):
        with self.past_overrides():
            self._check(tensor)
            if tensor.device.type == "cpu":
                self._describe(tensor, label, 0)
            elif tensor.device.type == "cuda":
                self._reduce(tensor, label)
            else:
                raise Unsupported(f"it is on a device of the type {tensor.device.type}")

    def lose(self, name, why):
        """Counts a requested tensor that cannot be recorded, and notes the reason once."""
        self.native.sonde_tensors_lost(1)
        if why not in self.told:
            self.told.add(why)
            metadata("sonde.tensor.unsupported", f"{name}: {why}")

    def _check(self, tensor):
        if type(tensor) not in self.plain:
            raise Unsupported(f"it is a {type(tensor).__name__}, not a plain tensor")
        if tensor.layout is not self.torch.strided:
            raise Unsupported(f"its layout is {tensor.layout}")
        if tensor.dtype not in self.codes:
            raise Unsupported(f"its type is {tensor.dtype}")
        if tensor.is_neg() or self._is_wrapped(tensor):
            raise Unsupported("its elements are not in memory")

    def _is_wrapped(self, tensor):
        """Whether a plain Tensor wraps another one and has no memory, as inside functorch and functionalisation."""
        wrapped = getattr(self.torch._C, "_functorch", None)
        is_functorch = getattr(wrapped, "is_functorch_wrapped_tensor", None)
        is_functional = getattr(self.torch, "_is_functional_tensor", None)
        return bool((is_functorch and is_functorch(tensor)) or (is_functional and is_functional(tensor)))

    # -- in the host's memory --------------------------------------------------------------------------------------

    def _describe(self, tensor, label, when):
        memory = self._memory(tensor)
        if not self.native.sonde_tensors_describe(*memory.layout):
            raise Unsupported("there was no memory for it")
        place = self._save(memory, label) if label.saves and self.saving else (None, 0)
        self._record(label, tensor.dtype, tensor.shape, place, when)

    def _memory(self, tensor):
        try:
            memory = Memory(tensor, self.codes[tensor.dtype])
        except RuntimeError as error:  # a tensor without memory of its own
            raise Unsupported(str(error).partition("\n")[0]) from None
        if not memory.layout[0] and tensor.numel():
            raise Unsupported("its elements are not in memory")
        return memory

    def _record(self, label, dtype, shape, place, when):
        shape = str(list(shape)).encode()
        for collection in label.collections:
            self.native.sonde_tensors_record(label.name, collection, label.role, self.names[dtype], shape, *place, when)

    def _save(self, memory, label):
        """(file, offset)"""
        try:
            with self.lock:
                file = self.side.descriptor()
                if not self.side.has_room(memory.tensor.numel() * memory.tensor.element_size()):
                    raise OSError(f"{self.side.limit >> 20} MiB are full: see save-limit-mib")
                offset = self.native.sonde_tensors_save(file, *memory.whole)
                if offset < 0:
                    raise OSError(-offset, os.strerror(-offset))
                return self.side.name, offset
        except OSError as error:
            self.saving = False
            self.native.sonde_tensors_lost(1)
            metadata("sonde.tensor.saved", f"no more tensors are saved from {label.name.decode()} on: {error}")
            return None, 0

    # -- on a device -----------------------------------------------------------------------------------------------

    def _reduce(self, tensor, label):
        if self.captures.are_on():
            return
        if len(self.pending) >= PENDING:
            raise Unsupported("too many tensors of a device were in progress")
        if not tensor.is_contiguous() and tensor.numel() > device_reduction.COPIED:
            raise Unsupported("it is large, on a device, and not contiguous")
        size = tensor.numel() * tensor.element_size()
        saves = label.saves and self.saving and self.pinned.has_room(size)
        if label.saves and self.saving and not saves:
            self.lose(label.name.decode(errors="replace"), "too many device tensors were waiting to be saved: only its statistics were recorded")
        try:
            with self.torch.cuda.device(tensor.device), self.torch.no_grad(), self.no_dispatch():
                reduction = device_reduction.Reduction(self.torch, tensor)
                reduction.send(self.pinned, tensor if saves else None)
        except getattr(self.torch.cuda, "OutOfMemoryError", MemoryError):
            raise Unsupported("the device had no memory left for its statistics") from None
        self.pending.append((reduction, label, self.native.sonde_tensors_now()))

    def collect(self):
        """Records the results that have arrived. Not during the capture of a CUDA graph, which the query would
        break."""
        if not self.pending or self.captures.are_on() or not self.collecting.acquire(blocking=False):
            return
        try:
            with self.past_overrides():
                while self.pending and self.pending[0][0].has_arrived():
                    self.take(*self.pending.pop(0))
        finally:
            self.collecting.release()

    def take(self, reduction, label, when):
        values, counts = reduction.values, reduction.counts
        self.native.sonde_tensors_take(values.data_ptr(), counts.data_ptr(), reduction.first, counts.numel() // 2)
        place = self._save(self._memory(reduction.copy), label) if reduction.copy is not None else (None, 0)
        self._record(label, reduction.dtype, reduction.shape, place, when)
        reduction.release(self.pinned)

    def finish(self):
        """Called when the program ends; outstanding results are lost."""
        self.collect()
        if self.pending:
            self.native.sonde_tensors_lost(len(self.pending))

    # -- for hooks/first_nan.py ------------------------------------------------------------------------------------

    def has_nan(self, tensor):
        """Whether a plain tensor in host memory has a NaN."""
        self._check(tensor)
        if tensor.device.type != "cpu":
            raise Unsupported("it is on a device")
        return bool(self.native.sonde_tensors_has_nan(*self._memory(tensor).layout))
