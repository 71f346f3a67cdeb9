"""What `sonde report` says of the devices of real traces: by HolisticTraceAnalysis' definitions what HTA itself says, and by
our own a complete account of every step."""
import collections
import decimal
import gzip
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
DATA = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent")
TRACES, GOLDEN = DATA / "traces", DATA / "golden"

# Errors of HTA, because of which its number differs from its own definition:
# - It takes all events with an argument "stream" for device work, even the operator that launched a Triton kernel.
OPERATOR_AS_KERNEL = {"triton_example"}
# - A kernel without a recorded launch gets the first event of the file as its launch.
UNLAUNCHED = {("dlrm_8rank", 1, 7), ("dlrm_8rank", 3, 7)}
# - Its sort does not keep the order of events of the same microsecond: a queue that grows and falls then, and a sum of
#   bandwidths, take other values in between, by one for each such pair.
TIES = {"diff_control", "dlrm_8rank", "linear", "ns_resolution", "simple_add"}

ROUNDING = 5e-10  # of the golden files, which have ten decimals


def near(actual, golden, relative=ROUNDING):
    if golden is None or actual is None:
        return golden == actual
    return abs(actual - golden) <= relative * max(1, abs(golden))


def union(spans):
    """Disjoint and ascending."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(spans, window):
    return sum(max(0, min(end, window[1]) - max(begin, window[0])) for begin, end in union(spans))


class Truth:
    """What devices did in a file, in exact nanoseconds, by Python's decimal arithmetic."""

    def __init__(self, path):
        data = json.loads(gzip.open(path).read(), parse_float=decimal.Decimal)
        base = int(data.get("baseTimeNanoseconds", 0))
        self.rank = (data.get("distributedInfo") or {}).get("rank", 0)
        self.streams = collections.defaultdict(list)  # by device and number
        self.kinds = collections.defaultdict(lambda: collections.defaultdict(list))  # by device
        self.calls, self.work = set(), []  # correlations; with the begin
        self.steps = {}
        first, last = [], []
        for event in data["traceEvents"]:
            if event["ph"] == "i":
                first.append(int(decimal.Decimal(event["ts"]) * 1000) + base)
                last.append(first[-1])
            if event["ph"] != "X":
                continue
            span = int(decimal.Decimal(event["ts"]) * 1000) + base, int(decimal.Decimal(event["ts"] + event["dur"]) * 1000) + base
            category, name = event.get("cat"), event["name"]
            if name.startswith("ProfilerStep#") and category != "gpu_user_annotation":
                self.steps[int(name.split("#")[1])] = span
            if category in ("kernel", "gpu_memcpy", "gpu_memset"):
                communicates = name.startswith("nccl") or "::multimem_all_reduce_kernel<" in name  # of b200_eager
                kind = "comm" if communicates else "compute" if category == "kernel" else "copy"
                self.kinds[int(event["args"]["device"])][kind].append(span)
                self.streams[int(event["args"]["device"]), int(event["args"]["stream"])].append(span)
                self.work.append((event["args"].get("correlation"), span[0]))
            if category in ("cuda_runtime", "cuda_driver"):
                self.calls.add(event["args"].get("correlation"))
            if category not in ("cuda_sync", "gpu_user_annotation"):
                first.append(span[0])
                last.append(span[1])
        if self.steps:
            first, last = zip(*self.steps.values())
        self.window = min(first), max(last)

    def launched(self):
        return sum(call in self.calls and self.window[0] <= begin < self.window[1] for call, begin in self.work)

    def account(self, device, window):
        kinds = self.kinds[device]
        compute, comm, copy = (length(kinds[kind], window) for kind in ("compute", "comm", "copy"))
        working = length(kinds["compute"] + kinds["comm"], window)
        busy = length(kinds["compute"] + kinds["comm"] + kinds["copy"], window)
        return {"compute_ns": compute, "comm_ns": comm, "copy_ns": copy, "exposed_comm_ns": working - compute,
                "exposed_copy_ns": busy - working, "idle_ns": window[1] - window[0] - busy}


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

    def truths(self):
        """Every trace there is, a rank at a time."""
        files = sorted(TRACES.rglob("*.json.gz"))
        self.assertGreater(len(files), 10)
        for file in files:
            name = str(file.relative_to(TRACES).with_suffix("").with_suffix(""))
            yield name, Truth(file), self.report(name)

    def check_parts(self, row, whole):
        parts = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
        self.assertEqual(sum(row[part] for part in parts), row[whole], row)
        self.assertTrue(all(row[part] >= 0 for part in parts), row)

    def test_every_step_of_every_trace_is_accounted_for(self):
        steps = 0
        for name, truth, report in self.truths():
            with self.subTest(trace=name):
                devices = sorted(truth.kinds) or ["cpu"]
                places = [(row["device"], row["number"]) for row in report["steps"]]
                known = [f"gpu {device}" if device != "cpu" else device for device in devices]
                self.assertEqual(sorted(places), sorted(itertools.product(known, truth.steps)))
                for row in report["steps"]:
                    self.check_parts(row, "ns")
                    steps += 1
                    begin, end = truth.steps[row["number"]]
                    self.assertEqual(row["ns"], end - begin)
                    if row["device"] == "cpu":
                        continue
                    expected = truth.account(int(row["device"].split()[1]), (begin, end))
                    self.assertEqual({key: row[key] for key in expected}, expected)
        self.assertGreater(steps, 25)

    def test_every_run_is_accounted_for(self):
        for name, truth, report in self.truths():
            with self.subTest(trace=name):
                (rank,) = report["ranks"]
                self.check_parts(rank, "window_ns")
                self.assertEqual(rank["window_ns"], truth.window[1] - truth.window[0])
                self.assertEqual([row["device"] for row in report["devices"]], [f"gpu {number}" for number in sorted(truth.kinds)])
                for row in report["devices"]:
                    self.check_parts(row, "window_ns")
                    expected = truth.account(int(row["device"].split()[1]), truth.window)
                    self.assertEqual({key: row[key] for key in expected}, expected)
                    sets = [each["ns"] for each in report["activity"] if each["device"] == row["device"]]
                    self.assertEqual(sum(sets), row["window_ns"])
                if len(report["devices"]) == 1:
                    self.assertEqual({key: rank[key] for key in expected}, expected)

    def test_every_idle_instant_of_a_stream_has_one_cause(self):
        causes = ("host_ns", "launching_ns", "event_ns", "busy_ns", "gap_ns", "unknown_ns", "no_more_ns")
        streams = 0
        for name, truth, report in self.truths():
            with self.subTest(trace=name):
                self.assertEqual(sorted((row["device"], row["stream"]) for row in report["stream_idle"]),
                                 sorted((f"gpu {device}", stream) for device, stream in truth.streams))
                for row in report["stream_idle"]:
                    streams += 1
                    self.assertEqual(sum(row[cause] for cause in causes), row["idle_ns"])
                    busy = length(truth.streams[int(row["device"].split()[1]), row["stream"]], truth.window)
                    self.assertEqual(row["idle_ns"], truth.window[1] - truth.window[0] - busy)
        self.assertGreater(streams, 50)

    def test_a_wait_for_an_event_is_seen_where_a_stream_was_held_by_it(self):
        rows = {row["stream"]: row for row in self.report("event_sync_multi_stream")["stream_idle"]}
        # The event had been reached 18 ms before anything was launched: no stream was held.
        self.assertEqual({row["event_ns"] for row in rows.values()}, {0})
        self.assertGreater(rows[24]["host_ns"], 18_000_000)

    def test_tables_hold_all_that_devices_did(self):
        for name, truth, report in self.truths():
            with self.subTest(trace=name):
                inside = [span for kinds in truth.kinds.values() for spans in kinds.values() for span in spans
                          if truth.window[0] <= span[0] < truth.window[1]]
                rows = report["kernels"] + report["copies"]
                self.assertEqual(sum(row["count"] for row in rows), len(inside))
                self.assertEqual(sum(row["ns"] for row in rows), sum(end - begin for begin, end in inside))
                for row in rows + report["operators"] + report["collectives"] + report["waiting_calls"]:
                    self.assertTrue(row["p50_ns"] <= row["p95_ns"] <= row["p99_ns"] <= row["max_ns"] <= row["ns"], row)
                self.assertEqual(sum(row["launched"] for row in report["launches"]), truth.launched())

    def test_waiting_and_transfer_of_the_collectives_of_eight_ranks(self):
        report = self.report("dlrm_8rank", "--full")
        calls = sorted(report["collective_calls"], key=lambda call: min(arrival["start_ns"] for arrival in call["arrivals"]))
        self.assertEqual(collections.Counter(call["op"] for call in calls), {"alltoall": 5, "allreduce": 3})
        self.assertEqual([call["last_rank"] for call in calls], [7] * 5 + [5] * 2 + [4])
        self.assertEqual([max(arrival["transfer_ns"] for arrival in call["arrivals"]) // 1000 for call in calls],
                         [10, 8, 7, 8, 86, 10, 23, 69])
        arrivals = [arrival for call in calls for arrival in call["arrivals"]]
        self.assertEqual(len(arrivals), 64)
        for call in calls:
            self.assertLessEqual(call["end_spread_ns"], 7000)
            self.assertEqual(min(arrival["wait_ns"] for arrival in call["arrivals"]), 0)
            transfers = [arrival["transfer_ns"] for arrival in call["arrivals"]]
            self.assertLessEqual(max(transfers) - min(transfers), 7000)
        for arrival in arrivals:
            self.assertEqual(arrival["wait_ns"] + arrival["transfer_ns"], arrival["ns"])
        waiting, total = (sum(arrival[key] for arrival in arrivals) for key in ("wait_ns", "ns"))
        # Published from clocks that are not aligned.
        self.assertAlmostEqual(waiting / 1e6, 46.8, delta=0.1)
        self.assertEqual(round(total / 1e6, 1), 48.5)
        self.assertAlmostEqual(waiting / total, 0.965, delta=0.0005)

    def test_memory_peaks_are_those_that_pytorch_counted(self):
        for model in ("bert_small-h100", "bert_small-mi300", "qwen_0.5b-h100", "qwen_0.5b-mi300"):
            name = f"gpu_pairs/{model}"
            events = json.loads(gzip.open(TRACES / f"{name}.json.gz").read())["traceEvents"]
            counted = max(event["args"]["Total Allocated"] for event in events
                          if event.get("name") == "[memory]" and event["args"]["Device Type"] != 0)
            report = self.report(name)
            rows = [row for row in report["memory"] if row["place"] != "host"]
            self.assertEqual([row["peak_bytes"] for row in rows], [counted], name)
            self.assertIn(counted, [level["bytes"] for level in rows[0]["series"]])
            held = sum(holder["bytes"] for holder in report["memory_holders"] if holder["place"] != "host")
            self.assertEqual(held + rows[0]["base_bytes"], counted, name)

    def test_devices_and_hosts_divide_the_window(self):
        known = 0
        for name, _, report in self.truths():
            idle = {row["device"]: row["idle_ns"] for row in report["devices"]}
            self.assertEqual({row["device"] for row in report["bound"]}, set(idle), name)
            for row in report["bound"]:
                self.assertEqual(row["busy_ns"], row["window_ns"] - idle[row["device"]], name)
                if row["bound_ns"] is None:
                    continue
                known += 1
                self.assertEqual(row["bound_ns"] + row["overlap_ns"], row["busy_ns"], name)
                self.assertEqual(row["bound_ns"] + row["overlap_ns"] + row["host_ns"] + row["useless_ns"], row["window_ns"], name)
                self.assertGreaterEqual(min(row[key] for key in ("bound_ns", "overlap_ns", "host_ns", "useless_ns")), 0, name)
        self.assertGreater(known, 10)

    def test_nobody_is_called_a_straggler_on_the_strength_of_one_step(self):
        for name in ("dlrm_8rank", "sampled_2rank"):
            report = self.report(name)
            self.assertEqual(self.report(name, "--compat", "hta")["hta"]["stragglers"], {"dlrm_8rank": [2, 7]}.get(name, [0, 1]))
            self.assertEqual((report["stragglers"]["verdict"], report["stragglers"]["ranks"]), ("none", []))
        # Some calls of the two sampled ranks were not recorded, so calls with equal ordinals do not belong together.
        self.assertIn("some calls were not recorded", report["stragglers"]["reason"])
        self.assertGreater(report["collectives"][0]["unfit"], 0)
        self.assertTrue(self.report("dlrm_8rank")["clocks"]["agree"])

    def golden(self):
        files = sorted(GOLDEN.glob("*.json"))
        self.assertGreaterEqual(len(files), 11)
        return [(file.stem, json.loads(file.read_text()), self.report(file.stem, "--compat", "hta")) for file in files]

    def test_the_steps_and_ranks_are_those_that_hta_looks_at(self):
        for _, golden, report in self.golden():
            self.assertEqual([rank["rank"] for rank in report["ranks"]], golden["ranks"])
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
                self.assertLessEqual(expected["queue_length_mean"], rows[place]["mean"] + 1e-9)  # ours grows first

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
            self.assertEqual([str(row["rank"]) for row in report["hta"]["launches"]], sorted(golden["launch"]))
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
