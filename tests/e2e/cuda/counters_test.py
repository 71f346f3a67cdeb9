"""Hardware counters on the simulated device: what an operation counted is what its kernels counted."""
import collections
import json
import subprocess
import unittest

from counters_support import CountersTest
from cuda_support import VARIANTS, folder_of
from run_support import SONDE, TARGETS

UTILIZATION = {"sm__warps_active.avg.pct_of_peak_sustained_active", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
               "smsp__inst_executed.sum", "sm__cycles_active.sum", "sm__warps_active.sum", "sm__cycles_elapsed.sum"}


class Sums(CountersTest):
    def test_an_operation_counts_what_its_kernels_count(self):
        for variant in VARIANTS:
            with self.subTest(cuda=variant):
                self.record("12", variant=variant)
                self.check_sums()
                operations = {name for (name,) in self.rows("SELECT DISTINCT operation FROM v_device_metric")}
                self.assertEqual(operations, {"train", "forward", "layer", "backward", "replay"},
                                 "during a capture no stretch begins")

    def test_each_metric_is_measured_in_some_iteration_of_every_operation(self):
        self.record("12", counters="roofline,utilization")
        self.check_sums()
        by_operation = collections.defaultdict(set)
        for operation, metric in self.rows("SELECT DISTINCT operation, name FROM v_device_metric"):
            by_operation[operation].add(metric)
        for operation in ("train", "forward", "layer", "backward"):
            self.assertEqual(len(by_operation[operation]), 14 + 6 - 1, operation)
        groups = self.rows("SELECT i.number, group_concat(DISTINCT m.name) FROM iteration i JOIN v_device_metric m ON "
                           "m.start_ns >= i.start_ns AND m.start_ns < i.start_ns + i.dur_ns GROUP BY i.number")
        self.assertEqual(len(groups), 12, "each iteration measures a group")
        self.assertGreater(len({metrics for _, metrics in groups}), 2, "one group after another")

    def test_percentages_are_those_of_the_kernels(self):
        self.record("12", counters="utilization", CUDASIM_COUNTERS_PER_PASS="16")
        self.check_sums()
        rows = self.rows("SELECT slice_id, device, start_ns, max(iif(name GLOB 'sm__warps*pct*', value, NULL)), "
                         "max(iif(name = 'sm__warps_active.sum', value, NULL)), "
                         "max(iif(name = 'sm__cycles_active.sum', value, NULL)) FROM v_device_metric GROUP BY 1, 2, 3")
        busy = [row for row in rows if row[5]]
        self.assertTrue(busy)
        for _, _, _, percentage, warps, cycles in busy:
            self.assertAlmostEqual(percentage, 100 * warps / cycles / 64, places=6)
        self.assertEqual({name for (name,) in self.rows("SELECT DISTINCT name FROM v_device_metric")}, UTILIZATION)

    def test_every_device_has_its_own(self):
        self.record("8", "2")
        measured = self.check_sums()
        self.assertEqual({device for _, device, _, _ in measured}, {0, 1})
        far = self.rows("SELECT DISTINCT device FROM v_device_metric WHERE operation = 'elsewhere' AND value > 0 "
                        "AND name GLOB 'dram*'")
        self.assertEqual(far, [(1,)])

    def test_devices_of_another_chip_are_measured_by_what_they_have(self):
        self.record("8", "2", CUDASIM_OTHER_CHIP="1")
        self.assertEqual(self.said(), ["sm__inst_executed_pipe_tensor.sum is not measured on device 1: this GPU does not "
                                       "have it"])
        self.check_sums()
        self.assertEqual(self.rows("SELECT DISTINCT device, name FROM v_device_metric WHERE name GLOB 'dram*read*' OR name "
                                   "GLOB '*tensor*' ORDER BY 1, 2"),
                         [(0, "dram__bytes_read.sum"), (0, "sm__inst_executed_pipe_tensor.sum"),
                          (1, "dram__bytes_op_read.sum")])

    def test_a_second_context_of_a_device_counts_with_the_first(self):
        self.record("8", "1", "0", "context")
        self.check_sums()
        aside = self.rows("SELECT count(DISTINCT slice_id), min(value) > 0 FROM v_device_metric WHERE operation = 'aside' AND "
                          "name GLOB 'sm__*'")
        self.assertEqual(aside[0][1], 1)
        self.assertGreater(aside[0][0], 1)

    def test_a_capture_is_not_broken(self):
        self.record("2")  # the second iteration captures; the program ends with 3 when that fails
        self.check_sums()
        replays = self.rows("SELECT count(*) FROM v_kernel WHERE name = 'node' AND scope = 'replay'")
        self.assertEqual(replays, [(1,)])

    def test_a_child_is_not_measured_and_disturbs_nothing(self):
        self.record("6", "1", "0", "fork")
        self.assertEqual(self.measured_iterations(), list(range(6)))
        self.check_sums()
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'in child'"), [(1,)])

    def test_operations_of_more_stretches_than_cupti_has_room_for_are_measured_whole(self):
        self.record("1", "1", "1100", counters="sm__cycles_active.sum")
        measured = {slice_id: value for slice_id, _, _, value in self.check_sums()}
        scopes = 1 + 1 + 1 + 1 + 1100  # train, forward, layer, backward, small
        self.assertGreater(2 * scopes, 2048 + 100)
        self.assertEqual(self.rows("SELECT count(DISTINCT start_ns) FROM device_metric"), [(2 * scopes - 1,)],
                         "a stretch begins with each begin and each end")
        self.assertEqual(self.lost(), 0)
        self.assertEqual(self.said(), [])
        stats = subprocess.run([SONDE, "stats", self.output, "gpu_counter_sum", "--format", "json"], check=True,
                               capture_output=True, text=True)
        means = {row["Operation"]: (row["Instances"], row["Avg"])
                 for row in json.loads(stats.stdout)["tables"]["gpu_counter_sum"]}
        train, = self.rows("SELECT slice_id FROM iteration")[0]
        self.assertEqual(means["train"], (1, measured[train]))

    def test_each_iteration_measures_all_its_stretches_for_one_group_of_metrics(self):
        self.record("2", "1", "1100", counters="sm__cycles_active.sum,smsp__inst_executed.sum",
                    CUDASIM_COUNTERS_PER_PASS="1")
        self.check_sums()
        small = self.rows("SELECT i.number, count(DISTINCT m.slice_id), min(m.name), max(m.name) FROM iteration i JOIN "
                          "v_device_metric m ON m.start_ns >= i.start_ns AND m.start_ns < i.start_ns + i.dur_ns WHERE "
                          "m.operation = 'small' GROUP BY 1")
        self.assertEqual([row[:2] for row in small], [(0, 1100), (1, 1100)])
        self.assertEqual([row[2] for row in small], [row[3] for row in small], "one group in an iteration")
        self.assertNotEqual(small[0][2], small[1][2], "another one in the next")


class Refusals(CountersTest):
    def test_without_permission_the_job_runs_and_the_trace_says_why(self):
        self.record("3", CUDASIM_RANGE_ERROR="35")
        said, = self.said()
        self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) to cuptiRangeProfilerEnable", said)
        self.assertEqual(self.rows("SELECT count(*) FROM device_metric"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM kernel WHERE dur_ns IS NULL"), [(0,)])

    def test_metrics_that_cannot_be_measured_are_named(self):
        self.record("3", counters="sm__cycles_active.sum,sm__nonsense.sum,sim__two_passes.sum")
        self.check_sums()
        self.assertEqual(sorted(self.said()), [
            "sim__two_passes.sum is not measured on device 0: it needs more than one pass",
            "sm__nonsense.sum is not measured on device 0: this GPU does not have it"])

    def test_no_metric_at_all_is_said(self):
        self.record("4", counters="sm__nonsense.sum")
        self.assertEqual(sorted(self.said()), ["not measured: none of the metrics can be measured here",
                                               "sm__nonsense.sum is not measured on device 0: this GPU does not have it"])

    def test_of_a_part_of_the_iterations_no_other_is_measured(self):
        for rule, numbers in (("every:4", [0, 4, 8]), ("iterations:3-5", [3, 4, 5])):
            with self.subTest(rule):
                self.record("12", options=("--capture", rule))
                self.assertEqual(self.measured_iterations(), numbers)
                self.check_ranges()

    def test_of_none_of_the_iterations_the_trace_says_so(self):
        self.record("4", options=("--capture", "iterations:100-"))
        self.assertEqual(self.rows("SELECT * FROM device_metric"), [])
        said, = self.said()
        self.assertIn("no iteration that is recorded in full", said)

    def test_without_iterations_the_trace_says_so(self):
        self.record("0")
        said, = self.said()
        self.assertIn("no iteration", said)

    def test_nothing_is_asked_of_a_process_without_the_option(self):
        self.truth = self.folder / "truth.json"
        result = self.run_sonde(TARGETS / "cuda_counted13", "2", options=("-f",), timeout=60, env={
            "CUDASIM_TRUTH": str(self.truth), "LD_LIBRARY_PATH": str(folder_of("13"))})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn('"counters"', self.truth.read_text())
        self.assertEqual(self.said(), [])

    def test_counters_without_the_cuda_probe_are_refused_before_the_job(self):
        result = self.run_sonde("/bin/true", options=("-f", "--counters", "roofline", "--sources=-cuda"), timeout=60)
        self.assertEqual(result.returncode, 125)
        self.assertIn("--counters needs the cuda probe", result.stderr)

    def test_a_word_that_names_nothing_is_refused_before_the_job(self):
        result = self.run_sonde("/bin/true", options=("-f", "--counters", "rooflines"), timeout=60)
        self.assertEqual(result.returncode, 125)
        self.assertIn('"rooflines" is neither a set (utilization, roofline) nor a metric', result.stderr)


if __name__ == "__main__":
    unittest.main()
