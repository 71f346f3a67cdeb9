"""Probe memory: each function that allocates, threads that give back what others allocated, children, what is no allocation."""
import signal
import sqlite3
import subprocess
import unittest
from collections import Counter

from run_support import TARGETS, RunTest, alive, wait_until
from stack_support import StackTest

# The operations in which a block was allocated and freed.
LIVES = ("SELECT a.address, a.bytes, m.name, (SELECT d.name FROM v_slice d WHERE d.thread_id = a.thread_id AND "
         "d.kind = 'operation' AND a.free_ns BETWEEN d.start_ns AND d.end_ns), a.free_ns IS NULL FROM allocation a LEFT JOIN "
         "v_slice m ON m.id = a.scope_id AND a.alloc_ns BETWEEN m.start_ns AND m.end_ns WHERE a.bytes >= 65536")
# The blocks that memory_exchange prints.
EXCHANGED = "bytes BETWEEN 70000 AND 133999"


class Memory(RunTest):
    def record(self, *program, sources="annotation,memory", more=(), env=None):
        result = self.run_sonde(*program, options=("-f", "--sources", sources, *more), env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.split() for line in result.stdout.splitlines()]

    def assert_lives(self, told, lives=None):
        """`told`: lines "label address bytes dropped|kept"; `lives`: where what those say differs."""
        expected = Counter()
        for label, address, size, end in told:
            gone = f"drop {label}" if end == "dropped" else None
            expected[(int(address), int(size), f"make {label}", gone, int(end == "kept"))] += 1
        self.assertEqual(Counter(self.rows(lives or LIVES)), expected)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])


class EveryFunction(Memory):
    def test_is_recorded_where_it_was_called(self):
        told = self.record(TARGETS / "memory_calls", "each")
        self.assertEqual(len(told), 11)
        self.assert_lives(told)
        self.assertEqual(self.rows("SELECT DISTINCT allocator, device_id, pool, correlation_id FROM allocation"),
                         [("malloc", None, None, None)])

    def test_small_ones_are_not(self):
        self.record(TARGETS / "memory_calls", "small")
        self.assertEqual(self.rows("SELECT count(*) FROM allocation WHERE bytes < 65536"), [(0,)])
        self.record(TARGETS / "memory_calls", "small", more=("--memory-threshold", "30kB"))
        # 100 rounds: 32767 as malloc and calloc, 65535 as both, and as realloc to 32768.
        self.assertEqual(self.rows("SELECT bytes, count(*), sum(free_ns IS NULL) FROM allocation WHERE bytes IN (32767, 32768) "
                                   "GROUP BY 1"), [(32767, 200, 0), (32768, 100, 0)])

    def test_a_block_that_is_resized_ends_and_begins(self):
        told = self.record(TARGETS / "memory_calls", "resizing")
        rows = self.rows("SELECT address, bytes, (SELECT name FROM v_slice m WHERE m.id = a.scope_id), (SELECT d.name FROM "
                         "v_slice d WHERE d.kind = 'operation' AND a.free_ns BETWEEN d.start_ns AND d.end_ns) FROM allocation a WHERE "
                         "bytes >= 100000 AND scope_id IS NOT NULL ORDER BY alloc_ns")
        ends = ("make second", "make third", "shrink", "end")
        self.assertEqual(rows, [(int(address), int(size), f"make {label}", end)
                                for (label, address, size, _), end in zip(told, ends, strict=True)])
        ((overlaps,),) = self.rows("SELECT count(*) FROM allocation a JOIN allocation b ON b.alloc_ns < a.free_ns AND "
                                   "b.alloc_ns > a.alloc_ns WHERE a.scope_id IS NOT NULL AND b.scope_id IS NOT NULL")
        self.assertEqual(overlaps, 0)

    def test_an_address_that_is_given_anew_was_given_back(self):
        (_, first, _, _), second = self.record(TARGETS / "memory_calls", "unseen")
        self.assertEqual(self.rows(LIVES + " ORDER BY a.alloc_ns"),
                         [(int(first), 100000, "make first", "make second", 0),
                          (int(second[1]), 100000, "make second", "drop second", 0)])

    def test_failures_are_none_and_nothing_else_changes(self):
        self.record(TARGETS / "memory_calls", "oddities")
        self.assertEqual(self.rows("SELECT bytes, count(*), sum(free_ns IS NULL) FROM allocation WHERE bytes IN (100000, 100007) "
                                   "GROUP BY 1"), [(100000, 1, 0), (100007, 1, 0)])
        self.assertEqual(self.rows("SELECT max(bytes) < 1e9 FROM allocation"), [(1,)])
        ((own, theirs),) = self.rows("SELECT max(t.tid = p.pid), max(iif(bytes = 100007, t.tid <> p.pid, 0)) FROM allocation a "
                                     "JOIN thread t ON t.id = a.thread_id JOIN process p ON p.id = a.process_id")
        self.assertEqual((own, theirs), (1, 1))


class Processes(Memory):
    def test_a_child_has_its_own(self):
        told = self.record(TARGETS / "memory_calls", "forking")
        images = self.rows("SELECT id FROM process ORDER BY start_ns")
        self.assertEqual(len(images), 3)
        labels = (("parents", "kept"), ("childs", "left"), ("zeroed",))
        for (image,), own in zip(images, labels, strict=True):
            with self.subTest(own):
                self.assert_lives([line for line in told if line[0] in own],
                                  LIVES + f" AND a.process_id = {image} AND a.scope_id IS NOT NULL")

        # No release waits for an allocation that never comes.
        self.assertEqual(self.rows("SELECT count(*) FROM ingest_state WHERE kind = 'early releases'"), [(0,)])

    def test_goes_along_into_programs_that_are_started(self):
        told = self.record("/bin/sh", "-c", f"env -i {TARGETS}/memory_calls each")
        self.assert_lives(told, LIVES + " AND a.scope_id IS NOT NULL")

    def test_nothing_is_there_unless_it_is_asked_for(self):
        maps = ("sh", "-c", "grep -c libsonde_memory /proc/self/maps || true")
        self.assertEqual(self.record(*maps, sources="annotation"), [["0"]])
        self.assertGreater(int(self.record(*maps)[0][0]), 0)
        self.record(TARGETS / "memory_calls", "each", sources="annotation")
        self.assertEqual(self.rows("SELECT count(*) FROM allocation"), [(0,)])

    def test_a_malloc_of_the_programs_own_is_left_alone(self):
        self.record(TARGETS / "memory_own", "100000")
        self.assertEqual(self.rows("SELECT count(*) FROM allocation WHERE bytes = 100000"), [(0,)])
        self.assertEqual(self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'memory'"),
                         [("not malloc: the program has one of its own",)])

    def test_a_malloc_that_is_preloaded_is_seen(self):
        preload = {"LD_PRELOAD": str(TARGETS / "libmemory_other.so")}
        told = self.record(TARGETS / "memory_calls", "each", env=preload)
        self.assert_lives(told, LIVES + " AND a.scope_id IS NOT NULL")

    def test_what_recording_itself_takes_is_nobodys(self):
        # Values of keys past 32 are in memory that a thread allocates at its first such key: within malloc, if that is recorded.
        preload = {"LD_PRELOAD": str(TARGETS / "libmemory_other.so")}
        self.record(TARGETS / "memory_exchange", 8, 100, env=preload, more=("--memory-threshold", "1"))
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        ((threads, blocks),) = self.rows(f"SELECT count(DISTINCT thread_id), count(*) FROM allocation WHERE {EXCHANGED}")
        self.assertEqual((threads, blocks), (8, 800))
        self.assertEqual(self.rows("SELECT count(*) FROM allocation a JOIN thread t ON t.id = a.thread_id JOIN process p ON "
                                   "p.id = a.process_id WHERE t.tid <> p.pid AND a.bytes = 512"), [(0,)])

    def test_only_while_it_is_recorded(self):
        told = self.record(TARGETS / "memory_calls", "each", more=("--capture", "range:make malloc"))
        self.assertEqual(self.rows("SELECT bytes FROM allocation WHERE bytes >= 100000"), [(100000,)])
        # Freed when nothing is recorded any more.
        self.assertEqual(self.rows("SELECT free_ns > alloc_ns FROM allocation WHERE scope_id IS NOT NULL"), [(1,)])
        self.assertEqual(len(told), 11)


class Exchange(Memory):
    def assert_exchanged(self, told):
        expected = Counter((int(address), int(size), int(tid), int(end == "given")) for address, size, tid, end in told)
        found = Counter(self.rows("SELECT a.address, a.bytes, t.tid, a.free_ns IS NOT NULL FROM allocation a JOIN thread t ON "
                                  f"t.id = a.thread_id WHERE a.{EXCHANGED}"))
        self.assertEqual(found - expected, Counter())
        self.assertEqual(expected - found, Counter())

    def assert_apart(self):
        """No page belongs to two blocks at once."""
        events = []
        for number, (address, size, begin, end) in enumerate(self.rows("SELECT address, bytes, alloc_ns, free_ns FROM allocation")):
            events.append((begin, 1, number, address, size))
            if end is not None:
                events.append((end, 0, number, address, size))
        pages = {}
        for _, begins, number, address, size in sorted(events):
            for page in range(address >> 12, (address + size) >> 12):
                if begins:
                    self.assertIsNone(pages.get(page), (number, pages.get(page)))
                    pages[page] = number
                elif pages.get(page) == number:
                    del pages[page]


class Threads(Exchange):
    def test_give_back_what_others_have_allocated(self):
        told = self.record(TARGETS / "memory_exchange", 16, 4000)
        self.assertEqual(len(told), 64000)
        self.assert_exchanged(told)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        self.assert_apart()
        # The maximum at one time, which the program limits with its 64 places and 16 hands.
        ((peak,),) = self.rows("SELECT max(live) FROM (SELECT sum(d) OVER (ORDER BY ns, d) AS live FROM (SELECT alloc_ns AS ns, "
                               f"1 AS d FROM allocation WHERE {EXCHANGED} UNION ALL SELECT free_ns, -1 FROM allocation WHERE "
                               f"free_ns IS NOT NULL AND {EXCHANGED}))")
        self.assertLessEqual(peak, 64 + 16)


class AfterAKilledRecorder(Exchange):
    def stored(self):
        try:
            return self.rows(f"SELECT count(*) FROM allocation WHERE {EXCHANGED}", f"{self.output}.part")[0][0]
        except sqlite3.OperationalError:
            return 0  # nothing is stored yet

    def test_what_was_open_is_ended_by_the_next(self):
        go, said = self.folder / "go", self.folder / "said"
        with said.open("w") as to:
            sonde = self.start_sonde(TARGETS / "memory_exchange", 8, 2000, go, options=("--sources", "memory"),
                                     stdout=to, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.stored() == 8000, "half of it is stored")
        ((pid, kept),) = self.rows("SELECT p.pid, sum(a.free_ns IS NULL) FROM process p JOIN allocation a ON a.process_id = p.id "
                                   f"AND a.{EXCHANGED}", f"{self.output}.part")
        self.assertEqual(kept, 64)
        sonde.send_signal(signal.SIGKILL)
        sonde.wait()
        go.touch()
        wait_until(lambda: not alive(pid), "the job has ended")
        self.recover_session()
        half, *told = [line.split() for line in said.read_text().splitlines()]
        self.assertEqual((half, len(told)), (["half"], 16000))
        self.assert_exchanged(told)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])


class Options(Memory):
    def test_what_is_wrong_is_said_before_anything_starts(self):
        for options, words in ((("--memory-threshold", "1MiB"), "give --sources +memory"),
                               (("--sources", "+memory", "--memory-threshold", "0"), "too small"),
                               (("--sources", "+memory", "--memory-threshold", "much"), "much"),
                               (("--sources", "+stack", "--stacks-at", "alloc"), "give --sources +memory"),
                               (("--sources", "+memory", "--stacks-at", "alloc"), "give --sources +stack")):
            with self.subTest(options):
                result = self.run_sonde("true", options=options)
                self.assertEqual(result.returncode, 125)
                self.assertIn(words, result.stderr)

    def test_even_one_byte_may_be_recorded(self):
        self.record(TARGETS / "memory_calls", "small", more=("--memory-threshold", "1"))
        # 100 rounds with each of 16 sizes of malloc, realloc and calloc, plus the program's own allocations.
        ((count, kept),) = self.rows("SELECT count(*), sum(free_ns IS NULL) FROM allocation WHERE bytes = 1")
        self.assertEqual((count, kept), (300, 0))
        self.assertGreaterEqual(self.rows("SELECT count(*) FROM allocation")[0][0], 4800)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])


class Stacks(StackTest):
    def test_an_allocation_has_the_stack_of_its_call(self):
        self.record(TARGETS / "memory_calls", "each", sources="annotation,stack,memory", more=("--stacks-at", "alloc"))
        rows = self.rows("SELECT m.name, n.text FROM allocation a JOIN v_slice m ON m.id = a.scope_id JOIN stack k ON "
                         "k.id = a.stack_id JOIN frame f ON f.id = k.frame_id JOIN string n ON n.id = f.name_id "
                         "ORDER BY a.alloc_ns")
        self.assertEqual(len(rows), 11)
        for scope, leaf in rows:
            call = {"new": "malloc", "kept": "malloc", "reallocarray": "realloc"}.get(scope.split()[1], scope.split()[1])
            self.assertIn(call, leaf)
        self.assertEqual(self.rows("SELECT DISTINCT kind, weight FROM stack_sample WHERE kind <> 'cpu'"), [("event", 0)])

    def test_bytes_are_added_up_by_stack(self):
        self.record(TARGETS / "memory_calls", "each", sources="annotation,stack,memory", more=("--stacks-at", "alloc"))
        truth = self.rows("SELECT sum(bytes) FROM allocation WHERE stack_id IS NOT NULL")[0][0]
        self.assertEqual(sum(size for _, size in self.stacks("--time", "alloc")), truth)
        ((frames, size),) = self.stacks("--time", "alloc", "--operation", "make memalign")
        self.assertEqual((frames[-1], size), ("memalign", 100003))
        self.assertIn("each", " ".join(frames))
        self.record(TARGETS / "memory_calls", "each", sources="annotation,stack,memory")
        self.assertIn("--stacks-at alloc", self.stacks("--time", "alloc", status=3))


if __name__ == "__main__":
    unittest.main()
