"""Finds the first operator that turns numbers into a NaN, with `first-nan = true` in the file of --tensors.

It checks the result of each operator of backward and of the thread that imports torch. On a device it collects the
checks there and reads them when they arrive. This takes several times as long as the operators.
"""
import atexit
import sys
import threading
import time

from sonde import mark, metadata
from sonde._torch.guard import Guard
from sonde._torch.tensor_reader import Unsupported
from sonde._torch.training import TRAINING

# Their results are uninitialised memory.
UNWRITTEN = ("empty", "new_empty", "resize_", "set_")
# The memory that they overwrite may have been uninitialised.
OVERWRITING = ("copy_", "fill_", "zero_", "normal_", "uniform_")
PENDING = 128   # number of checks on a device whose results are read together
PATIENCE = 1.0  # seconds to wait for a device's pending results when the program ends


def tensors_in(torch, value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(torch, one)


def program_line():
    """file:line of the innermost frame outside torch and Sonde."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not any(part in name for part in ("/torch/", "/sonde/", "<frozen")):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Search:
    def __init__(self, torch, reader):
        self.torch, self.reader = torch, reader
        self.guard = Guard("first_nan")
        self.found = False
        self.pending = {}  # device -> [(flags of result and inputs, what ran)]
        self.sent = []     # (event, flags in pinned memory, what ran)
        self.collecting = threading.Lock()

    def is_wanted(self, function):
        return not self.found and not function.__name__.startswith(UNWRITTEN)

    def look(self, function, args, kwargs, result):
        if any(isinstance(one, float) and one != one for one in (*args, *kwargs.values())):
            return  # the program's own NaN
        results = self._floats(result)
        devices = {one.device.type for one in results}
        if "cpu" in devices and any(self._has(one) for one in results):
            # A NaN that an input already had is not reported. Results on a device are checked separately.
            if not any(self._has(one) or one.device.type != "cpu" for one in self._inputs(function, args, kwargs)):
                self.say(self._description(function, args))
        if "cuda" in devices:
            self._look_later(function, args, kwargs, [one for one in results if one.device.type == "cuda"])

    def _floats(self, value):
        return [one for one in tensors_in(self.torch, value)
                if type(one) in self.reader.plain and one.is_floating_point() and one.layout is self.torch.strided]

    def _has(self, tensor):
        try:
            return self.reader.has_nan(tensor)
        except Unsupported:
            return False

    def _inputs(self, function, args, kwargs):
        arguments = function._schema.arguments
        overwrites = function.__name__.startswith(OVERWRITING)
        found = []
        for at, value in enumerate(args):
            written = at < len(arguments) and arguments[at].alias_info is not None and arguments[at].alias_info.is_write
            if not (written and overwrites):
                found += self._floats(value)
        for name, value in kwargs.items():
            if name != "out":
                found += self._floats(value)
        return found

    def _description(self, function, args):
        shapes = [tuple(one.shape) for value in args for one in tensors_in(self.torch, value)]
        name = str(function)
        return (name if name.startswith("aten") else function.__name__, shapes, TRAINING.current(), program_line())

    def say(self, description):
        if self.found:
            return
        self.found = True
        name, shapes, iteration, line = description
        text = f"{name} of {shapes} in iteration {iteration}" + (f", called at {line}" if line else "")
        metadata("sonde.tensor.first_nan", text)
        mark(f"first NaN: {name}")

    # -- on a device -----------------------------------------------------------------------------------------------

    def _look_later(self, function, args, kwargs, results):
        torch = self.torch
        if self.reader.captures.are_on():
            return
        device = results[0].device
        inputs = self._inputs(function, args, kwargs)
        if any(one.device.type == "cpu" and self._has(one) for one in inputs):
            return
        nan = [torch.isnan(one).any() for one in results if one.device == device]
        before = [torch.isnan(one).any() for one in inputs if one.device == device] or [torch.zeros_like(nan[0])]
        pending = self.pending.setdefault(device, [])
        pending.append((torch.stack([torch.stack(nan).any(), torch.stack(before).any()]), self._description(function, args)))
        if len(pending) >= PENDING:
            self.send(device)
        self.collect()

    def send(self, device):
        pending = self.pending.pop(device)
        with self.torch.cuda.device(device):
            flags = self.torch.stack([flags for flags, _ in pending])
            here = self.reader.pinned.filled(flags)
            event = self.torch.cuda.Event()
            event.record()
        self.sent.append((event, here, [description for _, description in pending]))

    def collect(self):
        if not self.collecting.acquire(blocking=False):
            return
        try:
            while self.sent and self.sent[0][0].query():
                _, flags, descriptions = self.sent.pop(0)
                self.take(flags.tolist(), descriptions)
                self.reader.pinned.free(flags)
        finally:
            self.collecting.release()

    def take(self, flags, descriptions):
        for (nan, before), description in zip(flags, descriptions):
            if nan and not before:
                self.say(description)
                return

    def finish(self):
        for device in list(self.pending):
            self.send(device)
        until = time.monotonic() + PATIENCE
        while self.sent and not self.found and time.monotonic() < until:
            self.collect()
            time.sleep(0.001)


SEARCH = None
MODE = None


def install(torch, reader):
    global SEARCH, MODE
    from torch.utils._python_dispatch import TorchDispatchMode
    search = SEARCH = Search(torch, reader)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            if search.is_wanted(function):
                search.guard.run(search.look, function, args, kwargs, result)
            return result

    MODE = Mode()
    MODE.thread = threading.get_ident()
    MODE.__enter__()
    atexit.register(lambda: search.guard.run(search.finish))


def leave_when_done(torch):
    """Called between operators of the program. Leaves after the first finding, so that the program runs at full speed
    again."""
    global MODE
    from torch.utils import _python_dispatch
    current = getattr(_python_dispatch, "_get_current_dispatch_mode", None)
    if MODE is not None and current is not None and SEARCH.found and MODE.thread == threading.get_ident() and current() is MODE:
        mode, MODE = MODE, None
        mode.__exit__(None, None, None)
