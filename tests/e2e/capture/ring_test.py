"""`sonde run --last` on real processes: of what was counted the trace has the end, without a hole, whoever is killed."""
import os
import signal
import time
import unittest

from capture_support import NUMBERS, CaptureTest
from run_support import PATIENCE, TARGETS, alive, state_of, wait_until

LAST_NS = 1_000_000_000  # unless a test asks for something else
SLOT_BYTES = 64 * 1024  # what the recorder lets go of at once, at most
FAST = 200  # numbers in a millisecond or so: a slot of them is full within a few


class RingTest(CaptureTest):
    def ring(self, *options, last="1s", **how):
        return self.count("--last", last, *options, per_ms=FAST, **how)

    def let_go(self, process, more_than=0):
        """Returns when the recorder has let go of the oldest, of more than so many bytes."""
        wait_until(lambda: self.status(process.pid)["last"]["discarded_bytes"] > more_than, "the oldest is let go")

    def assert_is_the_end(self, last, path=None):
        """What the trace has is the end of what was counted, up to `last` at least, with names and open scopes."""
        (begin, end), = self.intervals(path)
        self.assertGreater(begin, 0, "the oldest is gone")
        self.assertGreaterEqual(end + 1, last, "the newest is there")
        outer, = self.rows("SELECT s.start_ns, min(c.start_ns) FROM slice s JOIN string t ON t.id = s.name_id "
                           "JOIN slice c ON c.parent_id = s.id WHERE t.text = 'outer' GROUP BY s.id", path)
        self.assertLess(outer[0], outer[1], "what holds it all began when it did")
        (span, name), = self.rows("SELECT max(c.start_ns) - min(c.start_ns), max(h.name) FROM slice c JOIN string t ON "
                                  "t.id = c.name_id JOIN thread h ON h.id = c.thread_id WHERE t.text = 'count'", path)
        self.assertGreaterEqual(span, 0.8 * LAST_NS, "all of the time that was asked for")
        self.assertEqual(name, NUMBERS.name[:15])
        self.assertEqual(self.rows("SELECT count(*) FROM loss", path), [(0,)], "what was let go is not lost")
        self.assertEqual(self.rows("PRAGMA integrity_check", path), [("ok",)])

    def test_the_trace_has_the_end(self):
        process = self.ring()
        self.let_go(process)
        self.count_on(FAST * 100)
        self.end(process)
        self.assertEqual(process.returncode, 0)
        self.assert_is_the_end(self.number())
        meta = dict(self.rows("SELECT key, value FROM meta"))
        self.assertEqual(meta["last_ns"], "1000000000")
        self.assertGreater(int(meta["discarded"]), 0)
        self.assertTrue(any("flight recorder" in note for note in self.notes()))
        self.assert_nothing_left()

    def test_a_job_that_crashes_leaves_its_end(self):
        process = self.ring(ending="segv")
        self.let_go(process)
        self.end(process)
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        self.assert_is_the_end(self.number())

    def test_a_job_that_is_killed_leaves_its_end(self):
        process = self.ring()
        self.let_go(process)
        os.kill(self.target(), signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assert_is_the_end(self.number())

    def test_after_the_recorder_is_killed_recover_has_the_end(self):
        process = self.ring()
        self.let_go(process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        at_kill = self.number()
        (self.folder / "page.stop").touch()
        wait_until(lambda: not alive(self.target()), "the job ends")
        self.recover_session()
        self.assert_is_the_end(at_kill)

    def test_after_both_are_killed_recover_has_the_end(self):
        process = self.ring()
        self.let_go(process)
        target = self.target()
        os.kill(process.pid, signal.SIGKILL)
        os.kill(target, signal.SIGKILL)
        process.wait()
        wait_until(lambda: not alive(target), "the job is dead")
        counted = self.number()
        self.recover_session()
        self.assert_is_the_end(counted)
        self.assertIn("last_ns", dict(self.rows("SELECT key, value FROM meta")))

    def test_after_both_are_killed_the_trace_says_what_was_left_out(self):
        process = self.ring("--capture", "every:2")
        self.ctl(process.pid, "stop")
        self.ctl(process.pid, "start")
        target = self.target()
        os.kill(process.pid, signal.SIGKILL)
        os.kill(target, signal.SIGKILL)
        process.wait()
        wait_until(lambda: not alive(target), "the job is dead")
        self.recover_session()
        meta = dict(self.rows("SELECT key, value FROM meta"))
        self.assertEqual((meta["capture"], meta["paused"]), ("every:2", "1"))

    def test_what_is_left_behind_lets_nothing_go_while_it_is_waited_for(self):
        over = self.folder / "over"
        os.mkfifo(over)
        process = self.start_sonde("sh", "-c", f"read line < {over} & exec {NUMBERS} {self.page} {FAST} exit",
                                   options=("--last", "1s"))
        self.running.append(process)
        wait_until(lambda: self.number() > 0, "the program counts")
        self.let_go(process, more_than=SLOT_BYTES)  # the shell's own records fill no slot
        target = self.target()
        (self.folder / "page.stop").touch()
        wait_until(lambda: not alive(target), "the program ends")
        time.sleep(1.5)  # longer than the ring reaches back
        self.assertIsNone(process.poll())
        over.write_text("\n")
        process.communicate(timeout=PATIENCE)
        self.assert_is_the_end(self.number())

    def test_what_was_recorded_before_a_pause_stays(self):
        process = self.ring()
        self.let_go(process)
        before_stop = self.number()
        self.ctl(process.pid, "stop")
        time.sleep(1.5)
        self.end(process)
        self.assert_is_the_end(before_stop)

    def test_dumps_are_written_while_the_job_goes_on(self):
        process = self.ring()
        self.let_go(process)
        before = self.number()
        first = self.folder / "out-1.sonde"
        self.assertEqual(self.ctl(self.target(), "dump"), f"wrote {first}\n")
        self.assert_is_the_end(before, first)
        before = self.number()
        os.kill(process.pid, signal.SIGUSR2)
        second = self.folder / "out-2.sonde"
        wait_until(second.exists, "the second dump is there")
        self.assert_is_the_end(before, second)
        self.assertGreater(self.intervals(second)[0][1], self.intervals(first)[0][1])
        self.end(process)
        self.assertEqual(process.returncode, 0, "SIGUSR2 was not passed on")
        self.assert_is_the_end(self.number())
        self.assertEqual(sorted(p.name for p in self.folder.glob("*.spool")), [])
        self.assert_nothing_left()

    def test_a_process_that_crashes_is_dumped_at_once(self):
        process = self.start_sonde("sh", "-c", f"{NUMBERS} {self.page} {FAST} exit; "
                                   f"while ! test -e {self.folder}/over; do sleep 0.02; done", options=("--last", "1s"))
        self.running.append(process)
        wait_until(lambda: self.number() > 0, "the program counts")
        self.let_go(process)
        os.kill(self.target(), signal.SIGKILL)
        dump = self.folder / "out-1.sonde"
        wait_until(dump.exists, "the crash is dumped")
        self.assertEqual(state_of(process.pid) in "ZX", False, "the job goes on")
        self.assert_is_the_end(self.number(), dump)
        self.assertIn(("dumped_because", f"process {self.target()} was ended by a signal"),
                      self.rows("SELECT key, value FROM meta", dump))
        (self.folder / "over").touch()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_a_child_that_crashes_with_a_large_ring_is_in_its_dump(self):
        process = self.start_sonde("sh", "-c", f"{NUMBERS} {self.page} 400 exit; "
                                   f"while ! test -e {self.folder}/over; do sleep 0.02; done",
                                   options=("--last", "1h", "--spool-limit", "8MiB"))
        self.running.append(process)
        wait_until(lambda: self.number() > 0, "the program counts")
        self.let_go(process)
        os.kill(self.target(), signal.SIGKILL)
        dump = self.folder / "out-1.sonde"
        wait_until(dump.exists, "the crash is dumped")
        (self.folder / "over").touch()
        process.communicate(timeout=PATIENCE)
        self.assertGreaterEqual(self.intervals(dump)[0][1] + 1, self.number())

    def test_dumps_that_are_wanted_together_are_made_one_after_the_other(self):
        process = self.ring()
        self.let_go(process)
        for _ in range(3):
            os.kill(process.pid, signal.SIGUSR2)
            time.sleep(0.3)
        wait_until((self.folder / "out-2.sonde").exists, "two dumps are there")
        counted = self.number()
        self.assertEqual(self.ctl(process.pid, "dump").startswith("wrote "), True)
        self.assertGreaterEqual(max(self.intervals(path)[0][1] for path in self.folder.glob("out-*.sonde")) + 1, counted)
        self.end(process)
        self.assertEqual(self.rows("SELECT count(*) FROM loss"), [(0,)])

    def test_a_process_that_becomes_a_program_that_is_not_recorded_has_not_crashed(self):
        program = TARGETS / "hello_static"
        result = self.run_sonde("bash", "-c", f"(exec {program}) & wait; sleep 0.5", options=("-f", "--last", "30s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path.name for path in self.folder.glob("out-*.sonde")], [])

    def test_the_spool_is_never_exceeded_and_the_trace_says_how_short_it_is(self):
        process = self.ring("--spool-limit", "2MiB", last="1h")
        self.let_go(process)
        status = self.status(process.pid)
        self.assertLessEqual(status["spool_bytes"], 2 << 20)
        said = self.end(process)
        self.assertRegex(said, "at this rate the spool has room for .* s of --last 3600 s: no --spool-limit is large enough")
        numbers = self.numbers()
        self.assertGreater(numbers[0], 0)
        (lost,), = self.rows("SELECT coalesce(sum(count), 0) FROM loss WHERE reason = 'spool full'")
        self.assertLessEqual(self.number() - numbers[0] - len(numbers), lost, "what is not there is counted")
        self.assertIn("raise --spool-limit", said)


if __name__ == "__main__":
    unittest.main()
