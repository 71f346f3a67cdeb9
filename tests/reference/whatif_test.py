"""`sonde whatif --no-stragglers` beside the published slow-downs of StragglerAnalysis."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
JOBS = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "straggler"

# Sends and receives of a direction are one type.
TYPES = {"forward-pp-comm": "name:forward-[sr]e*", "backward-pp-comm": "name:backward-[sr]e*"}


class NoStragglersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not JOBS.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def predicted(self, trace, *question):
        done = subprocess.run([SONDE, "whatif", trace, *question, "--format", "json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), question)
        return json.loads(done.stdout)

    def compare(self, job):
        truth = json.loads((JOBS / f"result-{job}.json").read_text())
        with tempfile.TemporaryDirectory(prefix="sonde-whatif-") as folder:
            trace = pathlib.Path(folder, "job.sonde")
            subprocess.run([SONDE, "import", "-o", trace, JOBS / f"timeline-{job}.json.gz"], check=True, capture_output=True)
            ideal = self.predicted(trace, "--no-stragglers")
            self.assertAlmostEqual(ideal["speedup"] / truth["blocking_slowdown"], 1, delta=0.01)
            self.assertAlmostEqual(ideal["speedup"], ideal["baseline_ns"] / ideal["predicted_ns"])
            groups = {"optype": lambda each: TYPES.get(each, f"name:{each}"),
                      "stage": lambda each: f"stream:stage {each} of*",
                      "dp_rank": lambda each: f'stream:"*of data-parallel rank {each},*"'}
            for group, selector in groups.items():
                for name, slowdown in truth[f"blocking_decompose_by_{group}"].items():
                    if name == "gc":  # takes no time in these jobs
                        continue
                    keep = selector(name).replace('"', '\\"')
                    own = self.predicted(trace, "--ask", f'no-stragglers,keep="{keep}"')
                    self.assertAlmostEqual(own["predicted_ns"] / ideal["predicted_ns"] / slowdown, 1, delta=0.01, msg=name)

    def test_the_longer_last_stage(self):
        self.compare("ST")

    def test_the_slow_worker(self):
        self.compare("AR")


if __name__ == "__main__":
    unittest.main()
