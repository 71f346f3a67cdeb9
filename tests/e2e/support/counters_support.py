"""What tests of hardware counters share: a training loop on the simulated device, and what its kernels counted.

The device's truth has the counters of each kernel (tests/cudasim/core/counters.h); a kernel's scope comes from the trace.
Kernels and counters are attributed in different ways, launches and time, so that one proves the other.
"""
import collections
import json

from cuda_support import CudaTest
from run_support import TARGETS

PER_NS = {"gpu__time_duration.sum": 1, "sm__cycles_elapsed.sum": 2 * 132}


class CountersTest(CudaTest):
    def record(self, *arguments, counters="roofline", variant="13", options=(), **keywords):
        return super().record(TARGETS / f"cuda_counted{variant}", *arguments, variant=variant,
                              options=("--cuda-graphs", "node", "--counters", counters, *options), **keywords)

    def said(self):
        return [text for (text,) in
                self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'cuda counters'")]

    def lost(self):
        """Stretches that were begun, and of which the trace has nothing."""
        return self.rows("SELECT coalesce(sum(count), 0) FROM v_loss WHERE probe = 'cuda' AND kind = 'device metric' AND "
                         "reason = 'unbalanced'")[0][0]

    def expected(self):
        """(scope's slice, device, metric) -> sum over the kernels that were launched in that scope."""
        scopes = {(correlation, node): scope for correlation, node, scope in self.rows(
            "SELECT correlation_id, coalesce(graph_node_id, 0), scope_id FROM kernel")}
        sums = collections.Counter()
        for line in map(json.loads, self.truth.read_text().splitlines()):
            if line["kind"] != "kernel":
                continue
            scope = scopes[line["correlation"], line.get("graph_node", 0)]
            for metric, value in line.get("counters", {}).items():
                for name in {metric, metric.replace("bytes_", "bytes_op_")}:  # the latter on another chip
                    sums[scope, line["device"], name] += value
        return sums

    def check_sums(self, operations="*"):
        expected = self.expected()
        measured = self.rows("SELECT slice_id, device, name, sum(value) FROM v_device_metric WHERE name GLOB '*.sum' "
                             f"AND operation GLOB '{operations}' GROUP BY slice_id, device, name")
        self.assertTrue(measured)
        for scope, device, metric, value in measured:
            if metric not in PER_NS:
                self.assertEqual(value, expected[scope, device, metric], (scope, device, metric))
        self.check_times()
        return measured

    def check_times(self):
        """Time and cycles elapsed are those of a stretch's range, also where the device was idle in it."""
        for metric, per_ns in PER_NS.items():
            for device, in self.rows("SELECT DISTINCT device FROM v_device_metric"):
                ranges = (line["ns"] for line in self.happened("range", traced=False) if line["device"] == device)
                for value, in self.rows(f"SELECT value FROM v_device_metric WHERE name = '{metric}' AND device = {device} "
                                        "ORDER BY start_ns"):
                    self.assertIn(value / per_ns, ranges, "the next range of the device, or one after that")

    def check_ranges(self):
        """The device had no range but those that are in the trace, and none is lost."""
        (stored,), = self.rows("SELECT count(DISTINCT start_ns) FROM device_metric")
        self.assertEqual(len(self.happened("range", traced=False)), stored)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def measured_iterations(self):
        return [number for (number,) in self.rows(
            "SELECT DISTINCT i.number FROM iteration i JOIN device_metric m ON m.start_ns >= i.start_ns AND "
            "m.start_ns < i.start_ns + i.dur_ns ORDER BY 1")]
