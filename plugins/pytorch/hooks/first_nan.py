"""The first operator that makes a NaN out of numbers, by `first-nan = true` in the file of --tensors.

Every operator of the thread that imports torch, and of backward, is followed by a look at what it gives. On a device the
looks are collected there and read when they have arrived. This costs a multiple of what the operators do.
"""
import sys

from sonde import mark, metadata
from sonde._torch.guard import Guard
from sonde._torch.tensor_reader import Unsupported
from sonde._torch.training import TRAINING

# Their results are memory that nobody has written yet.
UNWRITTEN = ("empty", "new_empty", "resize_", "set_")
PENDING = 128  # looks at a device's results that are read together


def tensors_in(torch, value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(torch, one)


def program_line():
    """file:line of the program, past torch and Sonde."""
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
        self.pending = []  # (flags of result and inputs, what ran), of a device
        self.sent = []     # (event, flags in pinned memory, what ran)

    def is_wanted(self, function):
        return not self.found and not function.__name__.startswith(UNWRITTEN)

    def look(self, function, args, result):
        floats = [one for one in tensors_in(self.torch, result) if one.is_floating_point()]
        if not floats:
            return
        if floats[0].device.type != "cpu":
            self._look_later(function, args, floats)
        elif any(self._has(one) for one in floats):
            # What is written to may have been memory that nobody had written.
            if not any(self._has(one) for one in self._inputs(function, args)):
                self.say(self._description(function, args))

    def _has(self, tensor):
        try:
            return self.reader.has_nan(tensor)
        except Unsupported:
            return False

    def _inputs(self, function, args):
        arguments = function._schema.arguments
        for at, value in enumerate(args):
            written = at < len(arguments) and arguments[at].alias_info is not None and arguments[at].alias_info.is_write
            if not (written and function.__name__.startswith(("copy_", "fill_", "zero_", "normal_", "uniform_"))):
                yield from (one for one in tensors_in(self.torch, value) if one.is_floating_point())

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

    def _look_later(self, function, args, floats):
        torch = self.torch
        if torch.cuda.is_current_stream_capturing():
            return
        nan = [torch.isnan(one).any() for one in floats]
        before = [torch.isnan(one).any() for one in self._inputs(function, args)] or [torch.zeros_like(nan[0])]
        self.pending.append((torch.stack([torch.stack(nan).any(), torch.stack(before).any()]),
                             self._description(function, args)))
        if len(self.pending) >= PENDING:
            self.send()
        self.collect()

    def send(self):
        if not self.pending:
            return
        flags = self.torch.stack([flags for flags, _ in self.pending])
        here = self.torch.empty(flags.shape, dtype=flags.dtype, pin_memory=True)
        here.copy_(flags, non_blocking=True)
        event = self.torch.cuda.Event()
        event.record()
        self.sent.append((event, here, [description for _, description in self.pending]))
        self.pending = []

    def collect(self):
        while self.sent and self.sent[0][0].query():
            _, flags, descriptions = self.sent.pop(0)
            self.take(flags.tolist(), descriptions)

    def take(self, flags, descriptions):
        for (nan, before), description in zip(flags, descriptions):
            if nan and not before:
                self.say(description)
                return


def install(torch, reader):
    from torch.utils._python_dispatch import TorchDispatchMode
    search = Search(torch, reader)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if search.is_wanted(function):
                search.guard.run(search.look, function, args, result)
            return result

    Mode().__enter__()  # for good
