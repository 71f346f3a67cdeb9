"""Where threads wait: stacks at waits and collectives, and all of a thread's time by --stack-mode wall."""
import os
import unittest
from collections import Counter, defaultdict

from run_support import TARGETS
from stack_support import StackTest

LEAVES = {"inSemaphore": "sem_timedwait", "inPoll": "poll", "inSleep": "nanosleep", "inRead": "read"}


class Wall(StackTest):
    def told(self, *options):
        truth = defaultdict(dict)
        for line in self.record(TARGETS / "stack_waits", sources="stack,sync,net", more=options):
            tid, what, ns = line.split()
            truth[tid][what] = int(ns)
        self.assertEqual(len(truth), 2)
        return truth

    def waits(self):
        """{tid: {function: ns}}, by what waited"""
        found = defaultdict(Counter)
        for (thread, *frames), ns in self.stacks("--time", "blocked", "--threads"):
            for function, leaf in LEAVES.items():
                if frames[-2:] == [function, leaf]:
                    found[thread.split()[-1]][function] += ns
        return found

    def assert_near(self, found, told, share=0.05):
        """But for a few turns of the scheduler's, which may come between two looks at a clock."""
        self.assertLess(abs(found - told), share * told + 15e6, (found, told))

    def test_parts_add_up_to_a_threads_time(self):
        truth = self.told("--stack-mode", "wall")
        sums = defaultdict(Counter)
        for tid, kind, ns in self.rows("SELECT t.tid, x.kind, sum(x.weight) FROM stack_sample x JOIN thread t ON t.id = x.thread_id "
                                       "GROUP BY 1, 2"):
            sums[str(tid)][kind] += ns
        waits = self.waits()
        for tid, told in truth.items():
            with self.subTest(tid):
                for function in LEAVES:
                    self.assert_near(waits[tid][function], told[function])
                found = sums[tid]
                self.assert_near(found["cpu"], told["cpu"], 0.1)
                # The unseen waits, and the thread's waits for a processor.
                self.assertGreater(found["other"], 0.8 * told["hidden"])
                whole = sum(found.values())
                self.assert_near(whole, told["wall"], 0.05)
        shown = sum(ns for frames, ns in self.stacks("--time", "wall") if frames[0] == "[not seen]")
        self.assertEqual(shown, sum(found["other"] for found in sums.values()))

    def test_waits_are_there_without_the_rest(self):
        truth = self.told("--stacks-at", "block")
        waits = self.waits()
        for tid, told in truth.items():
            for function in LEAVES:
                self.assert_near(waits[tid][function], told[function])
        self.assertEqual(self.rows("SELECT count(*) FROM stack_sample WHERE kind = 'other'"), [(0,)])
        # CPU time is only the time in the calls themselves.
        running = sum(ns for frames, ns in self.stacks() if frames[-1] in LEAVES.values())
        self.assertLess(running, 0.2 * sum(ns for found in waits.values() for ns in found.values()))

    def test_none_are_there_unless_they_are_asked_for(self):
        self.told()
        self.assertEqual(self.rows("SELECT DISTINCT kind FROM stack_sample"), [("cpu",)])
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE stack_id IS NOT NULL"), [(0,)])

    def test_a_wait_in_the_timeline_has_its_stack(self):
        self.told("--stacks-at", "block")
        rows = self.rows("SELECT s.name, n.text, p.text FROM v_slice s JOIN stack k ON k.id = s.stack_id JOIN frame f ON f.id = k.frame_id "
                         "JOIN string n ON n.id = f.name_id JOIN stack q ON q.id = k.parent_id JOIN frame g ON g.id = q.frame_id "
                         "JOIN string p ON p.id = g.name_id WHERE s.kind = 'wait' AND s.dur_ns > 1000000")
        found = Counter((name, leaf, caller) for name, leaf, caller in rows if caller in LEAVES)
        self.assertEqual(found, {("sem_timedwait", "sem_timedwait", "inSemaphore"): 24, ("poll", "poll", "inPoll"): 24,
                                 ("nanosleep", "nanosleep", "inSleep"): 24})

    def test_a_collective_has_the_stack_of_its_call(self):
        script = ("import torch, torch.distributed as dist\n"
                  "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
                  "def reducing():\n  dist.all_reduce(torch.ones(1000))\n"
                  "for _ in range(7): reducing()\n")
        self.record(os.environ.get("SONDE_TORCH_PYTHON") or "/usr/bin/python3", "-c", script, sources="stack,gloo",
                    more=("--stacks-at", "collective"))
        collectives = self.rows("SELECT id, stack_id FROM slice WHERE kind = 'collective'")
        self.assertGreaterEqual(len(collectives), 7)
        self.assertEqual([row for row in collectives if row[1] is None], [])
        self.assertEqual(self.rows("SELECT DISTINCT kind, weight FROM stack_sample WHERE kind <> 'cpu'"), [("event", 0)])

    def test_what_needs_the_probe_says_so(self):
        for option in (("--stack-mode", "wall"), ("--stacks-at", "block"), ("--stack-rate", "5")):
            result = self.run_sonde("true", options=option)
            self.assertEqual(result.returncode, 125)
            self.assertIn("give --sources +stack", result.stderr)
        result = self.run_sonde("true", options=("--sources", "+stack", "--stacks-at", "lunch"))
        self.assertEqual(result.returncode, 125)
        self.assertIn("lunch", result.stderr)


if __name__ == "__main__":
    unittest.main()
