"""What `sonde import` makes of real torch.profiler traces, beside what Python's decimal arithmetic makes of them."""
import collections
import decimal
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
TRACES = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "traces"

NO_SLICES = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation"}


def nanoseconds(microseconds):
    exact = decimal.Decimal(microseconds) * 1000
    assert exact == exact.to_integral_value(), f"{microseconds} µs is no whole number of nanoseconds"
    return int(exact)


class Truth:
    """A trace as Python reads it, without a double anywhere."""

    def __init__(self, path):
        data = json.loads(gzip.open(path).read(), parse_float=decimal.Decimal)
        base = int(data.get("baseTimeNanoseconds", 0))
        events = data["traceEvents"]
        self.counts = collections.Counter()
        self.slices, self.kernels = collections.Counter(), []
        self.streams = collections.defaultdict(lambda: [0, 0])
        launches = {event["args"]["correlation"] for event in events
                    if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event["args"]}
        self.joined = 0
        for event in events:
            category = event.get("cat") or ""
            if event["ph"] not in "Xi":
                continue
            self.counts[category] += 1
            start, duration = nanoseconds(event["ts"]) + base, nanoseconds(event.get("dur", 0))
            if category not in NO_SLICES:
                self.slices[category, start, duration] += 1
            elif category == "kernel":
                args = event["args"]
                stream = self.streams[int(args["device"]), int(args["stream"])]
                stream[0] += 1
                stream[1] += duration
                self.kernels.append((start, duration))
                self.joined += args.get("correlation") in launches


class ImportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not TRACES.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sonde-import-")
        self.addCleanup(self.folder.cleanup)

    def imported(self, *files, complaint=""):
        output = pathlib.Path(self.folder.name, "job.sonde")
        done = subprocess.run([SONDE, "import", "-f", "-o", output, *files], capture_output=True, text=True)
        self.assertEqual((done.returncode, complaint in done.stderr, bool(done.stderr)), (0, True, bool(complaint)), done.stderr)
        trace = sqlite3.connect(output)
        self.addCleanup(trace.close)
        return trace

    def test_every_event_is_there_to_the_nanosecond(self):
        files = sorted(TRACES.rglob("*.json.gz"))
        self.assertGreater(len(files), 20)
        for file in files:
            with self.subTest(file=file.relative_to(TRACES)):
                truth, trace = Truth(file), self.imported(file)
                slices = collections.Counter(trace.execute("SELECT category, start_ns, dur_ns FROM slice"))
                self.assertEqual(slices, truth.slices)
                for table, categories in (("copy", ("gpu_memcpy", "gpu_memset")), ("sync", ("cuda_sync",))):
                    rows = trace.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    self.assertEqual(rows, sum(truth.counts[category] for category in categories), table)
                kernels = trace.execute("SELECT start_ns, dur_ns FROM kernel").fetchall()
                self.assertEqual(sorted(kernels), sorted(truth.kernels))
                streams = {(device, stream): [count, total] for device, stream, count, total in trace.execute(
                    "SELECT d.ordinal, r.number, count(*), sum(k.dur_ns) FROM kernel k "
                    "JOIN stream r ON r.id = k.stream_id JOIN device d ON d.id = r.device_id GROUP BY 1, 2")}
                self.assertEqual(streams, truth.streams)
                joined = trace.execute("SELECT count(*) FROM kernel WHERE launch_slice_id IS NOT NULL").fetchone()[0]
                self.assertEqual(joined, truth.joined)
                elsewhere = trace.execute(
                    "SELECT count(*) FROM kernel k JOIN stream r ON r.id = k.stream_id JOIN slice s ON s.id = "
                    "k.launch_slice_id JOIN thread t ON t.id = s.thread_id WHERE t.process_id <> r.process_id").fetchone()
                self.assertEqual(elsewhere, (0,))

    def test_the_parent_is_the_innermost_slice_around_whatever_lane_that_is_on(self):
        for file in sorted((TRACES / "gpu_pairs").glob("*.gz")) + [TRACES / "b200_eager.json.gz"]:
            with self.subTest(file=file.name):
                trace = self.imported(file)
                self.assertGreater(trace.execute("SELECT max(lane) FROM slice WHERE kind <> 'range'").fetchone()[0], 0)
                for (thread,) in trace.execute("SELECT id FROM thread").fetchall():
                    open_slices = []  # by start
                    for start, end, parent_start, kind in trace.execute(
                            "SELECT s.start_ns, s.start_ns + s.dur_ns, p.start_ns, s.kind FROM slice s LEFT JOIN slice p "
                            "ON p.id = s.parent_id WHERE s.thread_id = ? ORDER BY 1, 2 DESC, s.depth", (thread,)):
                        open_slices = [each for each in open_slices if each[1] > start]
                        around = [each for each in open_slices if each[1] >= end]
                        if kind != "range":
                            self.assertEqual(parent_start, around[-1][0] if around else None, (thread, start, end))
                            open_slices.append((start, end))

    def test_no_slice_crosses_its_parent_and_a_thread_with_whole_nanoseconds_needs_one_lane(self):
        for name in ("ns_resolution", "diff_control", "b200_eager"):
            with self.subTest(name=name):
                trace = self.imported(TRACES / f"{name}.json.gz")
                crossing = trace.execute(
                    "SELECT count(*) FROM slice s JOIN slice p ON p.id = s.parent_id WHERE s.thread_id <> p.thread_id "
                    "OR s.start_ns < p.start_ns OR s.start_ns + s.dur_ns > p.start_ns + p.dur_ns").fetchone()[0]
                self.assertEqual(crossing, 0)
                if name == "ns_resolution":
                    self.assertEqual(trace.execute("SELECT max(lane) FROM slice WHERE kind <> 'range'").fetchone()[0], 0)

    def test_the_ranks_of_a_job_become_one_whose_collectives_match(self):
        for folder, ranks, complaint in (("dlrm_8rank", 8, ""), ("sampled_2rank", 2, "contradict each other")):
            with self.subTest(folder=folder):
                trace = self.imported(*sorted((TRACES / folder).glob("*.gz")), complaint=complaint)
                calls = collections.defaultdict(list)
                for rank, seq, op in trace.execute(
                        "SELECT p.rank, c.seq, c.op FROM collective c JOIN process p ON p.id = c.process_id "
                        "JOIN communicator g ON g.id = c.communicator_id ORDER BY 2, 1"):
                    calls[seq].append((rank, op))
                self.assertGreater(len(calls), 0)
                for seq, of_ranks in calls.items():
                    self.assertEqual([rank for rank, _ in of_ranks], list(range(ranks)), seq)
                    self.assertEqual(len({op for _, op in of_ranks}), 1, (seq, of_ranks))

    def test_the_verbs_work_on_it(self):
        job = pathlib.Path(self.folder.name, "job.sonde")
        self.imported(*sorted((TRACES / "dlrm_8rank").glob("*.gz"))).close()
        report = subprocess.run([SONDE, "report", "--format", "json", job], capture_output=True, text=True)
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        self.assertEqual([rank["rank"] for rank in json.loads(report.stdout)["ranks"]], list(range(8)))


if __name__ == "__main__":
    unittest.main()
