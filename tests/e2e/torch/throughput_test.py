"""Samples, tokens and floating point operations of iterations, and MFU in the report."""
import json
import subprocess
import textwrap
import unittest

from python_support import PYTHON
from run_support import SONDE, RunTest

TRAINING = textwrap.dedent("""
    import json, sys, torch
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(20, 6)), batch_size=5)
    for (batch,) in data:
        net(batch).sum().backward()
        optimizer.step()
    """)
FORWARD = 2 * 5 * 6 * 8 + 2 * 5 * 8 * 3
BACKWARD = 2 * 5 * 6 * 8 + 2 * (2 * 5 * 8 * 3)  # the first layer's input has no gradient

COUNTED = textwrap.dedent("""
    import sonde, torch
    from torch.utils.flop_counter import FlopCounterMode
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.grow = torch.nn.Conv2d(4, 4, 1)
            self.conv = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1)
            self.query = torch.nn.Linear(6, 3 * 16)
        def forward(self, x):
            x = self.conv(self.grow(x)).flatten(2).transpose(1, 2)
            q, k, v = self.query(x).view(2, -1, 3, 2, 8).permute(2, 0, 3, 1, 4)
            return torch.nn.functional.scaled_dot_product_attention(q, k, v) @ torch.ones(8, 5)
    net = Net()
    def step():
        net(torch.randn(2, 4, 10, 10, requires_grad=True)).sum().backward()
    with sonde.iteration():
        step()
    counter = FlopCounterMode(display=False)
    with counter:
        step()
    print(counter.get_total_flops())
    """)
HAS_COUNTER = subprocess.run([PYTHON, "-c", "import torch.utils.flop_counter"], capture_output=True, check=False).returncode == 0


class ThroughputTest(RunTest):
    def record(self, program, *options):
        result = self.run_sonde(PYTHON, "-c", program, options=("-f", "--sources", "annotation,torch", *options))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def report(self, *options):
        return subprocess.run([SONDE, "report", self.output, *options], capture_output=True, text=True, check=True).stdout

    def test_operators_shapes_tell_what_an_iteration_takes(self):
        self.record(TRAINING, "--torch-operators", "shapes")
        self.assertEqual(self.rows("SELECT number, samples, flops FROM iteration ORDER BY number"),
                         [(number, 5, FORWARD + BACKWARD) for number in range(4)])

    def test_without_shapes_nothing_is_known_of_it(self):
        self.record(TRAINING, "--torch-operators", "names")
        self.assertEqual(self.rows("SELECT count(*) FROM iteration WHERE flops IS NOT NULL"), [(0,)])
        self.assertIn("samples/s", self.report())
        self.assertNotIn("FLOP/s", self.report())

    def test_the_report_has_rates_and_mfu(self):
        self.record(TRAINING, "--torch-operators", "shapes")
        report = json.loads(self.report("--format", "json", "--peak-flops", "1e9"))
        (row,) = report["throughput"]
        ((recorded,),) = self.rows("SELECT sum(dur_ns) FROM iteration")
        corrected = sum(iteration["ns"] for iteration in report["iterations"])
        self.assertLess(corrected, recorded)
        for rates, ns in ((row, corrected), (row["raw"], recorded)):
            self.assertAlmostEqual(rates["samples_per_s"], 20 / (ns / 1e9), places=6)
            self.assertAlmostEqual(rates["flops_per_s"], 4 * (FORWARD + BACKWARD) / (ns / 1e9), delta=1e-3)
            self.assertAlmostEqual(rates["mfu"], rates["flops_per_s"] / 1e9, places=12)
        self.assertIsNone(row["tokens_per_s"])
        self.assertRegex(self.report("--peak-flops", "1e9"), r"Throughput rank 0: \S+ \S*samples/s, \S+ \S*FLOP/s \(MFU \S+ % of 1.00 GFLOP/s\)")
        self.assertNotIn("MFU", self.report())

    def test_what_the_program_tells_goes_before(self):
        program = TRAINING.replace("    optimizer.step()", "    optimizer.step()\n    import sonde\n"
                                                           "    sonde.iteration_info(samples=7, tokens=70, flops=700.0)")
        self.record(program, "--torch-operators", "shapes")
        self.assertEqual(self.rows("SELECT DISTINCT samples, tokens, flops FROM iteration"), [(7, 70, 700.0)])
        (row,) = json.loads(self.report("--format", "json"))["throughput"]
        self.assertAlmostEqual(row["tokens_per_s"] / row["samples_per_s"], 10)

    def test_tokens_of_a_tokenizers_batches_are_counted(self):
        for kind in ("dict", "collections.UserDict"):
            with self.subTest(kind):
                self.record(textwrap.dedent(f"""
                    import collections, torch
                    net = torch.nn.Embedding(10, 4)
                    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                    rows = [dict(labels=torch.tensor(1), input_ids=torch.arange(7)) for _ in range(6)]
                    def collate(rows):
                        return {kind}(labels=torch.stack([row["labels"] for row in rows]),
                                      input_ids=torch.stack([row["input_ids"] for row in rows]))
                    for batch in torch.utils.data.DataLoader(rows, batch_size=3, collate_fn=collate):
                        net(batch["input_ids"]).sum().backward()
                        optimizer.step()
                    """))
                self.assertEqual(self.rows("SELECT samples, tokens FROM iteration"), [(3, 21), (3, 21)])

    @unittest.skipUnless(HAS_COUNTER, "PyTorch 1.13 has no counter of its own to compare with")
    def test_equals_pytorchs_own_counter(self):
        own = int(self.record(COUNTED, "--torch-operators", "shapes"))
        ((flops,),) = self.rows("SELECT flops FROM iteration")
        self.assertGreater(own, 10_000)
        self.assertEqual(flops, own)

    def test_a_peak_that_is_none_is_refused(self):
        result = subprocess.run([SONDE, "report", "x.sonde", "--peak-flops", "0"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
