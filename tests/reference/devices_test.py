"""What `sonde report` says of the devices of real traces: by HolisticTraceAnalysis' definitions what HTA itself says, and by
our own a complete account of every step."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
DATA = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent")
TRACES, GOLDEN = DATA / "traces", DATA / "golden"

# What HTA has wrong, so that its number is none of its definition's:
# * it takes whatever has an argument "stream" for work of a device, also the operator that launched a Triton kernel
OPERATOR_AS_KERNEL = {"triton_example"}
# * a kernel whose launch was not recorded gets the first event of the file for its launch
UNLAUNCHED = {("dlrm_8rank", 1, 7), ("dlrm_8rank", 3, 7)}
# * its sort does not keep the order of events of the same microsecond: a queue that grows and falls then, and a sum of
#   bandwidths, pass through other values, by one for each such pair
TIES = {"diff_control", "dlrm_8rank", "linear", "ns_resolution", "simple_add"}

ROUNDING = 5e-10  # of the golden files, which have ten decimals


def near(actual, golden, relative=ROUNDING):
    if golden is None or actual is None:
        return golden == actual
    return abs(actual - golden) <= relative * max(1, abs(golden))


class DevicesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not TRACES.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")
        folder = tempfile.TemporaryDirectory(prefix="sonde-devices-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.imported, cls.reports = {}, {}

    @classmethod
    def trace(cls, name):
        """The name of a file or a folder of them, as one trace."""
        if name not in cls.imported:
            place = TRACES / name
            files = sorted(place.glob("*.gz")) if place.is_dir() else [TRACES / f"{name}.json.gz"]
            output = cls.folder / (name.replace("/", "-") + ".sonde")
            subprocess.run([SONDE, "import", "-o", output, *files], capture_output=True, check=True)
            cls.imported[name] = output
        return cls.imported[name]

    @classmethod
    def report(cls, name, *options):
        if (name, options) not in cls.reports:
            done = subprocess.run([SONDE, "report", "--format", "json", *options, cls.trace(name)], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            cls.reports[name, options] = json.loads(done.stdout)
        return cls.reports[name, options]

    def golden(self):
        files = sorted(GOLDEN.glob("*.json"))
        self.assertGreaterEqual(len(files), 11)
        return [(file.stem, json.loads(file.read_text()), self.report(file.stem, "--compat", "hta")) for file in files]

    def test_the_steps_and_ranks_are_those_that_hta_looks_at(self):
        for _, golden, report in self.golden():
            self.assertEqual([rank["rank"] for rank in report["ranks"]], golden["ranks"])
            if golden["profiler_steps"]:
                self.assertEqual(report["hta"]["steps"], golden["profiler_steps"])

    def test_temporal_breakdown(self):
        for name, golden, report in self.golden():
            for row, expected in zip(report["ranks"], golden["temporal"], strict=True):
                if name in OPERATOR_AS_KERNEL:
                    self.assertEqual((row["window_ns"], row["compute_ns"], row["idle_ns"]), (1000, 1000, 0))
                    self.assertEqual(expected["kernel_time(us)"], 94)
                    continue
                self.assertEqual(row["window_ns"], 1000 * expected["kernel_time(us)"])
                self.assertEqual(row["idle_ns"], 1000 * expected["idle_time(us)"])
                self.assertEqual(row["compute_ns"], 1000 * expected["compute_time(us)"])
                self.assertEqual(row["non_compute_ns"], 1000 * expected["non_compute_time(us)"])
            for row, expected in zip(report["hta"]["temporal"], golden["temporal"], strict=True):
                if name not in OPERATOR_AS_KERNEL:
                    for part in ("idle", "compute", "non_compute"):
                        self.assertAlmostEqual(100 * row[f"{part}_share"], expected[f"{part}_time_pctg"], delta=0.00501)

    def test_overlap(self):
        for _, golden, report in self.golden():
            for row, expected in zip(report["ranks"], golden["overlap"], strict=True):
                if expected["comp_comm_overlap_pctg"] is None:
                    self.assertIsNone(row["comm_overlap"])
                else:
                    self.assertAlmostEqual(100 * row["comm_overlap"], expected["comp_comm_overlap_pctg"], delta=0.00501)

    def test_kernel_types(self):
        for name, golden, report in self.golden():
            rows = {row["kernel_type"]: row for row in report["hta"]["kernel_types"]}
            if name in OPERATOR_AS_KERNEL:
                self.assertEqual({name: row["ns"] for name, row in rows.items()}, {"COMPUTATION": 1000})
                continue
            self.assertEqual({name: row["ns"] for name, row in rows.items()},
                             {row["kernel_type"]: 1000 * row["sum"] for row in golden["kernel_types"]})
            for expected in golden["kernel_types"]:
                self.assertAlmostEqual(100 * rows[expected["kernel_type"]]["share"], expected["percentage"], delta=0.0501)

    def test_kernels(self):
        for name, golden, report in self.golden():
            if name in OPERATOR_AS_KERNEL:
                continue
            rows = {(row["rank"], row["kernel_type"], row["name"]): row for row in report["hta"]["kernels"]}
            self.assertEqual(len(rows), len(golden["kernels"]))
            for expected in golden["kernels"]:
                row = rows[expected["rank"], expected["kernel_type"], expected["name"]]
                self.assertEqual((row["ns"], row["max_ns"], row["min_ns"]),
                                 tuple(1000 * expected[f"{part} (us)"] for part in ("sum", "max", "min")))
                self.assertTrue(near(row["mean_us"], expected["mean (us)"]), (row, expected))
                self.assertTrue(near(row["stddev_us"], expected["stddev"]), (row, expected))

    def test_idle_time_by_cause(self):
        for name, golden, report in self.golden():
            expected = {}
            for row in golden["idle"]:
                expected.setdefault((row["rank"], row["stream"]), {})[row["idle_category"]] = 1000 * row["idle_time"]
            self.assertEqual({(row["rank"], row["stream"]) for row in report["hta"]["idle"]}, set(expected))
            for row in report["hta"]["idle"]:
                causes = expected[row["rank"], row["stream"]]
                ours = {cause: row[f"{cause}_ns"] for cause in ("host_wait", "kernel_wait", "other")}
                if (name, row["rank"], row["stream"]) in UNLAUNCHED:
                    self.assertEqual(sum(ours.values()), sum(causes.values()))
                    self.assertLess(ours["host_wait"], causes["host_wait"])
                    self.assertAlmostEqual(ours["host_wait"], causes["host_wait"], delta=100_000)
                    continue
                self.assertEqual(ours, {cause: causes.get(cause, 0) for cause in ours})

    def describe(self, name, row, expected, prefix, place):
        """Where events of one microsecond have an order in HTA that is none, its numbers are between those of the two orders."""
        ties = name in TIES and (place, name) != ("Memset", "ns_resolution")
        for ours, theirs in (("min", "min"), ("max", "max"), ("p25", "25%"), ("p50", "50%")):
            self.assertTrue(near(row[ours], expected[prefix + theirs]), (place, theirs, row, expected))
        if not ties:
            for ours, theirs in (("count", "count"), ("mean", "mean"), ("std", "std"), ("p75", "75%")):
                self.assertTrue(near(row[ours], expected[prefix + theirs]), (place, theirs, row, expected))
            return
        self.assertTrue(near(row["count"], expected[prefix + "count"], 0.003), (place, row, expected))
        self.assertTrue(near(row["p75"], expected[prefix + "75%"], 0.001), (place, row, expected))
        self.assertTrue(near(row["mean"], expected[prefix + "mean"], 0.03), (place, row, expected))
        self.assertTrue(near(row["std"], expected[prefix + "std"], 0.03), (place, row, expected))

    def test_queue_length(self):
        for name, golden, report in self.golden():
            rows = {(row["rank"], row["stream"]): row for row in report["hta"]["queues"]}
            self.assertEqual(set(rows), {(row["rank"], row["stream"]) for row in golden["queue"]})
            for expected in golden["queue"]:
                place = expected["rank"], expected["stream"]
                self.assertEqual(rows[place]["count"], expected["queue_length_count"])
                self.describe(name, rows[place], expected, "queue_length_", place)

    def test_memory_bandwidth(self):
        for name, golden, report in self.golden():
            rows = {(row["rank"], row["name"]): row for row in report["hta"]["memory_bandwidth"]}
            self.assertEqual(set(rows), {(row["rank"], row["name"]) for row in golden["membw"] or []})
            for expected in golden["membw"] or []:
                place = expected["rank"], expected["name"]
                exact = name if (name, expected["name"]) == ("ns_resolution", "Memcpy DtoD") else ""
                self.describe(exact, rows[place], expected, "memory_bw_gbps_", place)

    def test_launches(self):
        for _, golden, report in self.golden():
            for row in report["hta"]["launches"]:
                expected = golden["launch"][str(row["rank"])]
                ours = {"n": row["count"], "runtime>50": row["runtime_above_50us"], "short(gpu<cpu)": row["short"],
                        "delay>100": row["delay_above_100us"], "sum_cpu": row["cpu_ns"] / 1000, "sum_gpu": row["gpu_ns"] / 1000,
                        "sum_delay": row["delay_ns"] / 1000}
                self.assertEqual(ours, expected)

    def test_stragglers(self):
        for _, golden, report in self.golden():
            self.assertEqual(report["hta"]["stragglers"], golden.get("stragglers", []))


if __name__ == "__main__":
    unittest.main()
