"""`sonde whatif --ask device` on models that ran on an H100 and on an MI300X. There is no goal: it keeps the figures of
docs/accuracy.md, which state how wrong each way is."""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
PAIRS = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "traces" / "gpu_pairs"
MODELS = ("bert_small", "qwen_0.5b")
DEVICES = {"h100": "H100", "mi300": "MI300X"}
OPERATORS = """SELECT CASE WHEN n.text LIKE '%mm' THEN 'matrix' WHEN n.text LIKE '%attention%' THEN 'attention' ELSE 'memory' END,
  sum(k.dur_ns) FROM kernel k JOIN slice s ON s.id = k.scope_id AND s.kind = 'operator' JOIN string n ON n.id = s.name_id
  GROUP BY 1"""

# The relative error of the sum of all kernels with operators: no change, published peaks, factors of the other model, and
# models of operators of the other model.
EXPECTED = {
    ("bert_small", "h100"): {"no change": -0.21, "peaks": -0.40, "factors": -0.29, "models": -0.13},
    ("bert_small", "mi300"): {"no change": 0.26, "peaks": 0.77, "factors": 0.56, "models": 0.12},
    ("qwen_0.5b", "h100"): {"no change": 0.07, "peaks": -0.27, "factors": 0.42, "models": 0.14},
    ("qwen_0.5b", "mi300"): {"no change": -0.06, "peaks": 0.32, "factors": -0.25, "models": -0.08},
}


class GpuPairsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not PAIRS.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def sonde(self, *words):
        done = subprocess.run([SONDE, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def kernel_times(self, trace):
        with contextlib.closing(sqlite3.connect(trace)) as connection:
            return dict(connection.execute(OPERATORS))

    def predicted(self, folder, model, device, question, *more):
        out = folder / "out.sonde"
        self.sonde("whatif", folder / f"{model}-{device}.sonde", "--ask", question, *more, "-f", "-o", out)
        return self.kernel_times(out)

    def judged(self, folder, model, before, after):
        """Errors of each way from one device to the other: all, matrix, attention, memory."""
        other = MODELS[1 - MODELS.index(model)]
        times = {(m, d): self.kernel_times(folder / f"{m}-{d}.sonde") for m in MODELS for d in DEVICES}
        products = [times[other, d]["matrix"] + times[other, d]["attention"] for d in (before, after)]
        memory = [times[other, d]["memory"] for d in (before, after)]
        present = f"from={DEVICES[before]}"
        ways = {
            "no change": times[model, before],
            "peaks": self.predicted(folder, model, before, f"device,{present},to={DEVICES[after]}"),
            "factors": self.predicted(folder, model, before, f"device,{present},bandwidth=x{memory[0] / memory[1]:.4f},"
                                      f"flops=x{products[0] / products[1]:.4f}"),
            "models": self.predicted(folder, model, before, "device,to=model", "--model", folder / f"{other}-{after}.json"),
        }
        truth = times[model, after]
        classes = ("matrix", "attention", "memory")
        return {way: [sum(found.values()) / sum(truth.values()) - 1] + [found[c] / truth[c] - 1 for c in classes]
                for way, found in ways.items()}

    def test_errors_are_those_of_the_documentation(self):
        with tempfile.TemporaryDirectory(prefix="sonde-pairs-") as name:
            folder = pathlib.Path(name)
            for model in MODELS:
                for device in DEVICES:
                    trace = folder / f"{model}-{device}.sonde"
                    self.sonde("import", "-o", trace, PAIRS / f"{model}-{device}.json.gz")
                    self.sonde("microbench", "--fit", trace, "-o", folder / f"{model}-{device}.json")
            for model in MODELS:
                for before, after in (("h100", "mi300"), ("mi300", "h100")):
                    found = self.judged(folder, model, before, after)
                    for way, errors in found.items():
                        print(f"{model} {before} -> {after}, {way}: " + ", ".join(f"{100 * each:+.0f} %" for each in errors))
                    for way, expected in EXPECTED[model, before].items():
                        self.assertAlmostEqual(found[way][0], expected, delta=0.02, msg=(model, before, way))


if __name__ == "__main__":
    unittest.main()
