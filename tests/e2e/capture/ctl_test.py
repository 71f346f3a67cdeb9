"""`sonde ctl`, `--delay` and `--duration` on real processes: what is recorded is what was counted while recording was on."""
import os
import signal
import sys
import unittest

from capture_support import NUMBERS, CaptureTest
from run_support import parent_of, wait_until

# Counts iterations, each with contents, as capture_support.NUMBERS counts operations.
ITERATIONS = """
import mmap, os, sonde, struct, sys, time
with open(sys.argv[1], "w+b") as file:
    file.truncate(16)
    page = mmap.mmap(file.fileno(), 16)
number = 0
with sonde.phase("training"):
    while not os.path.exists(sys.argv[1] + ".stop"):
        with sonde.iteration(), sonde.operation("work"):
            sonde.mark("inside")
            sonde.scalar("loss", number)
        number += 1
        struct.pack_into("QQ", page, 0, number, os.getpid())
        time.sleep(0.001)
"""


class CtlTest(CaptureTest):
    def test_what_is_recorded_is_what_was_counted_while_recording_was_on(self):
        process = self.count()
        self.count_on()
        before_stop = self.number()
        self.assertEqual(self.ctl(process.pid, "stop"), "paused\n")
        after_stop = self.number()
        self.count_on()
        before_start = self.number()
        self.assertEqual(self.ctl(process.pid, "start"), "recording\n")
        after_start = self.number()
        self.count_on()
        last = self.number()
        said = self.end(process)
        (begin, stopped), (started, end) = self.intervals()
        self.assertEqual(begin, 0)
        self.assertGreaterEqual(stopped + 1, before_stop)
        self.assertLessEqual(stopped, after_stop)
        self.assertGreaterEqual(started, before_start)
        self.assertLessEqual(started, after_start)
        self.assertGreaterEqual(end + 1, last)
        self.assertEqual(self.rows("SELECT * FROM loss"), [], "what was paused is not lost")
        paused, resumed = self.notes()
        self.assertRegex(paused, r"recording paused.* at \d\d:\d\d:\d\d \(sonde ctl\)")
        self.assertRegex(resumed, r"recording started at \d\d:\d\d:\d\d \(sonde ctl\)")
        self.assertNotIn("dropped", said)
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'paused'"), [("1",)])
        self.assertEqual(self.rows("SELECT count(*), count(o.dur_ns) FROM slice o JOIN string t ON t.id = o.name_id "
                                   "WHERE t.text = 'outer'"), [(1, 1)], "what was open all the time is one")
        self.assertEqual(self.rows("SELECT p.text, count(*) > 1 FROM slice c JOIN string n ON n.id = c.name_id "
                                   "JOIN slice o ON o.id = c.parent_id JOIN string p ON p.id = o.name_id "
                                   "WHERE n.text = 'count' GROUP BY 1"), [("outer", 1)], "before and after it")

    def test_iterations_go_on_in_outline_while_it_is_paused(self):
        process = self.start_sonde(sys.executable, "-c", ITERATIONS, self.page, options=("--sources", "annotation"))
        self.running.append(process)
        wait_until(lambda: process.poll() is not None or self.number() > 20, "the program counts")
        self.ctl(process.pid, "stop")
        after_stop = self.number()
        self.count_on(20)
        before_start = self.number()
        self.ctl(process.pid, "start")
        after_start = self.number()
        self.count_on(20)
        self.end(process)
        self.assertEqual(process.returncode, 0)
        counted = self.number()
        self.assertEqual(self.rows("SELECT number FROM iteration WHERE dur_ns IS NOT NULL ORDER BY 1"),
                         [(number,) for number in range(counted)])
        self.assertEqual(self.rows("SELECT count(*) FROM scalar"), [(counted,)], "what the program says of each is there")
        outline = [number for (number,) in self.rows("SELECT number FROM iteration WHERE probe_mask = 0 ORDER BY 1")]
        self.assertEqual(outline, list(range(outline[0], outline[-1] + 1)))
        self.assertLessEqual(outline[0], after_stop + 1)
        self.assertGreaterEqual(outline[-1] + 1, before_start)
        self.assertLessEqual(outline[-1], after_start + 1)
        inside, = self.rows("SELECT count(*) FROM slice s JOIN string n ON n.id = s.name_id WHERE n.text = 'inside'")[0]
        self.assertLessEqual(counted - len(outline), inside)
        self.assertLessEqual(inside, counted - len(outline) + 2, "of those it was paused or resumed in, too")
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM v_slice WHERE name = 'training'"), [(1, 1)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_any_recorded_process_names_its_recording(self):
        process = self.count(how=("fork",))
        child = self.target()
        self.assertNotEqual(child, process.pid)
        for pid in (child, parent_of(child), process.pid):
            self.assertEqual(self.status(pid)["recorder_pid"], process.pid)
        self.assertEqual(self.ctl(child, "stop"), "paused\n")
        self.assertEqual(self.ctl(parent_of(child), "stop"), "already paused\n")
        self.assertEqual(self.status(process.pid)["state"], "paused")
        self.end(process)

    def test_a_spool_that_was_named_is_found(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        process = self.count("--spool", elsewhere)
        self.assertEqual(self.status(process.pid)["state"], "recording")
        self.assertEqual(self.status(self.target())["state"], "recording")
        self.end(process)

    def test_status_says_how_it_is(self):
        process = self.count("--spool-limit", "64MiB")
        status = self.status(self.target())
        self.assertEqual({key: status[key] for key in ("state", "recorder_pid", "processes", "spool_limit_bytes", "output",
                                                       "lost", "last")},
                         {"state": "recording", "recorder_pid": process.pid, "processes": 1,
                          "spool_limit_bytes": 64 << 20, "output": str(self.output), "lost": {}, "last": None})
        self.assertGreater(status["spool_bytes"], 0)
        self.assertGreater(status["trace_bytes"], 0)
        text = self.ctl(process.pid, "status")
        self.assertRegex(text, r"^recording since \d{4}-\d\d-\d\d ")
        self.assertIn(f"{self.output}", text)
        self.ctl(process.pid, "stop")
        self.assertGreater(int(self.status(process.pid)["since_ns"]), int(status["since_ns"]))
        self.end(process)

    def test_what_cannot_be_asked_is_said(self):
        self.assertIn("there is no process", self.ctl(4_000_000, "stop", status=3))
        self.assertIn("is not recorded", self.ctl(os.getpid(), "status", status=3))
        process = self.count()
        self.assertIn("--last", self.ctl(process.pid, "dump", status=3))
        self.ctl(process.pid, "off", status=2)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            self.assertIn("does not answer", self.ctl(process.pid, "stop", status=2))
        finally:
            os.kill(process.pid, signal.SIGCONT)
        self.count_on()
        self.assertEqual(self.status(process.pid)["state"], "recording", "what was not answered is not done later")
        target = self.target()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.assertIn("sonde recover", self.ctl(target, "stop", status=3))
        (self.folder / "page.stop").touch()

    def test_a_process_that_begins_while_paused_records_after_it(self):
        process = self.start_sonde("sh", "-c", f"while ! test -e {self.folder}/go; do sleep 0.01; done; "
                                   f"exec {NUMBERS} {self.page} 8 exit")
        self.running.append(process)
        wait_until(lambda: any(self.spool.rglob("*.spool")), "the shell is recorded")
        self.ctl(process.pid, "stop")
        (self.folder / "go").touch()
        wait_until(lambda: self.number() > 0, "the program counts")
        self.count_on()
        before_start = self.number()
        self.ctl(process.pid, "start")
        self.count_on()
        last = self.number()
        self.end(process)
        (begin, end), = self.intervals()
        self.assertGreaterEqual(begin, before_start)
        self.assertGreaterEqual(end + 1, last)


class ScheduleTest(CaptureTest):
    def test_recording_begins_after_the_delay_and_ends_after_the_duration(self):
        process = self.count("--delay", "500ms", "--duration", "0.5")
        self.assertEqual(self.status(process.pid)["state"], "paused")
        wait_until(lambda: self.status(process.pid)["state"] == "recording", "the delay has passed")
        wait_until(lambda: self.status(process.pid)["state"] == "paused", "the duration has passed")
        self.count_on()
        self.end(process)
        (begin, end), = self.intervals()
        self.assertGreater(begin, 0)
        self.assertLess(end + 200, self.number())
        started, paused = self.notes()
        self.assertIn("(--delay)", started)
        self.assertIn("(--duration)", paused)

    def test_a_job_that_ends_before_the_delay_has_its_processes_alone(self):
        process = self.count("--delay", "1h")
        self.count_on()
        said = self.end(process)
        self.assertEqual(self.rows("SELECT count(*) FROM slice"), [(0,)])
        self.assertEqual(self.rows("SELECT state, exit_status FROM process"), [("exited", 0)])
        self.assertIn("the job ended before --delay (3600 s) had passed", said)

    def test_ctl_starts_before_the_delay_has_passed(self):
        process = self.count("--delay", "1h", "--duration", "1h")
        before_start = self.number()
        self.ctl(process.pid, "start")
        self.count_on()
        said = self.end(process)
        (begin, _), = self.intervals()
        self.assertGreaterEqual(begin, before_start)
        self.assertNotIn("--delay", said)
        self.assertEqual(self.rows("SELECT count(*) FROM slice o JOIN string t ON t.id = o.name_id JOIN slice c ON "
                                   "c.start_ns > o.start_ns AND c.parent_id = o.id WHERE t.text = 'outer'"),
                         self.rows("SELECT count(*) FROM slice c JOIN string t ON t.id = c.name_id WHERE t.text = 'count'"),
                         "what had begun before is there, and holds the rest")

    def test_spans_of_time_are_checked(self):
        for option, span in (("--delay", "soon"), ("--duration", "0"), ("--duration", "-1"), ("--delay", "5 days")):
            done = self.run_sonde("true", options=(option, span))
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
