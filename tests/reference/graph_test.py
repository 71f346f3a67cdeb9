"""`sonde graph` and `sonde replay` on real traces, beside what HolisticTraceAnalysis and StragglerAnalysis say of them."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
DATA = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent")
FORWARD = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
TRACES = ("alexnet", "amd_mi250", "b200_eager", "cpu_only", "diff_control", "event_sync", "event_sync_multi_stream", "linear",
          "ns_resolution", "simple_add", "triton_example", "sampled_2rank/sampled_rank-0", "gpu_pairs/bert_small-h100",
          "gpu_pairs/bert_small-mi300", "gpu_pairs/qwen_0.5b-h100", "gpu_pairs/qwen_0.5b-mi300")


class GraphTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not DATA.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")
        cls.folder = tempfile.TemporaryDirectory(prefix="sonde-graph-")
        cls.addClassCleanup(cls.folder.cleanup)

    def imported(self, path):
        output = pathlib.Path(self.folder.name, path.name.split(".")[0] + ".sonde")
        if not output.exists():
            subprocess.run([SONDE, "import", "-o", output, path], capture_output=True, check=True)
        return output

    def trace(self, name):
        return self.imported(DATA / "traces" / f"{name}.json.gz")

    def answer(self, verb, *words):
        done = subprocess.run([SONDE, verb, *words, "--format", "json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return json.loads(done.stdout)

    def test_each_path_sums_to_its_iterations(self):
        for name in TRACES:
            graph = self.answer("graph", self.trace(name), "--critical-path")
            self.assertGreater(graph["path_ns"], 0, name)
            self.assertEqual(sum(part["ns"] for part in graph["critical_path"]), graph["path_ns"], name)

    def test_peaks_of_memory_are_the_reports(self):
        for name in ("gpu_pairs/bert_small-h100", "gpu_pairs/qwen_0.5b-mi300"):
            graph, report = (self.answer(verb, self.trace(name), *words)["memory"]
                             for verb, *words in (("graph", "--memory"), ("report",)))
            self.assertEqual(len(graph), 2, name)
            for held, used in zip(graph, report):
                for key in ("place", "allocator", "peak_bytes", "base_bytes"):
                    self.assertEqual(held[key], used[key], name)
                self.assertEqual(held["iteration"], used["peak_iteration"], name)

    def test_little_of_the_paths_is_unexplained(self):
        for name in TRACES:
            replayed = self.answer("replay", self.trace(name))
            self.assertEqual(replayed["error"], 0, name)
            self.assertLess(replayed["gap_share"], 0.1, name)

    # HTA leaves out the time of threads outside of operators, so its path is shorter than the annotation.
    def test_paths_of_annotations_are_htas(self):
        for name, operation in (("alexnet", FORWARD), ("simple_add", FORWARD), ("event_sync", "ProfilerStep#100")):
            golden = json.loads((DATA / "golden" / f"{name}.json").read_text())["critical"]
            graph = self.answer("graph", self.trace(name), "--operation", operation, "--iteration",
                                str(golden["instance"]), "--critical-path")
            causes = collections.Counter()
            inside = 0
            for part in graph["critical_path"]:
                if part["what"] != operation:
                    inside += part["ns"]
                    causes[part["cause"]] += part["ns"]
            self.assertLess(abs(inside / 1000 / golden["cp_len"] - 1), 0.011, name)
            device = 100 * (causes["device"] + causes["copy"]) / inside
            self.assertLess(abs(device - golden["summary"]["gpu_compute_bound"]), 2, name)
            self.assertLess(abs(100 * causes["host"] / inside - golden["summary"]["cpu_bound"]), 2.5, name)

    def ranks(self, job, count):
        """The files of a job, imported together, and what stderr says."""
        files = sorted((DATA / "traces" / job).iterdir())
        self.assertEqual(len(files), count)
        output = pathlib.Path(self.folder.name, f"{job}.sonde")
        done = subprocess.run([SONDE, "import", "-o", output, *files], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output, done.stderr

    def without_clocks(self, graph):
        """How many collectives lack waits, since clocks are unknown."""
        found, = [check["violations"] for check in graph["checks"] if check["check"] == "clocks"]
        return found

    def test_ranks_imported_together_wait_for_each_other(self):
        trace, complaints = self.ranks("dlrm_8rank", 8)
        self.assertEqual(complaints, "")
        graph = self.answer("graph", trace, "--critical-path")
        self.assertEqual([graph["edges"].get(kind) for kind in ("arrival", "release")], [64, 64])
        self.assertEqual(self.without_clocks(graph), 0)
        self.assertLessEqual({"rank 4", "rank 7"}, {part["entity"].split(",")[0] for part in graph["critical_path"]})

    def test_ranks_whose_times_contradict_each_other_are_imported(self):
        trace, complaints = self.ranks("sampled_2rank", 2)
        self.assertIn("contradict each other by 117.951 ms", complaints)
        graph = self.answer("graph", trace)
        self.assertNotIn("arrival", graph["edges"])
        self.assertEqual(self.without_clocks(graph), 10)

    def test_operation_level_jobs_are_replayed_as_well_as_by_their_authors(self):
        for job, most, culprits in (("ST", 0.018864, {6, 7}), ("AR", 0.006709, {0})):
            trace = self.imported(DATA / "straggler" / f"timeline-{job}.json.gz")
            self.assertLess(abs(self.answer("replay", trace)["error"]), most, job)
            graph = self.answer("graph", trace, "--critical-path")
            self.assertEqual({each["rank"] for each in graph["stragglers"]}, culprits, job)
            self.assertEqual(sum(part["ns"] for part in graph["critical_path"]), graph["path_ns"], job)
            found = [each for each in self.answer("check", trace)["results"] if each["rule"] == "straggler"]
            self.assertEqual({(each["verdict"], each["entity"]) for each in found},
                             {("fired", f"rank {rank}") for rank in culprits}, job)


if __name__ == "__main__":
    unittest.main()
