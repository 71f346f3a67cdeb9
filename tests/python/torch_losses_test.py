"""The losses that the PyTorch hooks record."""
import textwrap
import unittest

import recorded
from hooked import LOOP, Hooks, run
from training_programs import MODEL

# A simulated device for the reader of losses: tensors that claim to be on it, a queue that it processes on request, and no call
# that waits for it. Such a call would be an error of the hook, and noted.
DEVICE = MODEL + """
import types
from sonde._torch import losses
queue, pinned = [], []
class OnDevice(torch.Tensor):
    device = property(lambda self: torch.device("cuda", 0))
    def item(self):
        raise AssertionError("waits for the device")
    cpu = numpy = tolist = __float__ = __bool__ = item
class Pinned(torch.Tensor):
    def copy_(self, source, non_blocking=False):
        assert non_blocking, "waits for the device"
        queue.append((self, source.clone()))
class Event:
    done = False
    def record(self):
        queue.append((self, None))
    def query(self):
        assert not Cuda.capturing, "breaks the capture of a graph"
        return self.done
class Cuda:
    capturing = False
    Event = Event
    device = staticmethod(lambda device: torch.no_grad())
    is_current_stream_capturing = staticmethod(lambda: Cuda.capturing)
def empty(count, dtype, pin_memory):
    assert pin_memory
    pinned.append(torch.zeros(count, dtype=dtype).as_subclass(Pinned))
    return pinned[-1]
def work():
    while queue:
        what, source = queue.pop(0)
        if source is None:
            what.done = True
            return
        torch.Tensor.copy_(what, source)
def read(value):
    losses.READER.read((torch.tensor(float(value)).as_subclass(OnDevice),))
losses.READER.torch = types.SimpleNamespace(**{**vars(torch), "cuda": Cuda, "empty": empty})
losses.READER.plain += (OnDevice,)
"""


class Losses(Hooks):
    def test_losses_are_the_printed_ones(self):
        trace = recorded.run(LOOP)
        printed = [float(line) for line in trace.stdout.split()]
        self.assertEqual(printed, [float(one[3]) for one in trace.scalars])
        self.assertEqual({"loss"}, {one[2] for one in trace.scalars})
        for loss, iteration in zip(trace.scalars, trace.of("iteration")):
            self.assertTrue(iteration.begin < loss[0] < iteration.end)

    def test_losses_of_every_precision(self):
        trace = run("""
            for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
                loss = (torch.full((2,), 1 / 3, dtype=kind, requires_grad=True) * 3.3).sum()
                loss.backward()
                print(repr(loss.item()))
            x = torch.ones(2, requires_grad=True)
            (x * 2).backward(torch.ones(2))                      # no single value
            torch.autograd.backward([(x * 3).sum(), (x * 4).sum()])
            print("6.0")
            scaled = (loss := (x * 5).sum()) * 1024
            from sonde._torch import losses
            losses.READER.scaled(scaled, loss)                     # as GradScaler.scale tells
            scaled.backward()
            print("10.0")
        """)
        self.assertEqual([float(line) for line in trace.stdout.split()], [float(one[3]) for one in trace.scalars])

    def on_device(self, program):
        trace = recorded.run(DEVICE + textwrap.dedent(program))
        self.check_nesting(trace)
        return trace, [float(one[3]) for one in trace.scalars]

    def test_losses_on_a_device_are_read_when_they_have_arrived(self):
        trace, values = self.on_device("""
            for value in range(3):
                read(value)          # none has arrived
            work()
            read(3)                  # records the first
            work()
            work()
            read(4)                  # and the next two
            work()
            work()                   # the end of the program records the last two
            assert len(pinned) == 3, pinned
        """)
        self.assertEqual([0, 1, 2, 3, 4], values)
        self.assertEqual(["1", "2", "3", "4", "5"], [one[4] for one in trace.scalars], "not of their own time")

    def test_losses_that_a_device_never_computes_are_given_up(self):
        self.assertEqual([0], self.on_device("""
            for value in range(100):
                read(value)
            assert len(pinned) == losses.PENDING, pinned
            work()
        """)[1])

    def test_nothing_is_asked_of_a_device_while_a_graph_is_captured(self):
        self.assertEqual([0], self.on_device("""
            read(0)
            work()
            Cuda.capturing = True
            read(1)
            assert len(pinned) == 1 and not queue
            Cuda.capturing = False
        """)[1])


if __name__ == "__main__":
    unittest.main()
