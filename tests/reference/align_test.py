"""`sonde align` on real traces of one machine: shifts that were added to their times are found again."""
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

SHIFTS_US = [0, 10_000, -9_500, 37, -4_211, 2_500, -123, 8_000]
TOLERANCE_NS = 10_000


class AlignTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not TRACES.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sonde-align-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sonde(self, *words):
        return subprocess.run([SONDE, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def ranks(self, shifts):
        """The imported ranks, each with its times shifted."""
        traces = []
        for rank, shift in enumerate(shifts):
            data = json.loads(gzip.open(TRACES / "dlrm_8rank" / f"rank-{rank}.json.gz").read(), parse_float=decimal.Decimal)
            for event in data["traceEvents"]:
                if "ts" in event:
                    event["ts"] = float(event["ts"]) + shift
            file = self.folder / f"rank-{rank}.json"
            file.write_text(json.dumps(data, default=float))
            traces.append(self.folder / f"rank-{rank}.sonde")
            self.sonde("import", "-o", traces[-1], file)
        return traces

    def aligned(self, *traces):
        return json.loads(self.sonde("align", "--format", "json", *traces))

    def test_shifts_are_found(self):
        found = self.aligned(*self.ranks(SHIFTS_US))
        self.assertEqual(len(found["hosts"]), 8)
        self.assertEqual(found["unconnected"], [])
        for host, shift in zip(found["hosts"], SHIFTS_US):
            self.assertEqual(host["collectives"], 8)
            self.assertEqual(host["drift_ppb"], 0)
            self.assertLessEqual(abs(host["offset_ns"] + shift * 1000), TOLERANCE_NS, host)
            self.assertLessEqual(host["residual_ns"], TOLERANCE_NS, host)

    def test_a_merge_stores_them(self):
        job = self.folder / "job.sonde"
        output = self.sonde("merge", "-o", job, *self.ranks(SHIFTS_US))
        self.assertIn("clocks: 8 hosts aligned, residual ", output)
        with sqlite3.connect(job) as trace:
            spreads = trace.execute(
                "SELECT max(end_ns) - min(end_ns) FROM (SELECT c.seq, k.end_ns FROM collective c JOIN v_kernel k ON "
                "k.id = c.kernel_id) GROUP BY seq").fetchall()
        self.assertEqual(len(spreads), 8)
        for spread, in spreads:
            self.assertLess(spread, 2 * TOLERANCE_NS)

    def test_clocks_that_agree_stay(self):
        for host in self.aligned(*self.ranks([0] * 8))["hosts"]:
            self.assertLessEqual(abs(host["offset_ns"]), TOLERANCE_NS, host)


if __name__ == "__main__":
    unittest.main()
