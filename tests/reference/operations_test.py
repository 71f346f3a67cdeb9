"""`sonde import` of the published operation-level traces of StragglerAnalysis, beside what Python reads."""
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
JOBS = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "straggler"

KINDS = {"forward-compute": "forward", "backward-compute": "backward", "gc": "operation", "optimizer": "optimizer",
         "optimizer-clip-main-grad": "optimizer"}


def nanoseconds(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))


class OperationsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not JOBS.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def imported(self, job, *options):
        folder = tempfile.TemporaryDirectory(prefix="sonde-operations-")
        self.addCleanup(folder.cleanup)
        output = pathlib.Path(folder.name, "job.sonde")
        done = subprocess.run([SONDE, "import", *options, "-o", output, JOBS / f"timeline-{job}.json.gz"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), job)
        trace = sqlite3.connect(output)
        self.addCleanup(trace.close)
        events = json.loads(gzip.open(JOBS / f"timeline-{job}.json.gz").read(), parse_float=decimal.Decimal)
        return trace, [event for event in events if event["ph"] == "X"]

    def test_every_operation_is_there_to_the_nanosecond(self):
        for job, count in (("ST", 6784), ("AR", 117216)):
            trace, events = self.imported(job)
            self.assertEqual(len(events), count)
            expected = collections.Counter(
                (event["name"], KINDS.get(event["name"], "collective"), event["pid"], event["tid"],
                 nanoseconds(event["ts"]), nanoseconds(event["dur"]),
                 *(event["args"][key] for key in ("step", "model_chunk", "mb_id", "seq_id"))) for event in events)
            self.assertEqual(collections.Counter(trace.execute(
                "SELECT text, kind, pid, tid, slice.start_ns, dur_ns, arg.value ->> 'step',"
                " arg.value ->> 'model_chunk', arg.value ->> 'mb_id', arg.value ->> 'seq_id' FROM slice"
                " JOIN string ON string.id = name_id JOIN thread ON thread.id = thread_id"
                " JOIN process ON process.id = process_id JOIN arg ON owner = 'slice' AND owner_id = slice.id")), expected)
            self.assertEqual(trace.execute("SELECT count(*) FROM loss").fetchone(), (0,))
            self.assertEqual(trace.execute("SELECT count(*) FROM slice WHERE kind = 'collective' AND depth > 0").fetchone(), (0,))

    def test_workers_and_steps(self):
        for job, options, data_parallel, tensor_parallel, steps in (
                ("ST", (), 2, 1, 32), ("AR", (), 4, 4, 44), ("AR", ("--layout", "dp=4,pp=4,tp=4"), 4, 4, 44)):
            trace, events = self.imported(job, *options)
            workers = trace.execute(
                "SELECT process.id, rank, world_size, a.value, b.value FROM process"
                " JOIN arg a ON a.owner = 'process' AND a.owner_id = process.id AND a.key_id ="
                " (SELECT id FROM string WHERE text = 'sonde.data_parallel')"
                " JOIN arg b ON b.owner = 'process' AND b.owner_id = process.id AND b.key_id ="
                " (SELECT id FROM string WHERE text = 'sonde.stage')").fetchall()
            size = 4 * data_parallel * tensor_parallel
            self.assertEqual({(rank, world, dp, stage) for _, rank, world, dp, stage in workers},
                             {(tensor_parallel * (data_parallel * stage + dp), size, dp, stage)
                              for dp in range(data_parallel) for stage in range(4)})
            self.assertEqual(len(workers), 4 * data_parallel)
            process_of = {rank: process for process, rank, *_ in workers}
            spans = collections.defaultdict(list)
            for event in events:
                start = nanoseconds(event["ts"])
                spans[process_of[event["tid"] // 5], event["args"]["step"]].append((start, start + nanoseconds(event["dur"])))
            self.assertEqual(len(spans), 4 * data_parallel * steps)
            self.assertEqual(dict(((process, number), (start, duration)) for process, number, start, duration in
                                  trace.execute("SELECT process_id, number, start_ns, dur_ns FROM iteration")),
                             {key: (min(begins), max(ends) - min(begins))
                              for key, value in spans.items() for begins, ends in [zip(*value)]})


if __name__ == "__main__":
    unittest.main()
