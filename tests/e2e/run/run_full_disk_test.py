"""A disk that fills, a limit that is reached: the job goes on, the trace keeps what it has, the summary says so."""
import contextlib
import resource
import subprocess
import sys
import unittest

from run_support import SONDE, TARGETS, RunTest


# Opens and closes this many operations.
ANNOTATES = """
import sys, time, sonde
count = int(sys.argv[1])
for number in range(count):
    if number % 50_000 == 0:
        time.sleep(0.15)  # a drain comes by
    with sonde.operation("step"):
        pass
print("did", count)
"""


# Does so in two halves, the second after the unfinished trace says that it reached --max-size.
ANNOTATES_PAST_THE_LIMIT = """
import contextlib, sqlite3, sys, time, sonde
count, part = int(sys.argv[1]), sys.argv[2]
for _ in range(count // 2):
    with sonde.operation("early"):
        pass
reached = False
while not reached:
    time.sleep(0.05)
    with contextlib.closing(sqlite3.connect(f"file:{part}?mode=ro", uri=True)) as trace:
        with contextlib.suppress(sqlite3.Error):  # it may not have its tables yet
            reached = trace.execute("SELECT count(*) FROM note WHERE text LIKE '%--max-size%'").fetchone()[0]
for _ in range(count // 2):
    with sonde.operation("late"):
        pass
print("did", count)
"""


class FullDisk(RunTest):
    def setUp(self):
        super().setUp()
        (self.folder / "past_the_limit.py").write_text(ANNOTATES_PAST_THE_LIMIT)
        (self.folder / "annotates.py").write_text(ANNOTATES)

    def annotates(self, count):
        return (sys.executable, self.folder / "annotates.py", count)

    def stored(self, path):
        """Operations that are in the trace, and how many of them have an end."""
        return self.rows("SELECT count(*), count(dur_ns) FROM slice WHERE kind = 'operation'", path)[0]

    def size_of_trace(self):
        """Bytes of the trace and of all that is beside it, finished or not."""
        size = 0
        for file in self.folder.glob(f"{self.output.name}*"):
            with contextlib.suppress(FileNotFoundError):  # it has got its name
                size += file.stat().st_size
        return size

    def in_a_small_tmpfs(self, size, *command, at):
        """Runs the command with a tmpfs of this size at a folder, in a mount namespace of its own."""
        return self.in_namespace(f'mount -t tmpfs -o size={size} tmpfs {at} && exec "$@"', *command)

    def test_a_spool_too_small_for_anything(self):
        for size in ("64k", "1m", "2m"):
            result = self.in_a_small_tmpfs(
                size, *self.arguments("sh", "-c", "python3 -c pass; echo done; exit 3", options=("-f",)),
                at=self.spool)
            self.assertEqual((result.returncode, result.stdout), (3, "done\n"), (size, result.stderr))

    def test_an_output_disk_without_room(self):
        """The trace cannot be begun: the job is not started, and no place for the spool is blamed."""
        place = self.folder / "small"
        place.mkdir()
        for size in ("4k", "48k", "400k"):
            result = self.in_namespace(
                f'mount -t tmpfs -o size={size} tmpfs {place} && "$@"; status=$?; ls {place}; exit $status',
                *self.arguments("sh", "-c", "echo ran", options=("-o", place / "t.sonde"), output=False))
            self.assertEqual((result.returncode, result.stdout), (125, ""), (size, result.stderr))
            self.assertRegex(result.stderr, fr"^sonde run: {place}/t.sonde.part has no room \(.*\): "
                                            r"free some space, or give another place with -o\n$")
            self.assert_nothing_left()

    def test_a_spool_limit_is_counted_exactly(self):
        count = 400_000
        result = self.run_sonde(*self.annotates(count), options=("--spool-limit", "2MiB", "--sources", "annotation"))
        self.assertEqual((result.returncode, result.stdout), (0, f"did {count}\n"), result.stderr)
        lost = dict(self.rows("SELECT kind, count FROM loss WHERE reason = 'spool full'"))
        begun, _ = self.stored(self.output)
        self.assertIn("records were dropped", result.stderr)
        self.assertGreater(sum(lost.values()), 0, "the limit was not reached")
        self.assertEqual(begun + lost["scope begin"], count, lost)

    def test_processes_without_a_spool_file_are_counted(self):
        """A limit below one process's first piece: nothing is recorded, and the trace says how much is not."""
        result = self.run_sonde("sh", "-c", "/bin/true; echo done", options=("--spool-limit", "4096"))
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
        self.assertIn("2 processes are not in the trace", result.stderr)
        self.assertEqual(self.rows("SELECT probe, kind, reason, count FROM loss"),
                         [("process", "image", "spool full", 2)])

    def test_an_output_disk_that_fills_while_recording(self):
        place = self.folder / "small"
        place.mkdir()
        count = 400_000
        result = self.in_namespace(
            f'mount -t tmpfs -o size=4m tmpfs {place} && "$@"; status=$?; cp {place}/* {self.folder}; exit $status',
            # The default of --max-size, a tenth of that disk, would end the recording first on a slow machine.
            *self.arguments(*self.annotates(count), options=("-o", place / "t.sonde", "--max-size", "1GiB"),
                            output=False))
        self.assertEqual((result.returncode, result.stdout), (0, f"did {count}\n"), result.stderr)
        traces = list(self.folder.glob("t.sonde*"))
        self.assertTrue(traces, result.stderr)
        self.assertRegex(result.stderr, "sonde run: from .* (could not grow any more|nothing could be stored)")
        self.assertNotIn("--max-size", result.stderr)

    def test_a_trace_that_is_deleted_to_make_room(self):
        """What it had is counted; what comes then, and who runs, is in the trace that is begun anew."""
        place = self.folder / "small"
        place.mkdir()
        annotates = f"{sys.executable} {self.folder}/annotates.py"
        job = (f"{annotates} 100; sleep 1; dd if=/dev/zero of={place}/filler bs=64k; {annotates} 200; sleep 1; "
               f"rm {place}/*; sleep 12; {annotates} 300")
        result = self.in_namespace(
            f'mount -t tmpfs -o size=8m tmpfs {place} && "$@"; status=$?; cp {place}/* {self.folder}; exit $status',
            *self.arguments("sh", "-c", job, options=("-o", place / "t.sonde", "--max-size", "1GiB"), output=False),
            RANK="1", WORLD_SIZE="2")
        self.assertEqual((result.returncode, result.stdout), (0, "did 100\ndid 200\ndid 300\n"), result.stderr)
        self.assertIn("the unfinished trace was removed or replaced", result.stderr)
        trace = self.folder / "t.sonde"
        self.assertEqual(self.stored(trace), (500, 500))
        lost, = self.rows("SELECT sum(count) FROM loss WHERE reason = 'part missing'", trace)
        self.assertGreaterEqual(lost[0], 100)
        self.assertEqual(self.rows("SELECT rank FROM process WHERE command LIKE 'sh -c%'", trace), [(1,)])

    def test_a_limit_on_the_trace(self):
        count = 100_000
        result = self.run_sonde(sys.executable, self.folder / "past_the_limit.py", count, f"{self.output}.part",
                                options=("--max-size", "2MiB"))
        self.assertEqual((result.returncode, result.stdout), (0, f"did {count}\n"), result.stderr)
        self.assertIn("the trace reached --max-size (2 MiB)", result.stderr)
        self.assertRegex(result.stderr, r"s run, except the last [0-9.]+ s, recorded")
        self.assertEqual(
            self.rows("SELECT count(*) FROM note JOIN process p WHERE text LIKE '%--max-size (2 MiB)%' "
                      "AND ts_ns > p.start_ns AND ts_ns < p.end_ns"), [(1,)])
        report = subprocess.run([SONDE, "report", self.output], capture_output=True, text=True).stdout
        self.assertRegex(report, r"Dropped .*\n(?: .*\n)* *\+[0-9.]+ m?s: at .* the trace reached --max-size")
        names = dict(self.rows("SELECT text, count(*) FROM slice JOIN string s ON s.id = name_id "
                               "WHERE kind = 'operation' GROUP BY text"))
        self.assertGreater(names.get("early", 0), 0)
        self.assertNotIn("late", names)

    def test_what_is_on_its_way_stays_within_the_limit(self):
        """The recorder is stopped until all has been annotated: far more than fits is in the spool when it looks."""
        limit, slack, count, threads = 4 << 20, 1 << 20, 200_000, 3
        burst = f"kill -STOP $PPID; {TARGETS}/annotation_burst {count} {threads} 1; kill -CONT $PPID"
        recorder = self.start_sonde("sh", "-c", burst, stdout=subprocess.PIPE,
                                    options=("--max-size", str(limit), "--sources", "annotation"))
        largest = 0
        while recorder.poll() is None:
            largest = max(largest, self.size_of_trace())
        output, said = recorder.communicate()
        self.assertEqual((recorder.returncode, output), (0, f"made {count * threads}\n"), said)
        self.assertLessEqual(largest, limit + slack)
        stored, _ = self.stored(self.output)
        lost = dict(self.rows("SELECT kind, sum(count) FROM loss WHERE reason = 'max size' GROUP BY kind"))
        self.assertGreater(stored, 0)
        self.assertEqual(stored + lost["scope begin"], count * threads, lost)
        self.assertIn("the trace reached --max-size (4 MiB)", said)
        self.assertIn(f"{sum(lost.values())} records were dropped: max size {sum(lost.values())}", said)
        self.assert_nothing_left()

    def limited_to(self, size):
        """Runs a job that writes no large file below a limit on file sizes."""
        return self.run_sonde(
            "sh", "-c", "echo done; exit 3",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)))

    def test_a_limit_on_file_sizes(self):
        """SIGXFSZ is the recorder's to ignore and must not reach the job."""
        result = self.limited_to(580 << 10)
        self.assertEqual((result.returncode, result.stdout), (3, "done\n"), result.stderr)

    def test_a_limit_on_file_sizes_below_an_empty_trace(self):
        result = self.limited_to(100 << 10)
        self.assertEqual((result.returncode, result.stdout), (125, ""), result.stderr)
        self.assertRegex(result.stderr, fr"^sonde run: {self.output}.part has no room \(.*\): "
                                        r"free some space, or give another place with -o\n$")
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
