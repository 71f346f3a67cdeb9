"""The disk of the trace fills half-way: the job goes on, the trace keeps what it has and counts the rest."""
import sqlite3
import struct
import unittest

from run_support import TARGETS, RunTest


class FullDiskTrace(RunTest):
    def record(self, size):
        """Runs the target with its trace on a tmpfs of this size; returns the result and the trace, copied out of it."""
        place = self.folder / "small"
        place.mkdir(exist_ok=True)
        counter = self.folder / "counter"
        result = self.in_namespace(
            f'mount -t tmpfs -o size={size} tmpfs {place} && "$@"; status=$?; cp {place}/* {self.folder}; exit $status',
            *self.arguments(TARGETS / "annotation_counter", counter, "1", "3", output=False,
                            options=("--max-size", "1GiB", "-o", place / "out.sonde")))
        return result, sum(struct.unpack("3Q", counter.read_bytes()[:24]))

    def test_keeps_what_was_written_and_counts_the_rest(self):
        for size in ("8m", "24m"):
            with self.subTest(size=size):
                result, counted = self.record(size)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("could not grow any more", result.stderr)
                self.assertIn("records were dropped", result.stderr)
                trace = sqlite3.connect(f"file:{self.output}?mode=ro", uri=True)
                stored = trace.execute("SELECT count(*) FROM slice WHERE kind = 'operation'").fetchone()[0]
                lost = trace.execute("SELECT sum(count) FROM loss WHERE kind = 'scope begin'").fetchone()[0]
                finished = trace.execute("SELECT count(*) FROM meta WHERE key = 'finished'").fetchone()[0]
                trace.close()
                self.assertEqual(finished, 1)
                self.assertGreater(stored, 0)
                self.assertGreaterEqual(stored + lost, counted)
                self.assertEqual(list(self.spool.glob("sonde-*/*")), [])
                self.output.unlink()


if __name__ == "__main__":
    unittest.main()
