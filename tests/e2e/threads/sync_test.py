"""Probe sync: each function that threads wait in, what is no hand-off, and that programs are not harmed."""
import platform
import unittest
from collections import Counter

from run_support import TARGETS, RunTest

ROWS = "SELECT call, kind, wakee_tid, waker_tid, certain FROM v_handoff"
WAITS = "SELECT n.text, count(*) FROM slice s JOIN string n ON n.id = s.name_id WHERE category = 'sync' "


class Sync(RunTest):
    def record(self, *program, sources="sync", status=0):
        result = self.run_sonde(*program, options=("-f", "--sources", sources))
        self.assertEqual(result.returncode, status, result.stderr)
        return [line.split() for line in result.stdout.splitlines()]

    def assert_handoffs(self, told):
        """`told`: lines "call wakee waker" of a program."""
        found = Counter((call, wakee, waker) for call, _, wakee, waker, certain in self.rows(ROWS) if certain)
        for call, wakee, waker in told:
            self.assertGreaterEqual(found[(call, int(wakee), int(waker))], 1, (call, wakee, waker, found))


class EveryFunction(Sync):
    def test_knows_who_woke_it(self):
        lines = self.record(TARGETS / "sync_each")
        (_, main), *told = lines
        expected = Counter((call, kind, int(wakee), int(waker), 1) for call, kind, wakee, waker in told)
        found = Counter(row for row in self.rows(ROWS) if row[0] != "pthread_join" or row[2] != int(main))
        self.assertEqual(found, expected)
        self.assertEqual(len(set(call for call, *_ in told)), 20, "as many as the probe stands in front of")
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_knows_when_a_thread_ended_that_was_known(self):
        lines = self.record(TARGETS / "sync_each")
        known = {int(wakee) for call, kind, wakee, _ in lines[1:] if kind == "semaphore"}
        rows = self.rows("SELECT waker_tid, waker_ns IS NULL, waker_ns > wake_ns FROM v_handoff WHERE call GLOB '*join_np'")
        self.assertEqual(len(rows), 4)
        for waker, unknown, late in rows:
            self.assertEqual((unknown, late), (0, 0) if waker in known else (1, None))

    def test_has_a_wait_in_the_timeline(self):
        self.record(TARGETS / "sync_each")
        self.assertEqual(self.rows("SELECT count(*) FROM v_handoff h JOIN slice s ON s.id = h.slice_id WHERE "
                                   "s.kind <> 'wait' OR s.thread_id <> h.wakee_thread_id OR s.dur_ns <> h.dur_ns"), [(0,)])
        ((count, early, late),) = self.rows("SELECT count(*), sum(waker_ns < block_ns), sum(waker_ns > wake_ns) FROM v_handoff "
                                            "WHERE kind <> 'thread'")
        self.assertEqual((early, late), (0, 0))
        self.assertGreater(count, 20)

    def test_records_nothing_when_the_probe_is_off(self):
        self.record(TARGETS / "sync_each", sources="annotation,net")
        self.assertEqual(self.rows("SELECT count(*) FROM handoff"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE category = 'sync'"), [(0,)])

    def test_is_the_programs_own_without_the_probe(self):
        maps = ("grep", "-c", "libsonde_sync", "/proc/self/maps")
        self.assertEqual(self.record(*maps, sources="annotation", status=1), [["0"]])
        self.assertGreater(int(self.record(*maps)[0][0]), 0)


class NoHandoffs(Sync):
    def test_timeouts_are_waits_alone(self):
        self.record(TARGETS / "sync_ends", "timeouts")
        self.assertEqual(self.rows("SELECT call, count(*) FROM v_handoff GROUP BY 1"), [("pthread_join", 1)])
        self.assertEqual(self.rows("SELECT n.text, a.value FROM slice s JOIN string n ON n.id = s.name_id JOIN arg a ON "
                                   "a.owner = 'slice' AND a.owner_id = s.id JOIN string k ON k.id = a.key_id AND "
                                   "k.text = 'timed out' ORDER BY 1"),
                         [(call, 1) for call in ("futex", "pthread_cond_timedwait", "pthread_mutex_timedlock",
                                                 "pthread_rwlock_clockwrlock", "pthread_rwlock_timedrdlock",
                                                 "sem_timedwait")])

    def test_what_is_refused_is_no_wait(self):
        self.record(TARGETS / "sync_ends", "refusals")
        self.assertEqual([row for row in self.rows(WAITS + "GROUP BY 1") if row[0] != "pthread_join"], [])

    def test_a_waker_in_another_process_is_not_known(self):
        self.record(TARGETS / "sync_ends", "shared")
        self.assertEqual(self.rows("SELECT call, waker_tid, waker_ns, certain FROM v_handoff WHERE kind <> 'thread' ORDER BY 1"),
                         [("pthread_mutex_lock", None, None, 0), ("sem_wait", None, None, 0)])

    def test_what_processes_share_is_never_certain(self):
        told = self.record(TARGETS / "sync_ends", "shared_at_home")
        self.assertEqual(Counter(self.rows("SELECT call, wakee_tid, waker_tid, certain FROM v_handoff WHERE kind <> 'thread'")),
                         Counter((call, int(wakee), int(waker), 0) for call, wakee, waker in told))

    def test_a_signal_handler(self):
        self.assert_handoffs(self.record(TARGETS / "sync_ends", "handlers"))
        self.assertEqual(self.rows(WAITS + "AND n.text = 'futex'")[0][1], 1)
        self.assertEqual(self.rows("SELECT count(*) FROM handoff WHERE kind = 'futex'"), [(0,)])


class OddPlaces(Sync):
    def test_cancelled_waits_leave_nothing_behind(self):
        self.assert_handoffs(self.record(TARGETS / "sync_ends", "cancellation"))

    def test_waits_left_by_longjmp_leave_nothing_behind(self):
        self.assert_handoffs(self.record(TARGETS / "sync_ends", "longjmps"))

    def test_there_is_room_after_very_many_of_them(self):
        for case in ("many_cancelled", "many_longjmps"):
            with self.subTest(case):
                self.assert_handoffs(self.record(TARGETS / "sync_ends", case))

    def test_a_forked_child_knows_none_of_its_parents_waits(self):
        self.assert_handoffs(self.record(TARGETS / "sync_ends", "forks"))

    def test_an_async_call_ends_by_its_thread(self):
        self.assert_handoffs(self.record(TARGETS / "sync_oddities", "async"))

    def test_a_callers_stack_is_its_own(self):
        self.record(TARGETS / "sync_oddities", "callers_stack")

    @unittest.skipUnless(platform.machine() == "x86_64", "there is one version elsewhere")
    def test_the_old_kind_of_condition(self):
        self.assert_handoffs(self.record(TARGETS / "sync_old_condition"))

    def test_goes_along_into_programs_that_are_started(self):
        told = self.record("/bin/sh", "-c", f"{TARGETS}/sync_ends forks; env -i {TARGETS}/sync_ends forks")
        self.assertEqual(len(told), 4)
        self.assert_handoffs(told)


class Mixture(Sync):
    def test_holds_with_and_without_the_probe(self):
        for sources in ("annotation", "sync", "annotation,net,io,sync"):
            for seed in range(1, 4):
                self.assertEqual(self.record(TARGETS / "sync_mixture", seed, sources=sources), [["holds"]])
        kinds = {kind for kind, in self.rows("SELECT DISTINCT kind FROM handoff")}
        self.assertEqual(kinds, {"mutex", "condition", "rwlock", "barrier", "semaphore", "thread", "futex"})
        self.assertEqual(self.rows("SELECT probe, kind FROM loss WHERE probe = 'sync'"), [])


if __name__ == "__main__":
    unittest.main()
