"""The losses that the PyTorch hooks record."""
import unittest

import recorded
from hooked import LOOP, Hooks, run


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


if __name__ == "__main__":
    unittest.main()
