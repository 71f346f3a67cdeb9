"""Rules about time and memory find real faults of a training, and are silent about its healthy twin."""
import json
import unittest

from run_support import SOURCES, RunTest
from torch_job import PYTHON, SONDE, run_ranks, sonde

PROGRAM = SOURCES / "python" / "slow_training.py"


class PerformanceRules(RunTest):
    def results(self, rule, *traces):
        file = self.folder / "sonde.toml"
        file.write_text(f'[rules]\n{rule} = "error"\n')
        checked = sonde("check", *traces, "--rules", file, "--format", "json")
        return json.loads(checked.stdout)["results"]

    def one(self, fault, rule):
        recorded = self.run_sonde(PYTHON, PROGRAM, fault, options=("-f", "--sources", "+system"))
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        return self.results(rule, self.output)

    def ranks(self, fault, rule):
        ranks = run_ranks([PYTHON, PROGRAM, fault], recorder=(SONDE, "run", "-f", "-o", f"{self.folder}/", "--"))
        for rank in ranks:
            self.assertEqual(rank.returncode, 0, rank.stderr)
        return self.results(rule, self.folder / "rank0.sonde", self.folder / "rank1.sonde")

    def expect(self, results, verdict):
        self.assertEqual({result["verdict"] for result in results}, {verdict}, results)
        return results[0]

    def test_a_data_set_that_sleeps(self):
        result = self.expect(self.one("loader", "data-loader"), "fired")
        # Whether workers help depends on what else the machine does now.
        busy = result["evidence"]["processors_busy"] >= 0.9 * result["evidence"]["processors"]
        self.assertIn("no processor is free" if busy else "num_workers", result["hint"])
        self.expect(self.one("healthy", "data-loader"), "pass")

    def test_a_leak(self):
        self.expect(self.one("leak", "memory-leak"), "fired")
        self.expect(self.one("healthy", "memory-leak"), "pass")

    def test_iterations_that_become_slower(self):
        result = self.expect(self.one("slower", "iteration-time-change"), "fired")
        self.assertRegex(result["message"], r"\b(59|60|61)\b")
        self.expect(self.one("healthy", "iteration-time-change"), "pass")

    def test_iterations_that_take_much_longer(self):
        self.expect(self.one("outliers", "step-outlier"), "fired")

    def test_gradients_that_are_reduced_one_by_one(self):
        self.expect(self.ranks("buckets", "small-messages"), "fired")
        self.expect(self.ranks("healthy", "small-messages"), "pass")

    def test_a_rank_that_comes_late(self):
        fired = [result for result in self.ranks("late", "late-rank") if result["verdict"] == "fired"]
        self.assertEqual([result["entity"] for result in fired], ["rank 1"])
        self.expect(self.ranks("healthy", "late-rank"), "pass")


if __name__ == "__main__":
    unittest.main()
