"""What `sonde export` makes of real traces: imported again it is the same; decoded by Perfetto's schema, too."""
import collections
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

from perfetto_file import PerfettoFile, compile_schema
from trace_contents import contents

SONDE = os.environ["SONDE_BIN"]
TRACES = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "traces"

# Every slice and every piece of device work, in the form of Perfetto's own tables.
SPANS = """
    SELECT category, n.text, start_ns, start_ns + dur_ns FROM slice s JOIN string n ON n.id = s.name_id
      WHERE kind <> 'mark'
    UNION ALL SELECT 'kernel', n.text, start_ns, start_ns + dur_ns FROM kernel k JOIN string n ON n.id = k.name_id
    UNION ALL SELECT CASE kind WHEN 'set' THEN 'gpu_memset' ELSE 'gpu_memcpy' END, n.text, start_ns, start_ns + dur_ns
      FROM copy c JOIN string n ON n.id = c.name_id"""

# The begin and end of each arrow.
ARROWS = """
    SELECT s.start_ns, a.text, w.start_ns, b.text FROM (
        SELECT launch_slice_id, start_ns, name_id FROM kernel UNION ALL SELECT launch_slice_id, start_ns, name_id FROM copy)
      w JOIN slice s ON s.id = w.launch_slice_id JOIN string a ON a.id = s.name_id JOIN string b ON b.id = w.name_id
    UNION ALL SELECT s.start_ns, a.text, t.start_ns, b.text FROM link l JOIN slice s ON s.id = l.from_id
      JOIN slice t ON t.id = l.to_id JOIN string a ON a.id = s.name_id JOIN string b ON b.id = t.name_id
      WHERE l.from_owner = 'slice' AND l.to_owner = 'slice'"""


def jobs():
    """Each job's files: a folder of ranks is one, any other file, too."""
    for path in sorted(TRACES.iterdir()):
        if path.name in ("dlrm_8rank", "sampled_2rank"):
            yield path.name, sorted(path.glob("*.gz"))
    for path in sorted(TRACES.rglob("*.json.gz")):
        if path.parent.name not in ("dlrm_8rank", "sampled_2rank"):
            yield str(path.relative_to(TRACES)), [path]


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not TRACES.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sonde-export-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def sonde(self, *arguments):
        done = subprocess.run([SONDE, *arguments], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)

    def without_clocks(self, output, files):
        """Imports files as if their clocks agreed: exported times are the job's."""
        subprocess.run([SONDE, "import", "-f", "-o", output, *files], capture_output=True, check=True)
        with contextlib.closing(sqlite3.connect(output)) as trace, trace:
            trace.execute("DELETE FROM clock_map")

    def test_a_chrome_trace_imported_again_is_the_same(self):
        for name, files in jobs():
            with self.subTest(job=name):
                first, chrome, second = self.path("a.sonde"), self.path("a.json"), self.path("b.sonde")
                self.without_clocks(first, files)
                self.sonde("export", first, "--to", "chrome", "-f", "-o", chrome)
                self.without_clocks(second, [chrome])
                before, after = contents(first), contents(second)
                for table, rows in before.items():
                    lost = collections.Counter(rows) - collections.Counter(after[table])
                    made = collections.Counter(after[table]) - collections.Counter(rows)
                    self.assertEqual((list(lost)[:2], list(made)[:2]), ([], []), table)

    def test_a_chrome_trace_is_what_viewers_read(self):
        first, chrome = self.path("a.sonde"), self.path("a.json")
        self.sonde("import", "-o", first, *sorted((TRACES / "dlrm_8rank").glob("*.gz")))
        self.sonde("export", first, "--to", "chrome", "-o", chrome)
        events = json.loads(chrome.read_text())["traceEvents"]
        lines = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                lines[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
        for line in lines.values():  # no two of a line overlap without nesting
            ends = []
            for start, length in sorted(line):
                while ends and ends[-1] <= start + 0.0005:
                    ends.pop()
                self.assertTrue(not ends or start - length <= ends[-1] + 0.0005)
                ends.append(start - length)
        starts = {event["id"] for event in events if event["ph"] == "s"}
        finishes = {event["id"] for event in events if event["ph"] == "f"}
        self.assertEqual(starts, finishes)
        self.assertGreater(len(starts), 1000)

    def test_perfetto_reads_every_span_with_its_nesting_and_arrows(self):
        schema = compile_schema(self.folder.name)
        for name, files in jobs():
            with self.subTest(job=name):
                job, exported = self.path("a.sonde"), self.path("a.perfetto-trace")
                self.without_clocks(job, files)
                self.sonde("export", job, "--to", "perfetto", "-f", "-o", exported)
                read = PerfettoFile(schema, exported)
                trace = sqlite3.connect(job)
                self.addCleanup(trace.close)
                self.assertEqual(read.unfinished, [])
                path = [one for one in read.slices if read.tracks[one.track].name.startswith("critical path")]
                read.slices = [one for one in read.slices if not read.tracks[one.track].name.startswith("critical path")]
                self.assertTrue(path)
                for one in path:
                    self.assertEqual((one.depth, "node" in one.args), (0, True))
                wanted = collections.Counter(trace.execute(SPANS))
                got = collections.Counter((one.category, one.name, one.start, one.end) for one in read.slices
                                          if one.category != "cuda_sync")
                self.assertEqual((list(wanted - got)[:2], list(got - wanted)[:2]), ([], []))
                marks, syncs = (trace.execute(query).fetchone()[0] for query in (
                    "SELECT count(*) FROM slice WHERE kind = 'mark'", "SELECT count(*) FROM sync"))
                self.assertEqual(len(read.instants), marks)
                self.assertEqual(sum(one.category == "cuda_sync" for one in read.slices), syncs)
                # Nesting of the slices on the first line of a thread.
                depths = collections.Counter(trace.execute(
                    "SELECT start_ns, start_ns + dur_ns, n.text, depth FROM slice s JOIN string n ON n.id = s.name_id "
                    "WHERE lane = 0 AND kind <> 'mark'"))
                nested = collections.Counter((one.start, one.end, one.name, one.depth) for one in read.slices
                                             if read.tracks[one.track].HasField("thread"))
                self.assertEqual((list(depths - nested)[:2], list(nested - depths)[:2]), ([], []))
                # Arrows: one from each known launch, and one for each link.
                arrows = collections.Counter(trace.execute(ARROWS))
                begins, ends = {}, {}
                for one in read.slices + read.instants:
                    for flow, way in one.flows:
                        side = begins if way == "out" else ends
                        self.assertNotIn(flow, side)
                        side[flow] = one.start, one.name
                self.assertEqual(begins.keys(), ends.keys())
                drawn = collections.Counter(begins[flow] + ends[flow] for flow in begins)
                self.assertEqual((list(arrows - drawn)[:2], list(drawn - arrows)[:2]), ([], []))
                args = trace.execute("SELECT count(*) FROM arg WHERE owner <> 'process' AND json(value) <> '{}'").fetchone()[0]
                self.assertGreaterEqual(sum(bool(one.args) for one in read.slices + read.instants), args)


if __name__ == "__main__":
    unittest.main()
