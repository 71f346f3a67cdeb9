"""`sonde whatif` on the published jobs of StragglerAnalysis; `--no-stragglers` beside their slow-downs."""
import contextlib
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


class JobTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not JOBS.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def predicted(self, trace, *question):
        done = subprocess.run([SONDE, "whatif", trace, *question, "--format", "json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), question)
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def imported(self, job):
        with tempfile.TemporaryDirectory(prefix="sonde-whatif-") as folder:
            trace = pathlib.Path(folder, "job.sonde")
            subprocess.run([SONDE, "import", "-o", trace, JOBS / f"timeline-{job}.json.gz"], check=True, capture_output=True)
            yield trace


class NoStragglersTest(JobTest):
    def compare(self, job):
        truth = json.loads((JOBS / f"result-{job}.json").read_text())
        with self.imported(job) as trace:
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


class PipelineTest(JobTest):
    """The schedule that a job has must give the iterations that it has."""

    def test_the_own_schedule(self):
        for job, microbatches in {"ST": 4, "AR": 32}.items():
            with self.imported(job) as trace:
                own = self.predicted(trace, "--ask", f"pipeline,schedule=1f1b,microbatches={microbatches}")
                self.assertAlmostEqual(own["speedup"], 1, delta=0.0001, msg=job)
                self.assertIn("instead of '1f1b'", own["notes"][0])

    def test_other_schedules_are_plausible(self):
        with self.imported("ST") as trace:
            more = self.predicted(trace, "--ask", "pipeline,microbatches=8")
            self.assertTrue(1.1 < more["speedup"] < 1.75, more["speedup"])  # 1.75: no bubble at all
            stages = self.predicted(trace, "--ask", "degrees,pipeline=2")
            self.assertTrue(0.6 < stages["speedup"] < 1, stages["speedup"])  # half the ranks, a smaller bubble
            self.assertLess(more["predicted_ns"], self.predicted(trace, "--ask", "pipeline,schedule=gpipe")["predicted_ns"])


if __name__ == "__main__":
    unittest.main()
