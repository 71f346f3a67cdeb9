"""What torch.compile makes of a program: its graphs, how often it compiles, and why. Of PyTorch 2 and later."""
import json
import subprocess
import unittest

from python_support import PYTHON
from run_support import RunTest

PROGRAM = """
import torch
@torch.compile(backend="aot_eager", dynamic=False)
def scaled(x, y):
    return (x @ y).relu().sum()
for size in (2, 3, 4):
    for _ in range(2):
        scaled(torch.ones(size, size, requires_grad=True), torch.ones(size, size)).backward()
print("done")
"""
HAS_COMPILE = "True" in subprocess.run([PYTHON, "-c", "import torch; print(hasattr(torch, 'compile'))"], capture_output=True,
                                       text=True, check=True).stdout


class Compiled(RunTest):
    def record(self, program, *options):
        result = self.run_sonde(PYTHON, "-c", program, options=("-f", "--sources", "annotation,torch", *options))
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)

    def texts(self, key):
        return [value for (value,) in self.rows(
            "SELECT a.value FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner = 'process' AND"
            f" k.text = '{key}' ORDER BY a.rowid")]

    @unittest.skipUnless(HAS_COMPILE, "PyTorch 1.13 has no torch.compile")
    def test_each_compilation_is_told_with_its_graph_and_its_reason(self):
        self.record(PROGRAM)
        told = [json.loads(text) for text in self.texts("sonde.torch.compile")]
        self.assertEqual([one["id"] for one in told], ["0/0", "0/1", "0/2"])
        self.assertEqual({(one["function"], one["line"], one["failure"]) for one in told}, {("scaled", 3, None)})
        self.assertIsNone(told[0]["again_because"])
        self.assertIn("size mismatch at index 0. expected 2, actual 3", told[1]["again_because"])
        for one in told:
            (graph,) = self.texts("sonde.torch.graph " + one["id"])
            for operator in ("matmul", "relu", "sum"):
                self.assertIn(operator, graph)
        self.assertEqual(self.rows("SELECT count(*), count(DISTINCT name), min(dur_ns) > 0 FROM v_slice WHERE kind = 'api' AND"
                                   " name = 'torch.compile scaled (<string>:3)'"), [(3, 1, 1)])

    @unittest.skipUnless(HAS_COMPILE, "PyTorch 1.13 has no torch.compile")
    def test_calls_of_what_was_compiled_are_operators(self):
        self.record(PROGRAM, "--torch-operators", "names")
        self.assertEqual(self.rows("SELECT name, count(*) FROM v_slice WHERE kind = 'operator' AND name LIKE 'Torch-Compiled%'"
                                   " GROUP BY 1 ORDER BY 1"), [(f"Torch-Compiled Region: 0/{n}", 2) for n in range(3)])

    @unittest.skipUnless(HAS_COMPILE, "PyTorch 1.13 has no torch.compile")
    def test_large_graphs_are_whole(self):
        self.record(PROGRAM.replace("(x @ y).relu()", "x.add(y)" + ".mul(2)" * 150))
        pieces = self.texts("sonde.torch.graph 0/0")
        self.assertGreater(len(pieces), 2)
        self.assertEqual("".join(pieces).count("call_method[target=mul]"), 150)

    def test_programs_without_it_are_left_alone(self):
        self.record("import torch\nprint('done')")
        self.assertEqual(self.texts("sonde.torch.compile"), [])
        self.assertEqual(self.texts("sonde.torch.compiled"), [])  # nothing was switched off


if __name__ == "__main__":
    unittest.main()
