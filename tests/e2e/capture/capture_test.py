"""`sonde run --capture`: which iterations, or which stretch, are in the trace in full."""
import subprocess
import sys
import unittest

from run_support import SONDE, RunTest

# Iterations in a phase, each with nested operations and records of other probes; some with a special one.
PROGRAM = """
import os, sonde, threading
read, write = os.pipe()
def worker(turns):
    for _ in range(turns):
        with sonde.operation("beside"):
            pass
with sonde.phase("training"):
    for i in range(30):
        with sonde.iteration():
            with sonde.operation("forward"):
                with sonde.operation("inner"):
                    os.write(write, b"12345678")
                    os.read(read, 8)
            if i % 3 == 0:
                with sonde.operation("special"):
                    sonde.mark("here")
            thread = threading.Thread(target=worker, args=(5,))
            thread.start()
            thread.join()
            sonde.scalar("loss", 1.0)
"""
IN_FULL = "SELECT number FROM iteration WHERE probe_mask <> 0 ORDER BY 1"
OUTSIDE = """SELECT count(*) FROM v_slice s WHERE s.kind IN ('operation', 'mark') AND s.category = 'annotation' AND NOT EXISTS
    (SELECT 1 FROM iteration i WHERE i.probe_mask <> 0 AND s.start_ns >= i.start_ns AND s.end_ns <= i.start_ns + i.dur_ns)"""


class Capture(RunTest):
    def record(self, rule, program=PROGRAM, **environment):
        result = self.run_sonde(sys.executable, "-c", program, env=environment,
                                options=("-f", "--sources", "annotation,net", "--capture", rule))
        self.assertEqual(result.returncode, 0, result.stderr)

    def check(self, numbers):
        """All iterations are there, these in full: with their operations, those of another thread, transfers and the phase."""
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM iteration"), [(30, 30)])
        self.assertEqual(self.rows(IN_FULL), [(number,) for number in numbers])
        self.assertEqual(self.rows(OUTSIDE), [(0,)])
        full = len(numbers)
        self.assertEqual(self.rows("SELECT name, count(*), count(dur_ns) FROM v_slice WHERE kind = 'operation' AND "
                                   "name <> 'special' GROUP BY 1 ORDER BY 1"),
                         [("beside", 5 * full, 5 * full), ("forward", full, full), ("inner", full, full)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_transfer WHERE bytes = 8 AND kind = 'pipe'"), [(2 * full,)])
        self.assertEqual(self.rows("SELECT count(*) FROM scalar"), [(30,)], "what the program says of each is kept")
        self.assertEqual(self.rows("SELECT p.name, count(*) FROM v_slice s JOIN v_slice p ON p.id = s.parent_id WHERE "
                                   "s.name = 'inner' GROUP BY 1"), [("forward", full)])
        self.assertEqual(self.rows("SELECT kind, count(*) FROM v_slice WHERE name = 'training' GROUP BY 1"), [("phase", 1)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_some_iterations(self):
        self.record("iterations:5-7")
        self.check([5, 6, 7])

    def test_one_and_the_last(self):
        self.record("iterations:0")
        self.check([0])
        self.record("iterations:28-")
        self.check([28, 29])

    def test_every_so_many(self):
        self.record("every:10")
        self.check([0, 10, 20])

    def test_numbers_are_the_programs_own(self):
        program = PROGRAM.replace("sonde.iteration()", "sonde.iteration(i + 100)")
        self.record("iterations:105-106", program)
        self.check([105, 106])

    def test_a_range_by_name(self):
        self.record("range:special")
        self.assertEqual(self.rows("SELECT name, count(*), count(dur_ns) FROM v_slice WHERE category = 'annotation' AND "
                                   "kind IN ('operation', 'mark') GROUP BY 1 ORDER BY 1"),
                         [("here", 10, 10), ("special", 10, 10)])
        self.assertEqual(self.rows("SELECT count(*) FROM iteration"), [(30,)])

    def test_what_was_left_out_is_no_loss_and_said(self):
        self.record("every:10")
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'capture'"), [("every:10",)])
        text = subprocess.run([SONDE, "report", self.output], capture_output=True, text=True, check=True).stdout
        self.assertIn("every:10", text)

    def test_a_rule_that_makes_no_sense_is_refused_before_the_job_begins(self):
        for rule in ("iterations:7-5", "iterations:a-b", "iterations:", "every:0", "every:", "range:", "sometimes", ""):
            result = self.run_sonde("touch", self.folder / "ran", options=("-f", "--capture", rule))
            self.assertEqual(result.returncode, 125, rule)
            self.assertIn(f"--capture {rule}: write ", result.stderr)
        self.assertFalse((self.folder / "ran").exists())


class Size(RunTest):
    def assert_stays_within(self, mebibytes, at_least):
        """Every iteration has a row; those in full are whole, fewer towards the limit."""
        program = ("import sonde\n"
                   "for i in range(3000):\n"
                   "    with sonde.iteration():\n"
                   "        for _ in range(100):\n"
                   "            with sonde.operation('o'): pass\n"
                   "    if i % 100 == 99: __import__('time').sleep(0.3)\n")
        result = self.run_sonde(sys.executable, "-c", program, options=("-f", "--sources", "annotation", "--max-size", f"{mebibytes}MiB"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(self.output.stat().st_size, mebibytes << 20)
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM iteration"), [(3000, 3000)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        (full,), = self.rows("SELECT count(*) FROM iteration WHERE probe_mask <> 0")
        self.assertLess(full, 3000)
        self.assertGreater(full, at_least)
        self.assertEqual(self.rows("SELECT count(*) FROM slice s JOIN string n ON n.id = s.name_id WHERE n.text = 'o'"),
                         [(100 * full,)])
        self.assertIn("iterations in full, the times of the others", " ".join(text for (text,) in self.rows("SELECT text FROM note")))

    def test_a_job_that_would_take_a_little_more_has_whole_iterations_to_its_end(self):
        self.assert_stays_within(24, at_least=500)

    def test_a_job_that_would_take_many_times_as_much_has_them_too(self):
        self.assert_stays_within(5, at_least=100)

    def test_a_process_without_iterations_does_not_end_the_recording_of_the_others(self):
        helper = ("import sonde, time\n"
                  "for i in range(7500):\n"
                  "    for _ in range(20):\n"
                  "        with sonde.operation('helper'): pass\n"
                  "    time.sleep(0.001)\n")
        program = ("import sonde, subprocess, sys, time\n"
                   f"helper = subprocess.Popen([sys.executable, '-c', {helper!r}])\n"
                   "count = 0\n"
                   "while helper.poll() is None:\n"
                   "    with sonde.iteration(): time.sleep(0.02)\n"
                   "    count += 1\n"
                   "print(count)\n")
        result = self.run_sonde(sys.executable, "-c", program, options=("-f", "--sources", "annotation", "--max-size", "16MiB"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(self.output.stat().st_size, 16 << 20)
        self.assertEqual(self.rows("SELECT count(*) FROM iteration"), [(int(result.stdout),)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        self.assertEqual(self.rows("SELECT count(*) FROM iteration WHERE probe_mask = 0 AND "
                                   "number % (SELECT value FROM meta WHERE key = 'thinned') = 0"), [(0,)],
                         "where there are iterations, no time is left out")
        (operations,), = self.rows("SELECT count(*) FROM v_slice WHERE name = 'helper'")
        self.assertTrue(30000 < operations < 140000, operations)
        self.assertIn("one of 2 seconds of processes without iterations", result.stderr)


if __name__ == "__main__":
    unittest.main()
