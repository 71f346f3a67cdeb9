"""Probe sync: the functions that a thread blocks in without another thread's doing."""
import unittest

from run_support import TARGETS, RunTest

PAUSE_NS = 20_000_000
WAITS = ("SELECT n.text, max(s.dur_ns) FROM slice s JOIN string n ON n.id = s.name_id JOIN thread t ON t.id = s.thread_id "
         "JOIN process p ON p.id = t.process_id WHERE s.kind = 'wait' AND s.category = 'sync' AND t.tid = p.pid "
         "AND p.parent_id IS NULL AND n.text <> 'pthread_join' GROUP BY 1")


SHORT = "SELECT count(*) FROM slice s JOIN string n ON n.id = s.name_id WHERE n.text GLOB '*poll*' OR n.text GLOB '*select'"


class Pauses(RunTest):
    def record(self, *program, sources):
        result = self.run_sonde(*program, options=("-f", "--sources", sources))
        self.assertEqual(result.returncode, 0, result.stderr)
        return set(result.stdout.split())

    def test_each_is_a_wait_as_long_as_it_was(self):
        called = self.record(TARGETS / "sync_pauses", sources="sync,net")
        self.assertEqual(len(called), 25)
        waits = dict(self.rows(WAITS))
        self.assertEqual(set(waits), called)
        self.assertEqual({call for call, ns in waits.items() if ns < PAUSE_NS * 9 // 10}, set())
        self.assertEqual(self.rows("SELECT count(*) FROM handoff WHERE kind <> 'thread'"), [(0,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_what_returns_at_once_is_none(self):
        self.record(TARGETS / "sync_pauses", "quick", sources="sync,net")
        # Seven calls, a hundred times each; a busy machine may stop the program in some of them.
        ((short,),) = self.rows(SHORT)
        self.assertLess(short, 200)
        # After the quick calls the program waits for its children.
        self.assertEqual([call for call, ns in self.rows(WAITS) if ns > PAUSE_NS // 2], ["waitpid"])

    def test_without_the_probe_there_are_none(self):
        self.record(TARGETS / "sync_pauses", sources="annotation,net")
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE category = 'sync'"), [(0,)])


if __name__ == "__main__":
    unittest.main()
