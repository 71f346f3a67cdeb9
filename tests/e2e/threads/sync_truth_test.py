"""Probe sync: of many hand-offs between threads, those that are certain are right, as the program itself knows."""
import sys
import unittest
from collections import defaultdict

from run_support import TARGETS, RunTest

SLACK = 20_000  # ns that the wall clock, which the program reads, may be off the trace's


class Recorded(RunTest):
    def record(self, *program):
        result = self.run_sonde(*program, options=("-f", "--sources", "sync"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


class Truth(Recorded):
    def compared(self, scenario, kind):
        """(right, wrong, uncertain, unknown) of the hand-offs of one kind that the program tells of."""
        told = defaultdict(list)
        for line in self.record(TARGETS / "sync_truth", scenario).splitlines():
            what, wakee, waker, begin, end = line.split()
            if what == kind:
                told[int(wakee)].append((int(begin), int(end), int(waker)))
        right = wrong = uncertain = unknown = 0
        for wakee, waker, block, wake, certain in self.rows(
                f"SELECT wakee_tid, waker_tid, block_ns, wake_ns, certain FROM v_handoff WHERE kind = '{kind}'"):
            wakers = [waker for begin, end, waker in told[wakee] if begin - SLACK <= block and wake <= end + SLACK]
            if not wakers:
                continue
            unknown += waker is None
            uncertain += waker is not None and not certain
            right += certain and waker in wakers
            wrong += certain and waker not in wakers
        return right, wrong, uncertain, unknown

    def assert_true(self, scenario, kind, least, wrong_share=0.05):
        right, wrong, uncertain, unknown = self.compared(scenario, kind)
        print(f"\n{scenario}, {kind}: {right} right, {wrong} wrong, {uncertain} uncertain, {unknown} unknown", file=sys.stderr)
        self.assertGreaterEqual(right, least)
        self.assertLessEqual(wrong, wrong_share * (right + wrong))
        self.assertLessEqual(unknown, 0.05 * (right + wrong + uncertain + unknown))

    def test_producers_and_consumers(self):
        self.assert_true("mailboxes", "condition", 100)

    def test_a_contended_mutex(self):
        self.assert_true("mutexes", "mutex", 100)

    def test_a_thread_pool_hands_out_work(self):
        self.assert_true("pool", "condition", 100)

    def test_a_thread_pool_hands_results_back(self):
        self.assert_true("pool", "futex", 100)

    def test_semaphores(self):
        self.assert_true("semaphores", "semaphore", 400)

    def test_futexes_of_atomics(self):
        self.assert_true("futexes", "futex", 200)

    def test_reader_writer_locks(self):
        self.assert_true("rwlocks", "rwlock", 100, wrong_share=0.005)

    def test_barriers(self):
        self.assert_true("barriers", "barrier", 200)

    def test_two_that_race_are_not_certain(self):
        right, wrong, uncertain, unknown = self.compared("racing", "condition")
        self.assertEqual((right, wrong, unknown), (0, 0, 0))
        self.assertGreaterEqual(uncertain, 50)


class Python(Recorded):
    def test_queues_and_events(self):
        program = ("import queue, threading, time\n"
                   "jobs, results, event = queue.Queue(), queue.Queue(), threading.Event()\n"
                   "def work():\n"
                   "    event.wait()\n"
                   "    while (job := jobs.get()) is not None: results.put(job)\n"
                   "thread = threading.Thread(target=work)\n"
                   "thread.start()\n"
                   "time.sleep(0.05)\n"
                   "event.set()\n"
                   "for job in range(100):\n"
                   "    time.sleep(0.0005)\n"
                   "    jobs.put(job)\n"
                   "    assert results.get() == job\n"
                   "jobs.put(None)\n"
                   "print(threading.get_native_id(), thread.native_id)\n"
                   "thread.join()\n")
        main, worker = map(int, self.record("/usr/bin/python3", "-c", program).split())
        rows = self.rows("SELECT wakee_tid, waker_tid, count(*) FROM v_handoff WHERE kind = 'semaphore' AND certain "
                         "GROUP BY 1, 2")
        counts = {(wakee, waker): count for wakee, waker, count in rows}
        self.assertEqual(set(counts), {(main, worker), (worker, main)}, "there are two threads, and each wakes the other")
        self.assertGreater(counts[(worker, main)], 90)


if __name__ == "__main__":
    unittest.main()
