"""`sonde graph` names the rank that makes a real data-parallel job slow, and why: here a data set that sleeps."""
import json
import pathlib
import tempfile
import unittest

from torch_job import PYTHON, ROOT, SONDE, run_ranks, sonde

JOB = ROOT / "bench" / "ddp_job.py"
SECONDS = 0.02  # for each of 16 images of a step


class StragglersTest(unittest.TestCase):
    def graph(self, *options):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            ranks = run_ranks([PYTHON, JOB, "--steps", "30", "--sleep", f"1:{SECONDS}", *options],
                              recorder=(SONDE, "run", "-o", f"{folder}/", "--"))
            for rank in ranks:
                self.assertEqual(rank.returncode, 0, rank.stderr)
            found = sonde("graph", folder / "rank0.sonde", folder / "rank1.sonde", "--critical-path", "--format", "json")
        self.assertEqual(found.returncode, 0, found.stderr)
        return json.loads(found.stdout)

    def check(self, graph, least_ns):
        first = graph["stragglers"][0]
        self.assertEqual((first["rank"], first["cause"], first["operation"]), (1, "loader", "data_load"))
        self.assertGreater(first["ns"], least_ns)
        self.assertEqual(sum(part["ns"] for part in graph["critical_path"]), graph["path_ns"])
        loading = sum(part["share"] for part in graph["critical_path"]
                      if part["cause"] == "loader" and part["entity"].startswith("rank 1"))
        self.assertGreater(loading, 0.3)

    def test_a_data_set_that_sleeps(self):
        self.check(self.graph(), 8 * SECONDS * 1e9)

    def test_a_data_set_that_sleeps_in_worker_processes(self):
        self.check(self.graph("--workers", "2"), 2 * SECONDS * 1e9)


if __name__ == "__main__":
    unittest.main()
