"""`sonde ctl`, `--delay` and `--duration` on real processes: what is recorded is what was counted while recording was on."""
import os
import signal
import unittest

from capture_support import NUMBERS, CaptureTest
from run_support import parent_of, wait_until


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

    def test_any_recorded_process_names_its_recording(self):
        process = self.count(how=("fork",))
        child = self.target()
        self.assertNotEqual(child, process.pid)
        for pid in (child, parent_of(child), process.pid):
            self.assertEqual(self.status(pid)["recorder_pid"], process.pid)
        self.assertEqual(self.ctl(child, "stop"), "paused\n")
        self.assertEqual(self.ctl(parent_of(child), "stop"), "it was paused already\n")
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
        self.assertIn("the job ended before --delay, 3600 s, had passed", said)

    def test_ctl_starts_before_the_delay_has_passed(self):
        process = self.count("--delay", "1h", "--duration", "1h")
        before_start = self.number()
        self.ctl(process.pid, "start")
        self.count_on()
        said = self.end(process)
        (begin, _), = self.intervals()
        self.assertGreaterEqual(begin, before_start)
        self.assertNotIn("--delay", said)

    def test_spans_of_time_are_checked(self):
        for option, span in (("--delay", "soon"), ("--duration", "0"), ("--duration", "-1"), ("--delay", "5 days")):
            done = self.run_sonde("true", options=(option, span))
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
