"""Probe stack: a program with a known call tree gets it back, whatever it is built and loaded like, and none is harmed."""
import os
import re
import subprocess
import unittest
from collections import Counter
from xml.etree import ElementTree

from python_support import PYTHON
from run_support import SLOW, SONDE, TARGETS, slow
from stack_support import StackTest

SECONDS = float(os.environ.get("SONDE_STACK_SECONDS", 0.5 if SLOW else 0.25))  # of CPU time, each of 16 threads


def in_full(path):
    """descend*6 → descend;descend;…"""
    return re.sub(r"(\w+)\*(\d+)", lambda m: ";".join([m[1]] * int(m[2])), path)


class CallTree(StackTest):
    def truth_of(self, lines):
        words = [line.split() for line in lines]
        return ({in_full(path): int(ns) for kind, path, ns in words if kind == "path"},
                {name: int(at, 16) for kind, name, at in words if kind == "at"})

    def test_is_that_of_the_program(self):
        lines = self.record(TARGETS / "stack_tree", 16, SECONDS, TARGETS / "libstack_plugin.so")
        truth, _ = self.truth_of(lines)
        self.assertEqual(len(truth), 18)
        found, elsewhere = Counter(), 0
        for frames, ns in self.stacks():
            folded = ";".join(frames).replace("(anonymous namespace)::measured(void (*)(long), long)", "measured")
            before, _, below = folded.partition(";threadBody;")
            self.assertTrue(before.startswith("clone3;start_thread;") or not below, folded)
            below = below.removesuffix(";plugged_inner")
            found[below] += ns / 4_000_000
        elsewhere = sum(found.pop(path) for path in list(found) if path not in truth)
        self.assert_shares(found, truth)
        self.assertLess(elsewhere / sum(found.values()), 0.03, "not in a path that is known")
        ((weight, threads),) = self.rows("SELECT sum(weight), count(DISTINCT thread_id) FROM stack_sample")
        self.assertIn(threads, (16, 17), "perhaps also the main one")
        self.assertLess(abs(weight / sum(truth.values()) - 1), 0.1, "CPU time that the samples stand for")
        self.assert_hardly_truncated()
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_has_files_and_build_ids(self):
        self.record(TARGETS / "stack_tree", 2, 0.5, TARGETS / "libstack_plugin.so")
        names = dict(self.rows("SELECT DISTINCT n.text, p.text FROM frame f JOIN string n ON n.id = f.name_id JOIN string p ON "
                               "p.id = f.path_id"))
        self.assertEqual(names["leafOne"], str((TARGETS / "stack_tree").resolve()))
        self.assertEqual(names["plugged_inner"], str((TARGETS / "libstack_plugin.so").resolve()))
        told = subprocess.run(["readelf", "-n", TARGETS / "stack_tree"], capture_output=True, text=True).stdout
        build_id = re.search(r"Build ID: (\w+)", told)[1]
        query = "SELECT DISTINCT f.build_id FROM frame f JOIN string n ON n.id = f.name_id WHERE n.text = 'leafOne'"
        self.assertEqual(self.rows(query), [(build_id,)])
        query = "SELECT DISTINCT m.build_id FROM mapping m JOIN string s ON s.id = m.path_id WHERE s.text GLOB '*/stack_tree'"
        self.assertEqual(self.rows(query), [(build_id,)])

    def test_of_a_stripped_program_is_known_by_addresses(self):
        stripped = self.folder / "bare"
        subprocess.run(["strip", "--strip-all", "-o", stripped, TARGETS / "stack_tree"], check=True)
        truth, places = self.truth_of(self.record(stripped, 4, 1))
        names = {name: f"bare+{at:#x}" for name, at in places.items()}
        found = Counter()
        for frames, ns in self.stacks():
            for name in ("leafOne", "leafTwo"):
                found[name] += ns / 4_000_000 * (frames[-1] == names[name])
            if frames[-1] not in (names["leafOne"], names["leafTwo"]):
                continue  # on its way to one
            if names["middleOne"] in frames:
                self.assertRegex(frames[frames.index(names["middleOne"]) + 1], r"bare\+0x")
            self.assertIn(frames.count(names["descend"]), (0, 6))
        self.assert_shares(found, {name: sum(ns for path, ns in truth.items() if path.endswith(name)) for name in found})

    def test_nothing_is_sampled_without_the_probe(self):
        self.record(TARGETS / "stack_tree", 2, 0.2, sources="annotation")
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM stack_sample), (SELECT count(*) FROM mapping)"), [(0, 0)])
        maps = ("grep", "-c", "libsonde_stack", "/proc/self/maps")
        self.assertEqual(self.record(*maps, sources="annotation", status=1), ["0"])

    def test_a_thread_that_sleeps_has_no_samples(self):
        self.record("sleep", 1)
        self.assertLess(self.rows("SELECT count(*) FROM stack_sample")[0][0], 5)
        self.assertGreater(self.rows("SELECT count(*) FROM mapping")[0][0], 0, "the probe was there")

    def test_the_rate_is_that_which_is_asked_for(self):
        for rate, seconds in ((20, 2), (100, 2)) if SLOW else ((100, 1),):
            with self.subTest(rate):
                truth, _ = self.truth_of(self.record(TARGETS / "stack_tree", 2, seconds, rate=str(rate)))
                ((count, ns),) = self.rows("SELECT count(*), sum(weight) FROM stack_sample")
                # On a busy machine a sample may come late, and represent two.
                self.assertLess(abs(ns / sum(truth.values()) - 1), 0.1)
                self.assertLessEqual(count, ns / 1e9 * rate + 1)
                self.assertGreater(count, ns / 1e9 * rate / 10)


    def test_a_rate_past_the_kernels_tick_is_reached_where_it_is_allowed(self):
        truth, _ = self.truth_of(self.record(TARGETS / "stack_tree", 2, 1, TARGETS / "libstack_plugin.so", rate="5000"))
        # On a busy machine the recorder, which yields to all others, may not fetch all samples.
        ((count, ns, lost),) = self.rows("SELECT count(*), sum(weight), (SELECT ifnull(sum(count), 0) FROM loss WHERE"
                                         " probe = 'stack') FROM stack_sample WHERE thread_id IN (SELECT t.id FROM thread t JOIN"
                                         " process p ON p.id = t.process_id WHERE t.tid <> p.pid)")  # those that are measured
        self.assertLess(abs((ns + lost * 200_000) / sum(truth.values()) - 1), 0.08, lost)
        said = [text for (text,) in self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'stack'")]
        if said:
            self.assertIn("perf_event_paranoid", said[0])
        else:
            self.assertGreater(count + lost, ns / 1e9 * 2500)
            self.assertLess(count, ns / 1e9 * 5000 * 1.05)

    @slow
    def test_the_recorder_keeps_up_where_all_processors_are_busy(self):
        self.record(TARGETS / "stack_tree", 16 * os.cpu_count(), 0.5, TARGETS / "libstack_plugin.so", more=("--spool-limit", "16MiB"))
        ((count, lost),) = self.rows("SELECT count(*), (SELECT ifnull(sum(count), 0) FROM loss WHERE probe = 'stack') FROM stack_sample")
        self.assertGreater(count, 1500)
        self.assertLess(lost, count / 2)  # where the recorder gives way as far as it can, five times as many as are kept

    def test_time_in_the_kernel_is_that_of_who_called_it(self):
        for rate in ("99", "1000", "5000") if SLOW else ("1000",):
            with self.subTest(rate):
                lines = self.record(TARGETS / "stack_kernel", 3, rate=rate)
                truth = {name: int(ns) for name, ns in (line.split() for line in lines)}
                found = Counter()
                for frames, ns in self.stacks():
                    for name in truth:
                        found[name] += ns * (name in frames)
                self.assertLess(abs(sum(found.values()) / sum(truth.values()) - 1), 0.15, (found, truth))
                for name, ns in truth.items():  # 99 ticks a second are some 300 samples
                    off = found[name] / sum(found.values()) - ns / sum(truth.values())
                    self.assertLess(abs(off), 0.12, (name, found, truth))

    def test_a_thread_whose_event_the_program_has_closed_is_sampled_by_ticks(self):
        program = ("import os, time\n"
                   "os.closerange(3, 4096)\n"
                   "def compute(until):\n"
                   "  while time.thread_time() < until: sum(range(1000))\n"
                   "def ask(until):\n"
                   "  while time.thread_time() < until:\n"
                   "    for _ in range(100): os.getppid()\n"
                   "for turn in range(1, 3): compute(turn - 0.5); ask(turn)\n")
        self.record(PYTHON, "-c", program, rate="1000")
        found = Counter()
        for frames, ns in self.stacks():
            for name in ("compute", "ask"):
                found[name] += ns * any(frame.startswith(name + " ") for frame in frames)
        for name, ns in found.items():
            self.assertLess(abs(ns / 1e9 - 1), 0.15, found)

    def test_descriptors_are_the_programs_own_again(self):
        program = ("import os, signal, threading, time\n"
                   "def burn(): sum(range(300_000))\n"
                   "def run():\n"
                   "  thread = threading.Thread(target=burn); thread.start(); thread.join()\n"
                   "def few():\n"  # threads that have been joined may be on their last steps
                   "  for _ in range(1000):\n"
                   "    if len(os.listdir('/proc/self/fd')) <= held: return True\n"
                   "    time.sleep(0.01)\n"
                   "run()\n"
                   "time.sleep(0.2)\n"
                   "held = len(os.listdir('/proc/self/fd'))\n"
                   "for _ in range(20): run()\n"
                   "burn()\n"
                   "if os.fork() == 0:\n"
                   "  burn(); print(few(), flush=True); os._exit(0)\n"
                   "os.wait()\n"
                   "os.closerange(3, 4096)\n"
                   "burn()\n"
                   "file = os.dup2(2, 400)\n"  # where the thread's own event was
                   "run()\n"
                   "signal.signal(signal.SIGURG, signal.SIG_IGN)\n"  # ends all events
                   "print(few(), os.fstat(400).st_ino == os.fstat(2).st_ino)\n")
        lines = self.record(PYTHON, "-c", program, rate="2000")
        self.assertEqual(lines, ["True", "True True"])


class Verb(StackTest):
    """sonde stacks"""

    def setUp(self):
        super().setUp()
        self.record(TARGETS / "stack_tree", 2, 0.5)

    def test_refuses_what_is_not_there(self):
        for options, status, said in ((("--operation", "forward"), 2, "no operation 'forward'"), (("--rank", "3"), 2, "no rank 3"),
                                      (("--iterations", "3-1"), 2, "'3-1' is not a range"), (("--iterations", "1-3"), 2, "no iteration"),
                                      (("--format", "png"), 2, "png"), (("-o", self.output), 2, "would overwrite the input")):
            with self.subTest(options):
                self.assertIn(said, self.stacks(*map(str, options), status=status))
        self.record(TARGETS / "stack_tree", 1, 0.1, sources="annotation")
        self.assertIn("sonde run --sources +stack", self.stacks(status=3))

    def test_a_picture_is_a_file_that_others_read(self):
        picture = self.folder / "a.svg"
        self.stacks("--format", "svg", "-o", str(picture))
        names = {group.get("data-t") for group in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}g")}
        self.assertLess({"leafOne", "leafTwo", "threadBody", "clone3"}, {name.partition("(")[0] for name in names})
        self.assertIn("exists", self.stacks("--format", "svg", "-o", str(picture), status=2))
        self.stacks("-f", "-o", str(picture))
        self.assertIn(";leafOne ", picture.read_text())

    def test_threads_can_be_told_apart(self):
        whole, apart = self.stacks(), self.stacks("--threads")
        self.assertEqual(sum(ns for _, ns in whole), sum(ns for _, ns in apart))
        self.assertIn(len({frames[0] for frames, _ in apart}), (2, 3))
        self.assertEqual({tuple(frames[1:]) for frames, _ in apart}, {tuple(frames) for frames, _ in whole})

    def test_merged_traces_have_the_stacks_of_all(self):
        ranks = [self.folder / f"rank{rank}.sonde" for rank in range(2)]
        runs = []
        for rank, path in enumerate(ranks):
            self.environment.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
            runs.append(self.start_sonde(TARGETS / "stack_tree", 1, 0.3 + rank * 0.3, output=False, stdout=subprocess.DEVNULL,
                                         options=("-o", str(path), "--sources", "stack")))
        for run in runs:
            self.assertEqual(run.wait(), 0, run.stderr.read())
            run.stderr.close()
        for rank in range(2):
            alone = subprocess.run([SONDE, "stacks", ranks[rank]], capture_output=True, text=True).stdout
            both = subprocess.run([SONDE, "stacks", *ranks, "--rank", str(rank)], capture_output=True, text=True).stdout
            self.assertEqual(alone, both)
            self.assertTrue(alone.startswith(f"rank {rank};"), alone[:80])

    def test_an_operation_has_its_own_stacks(self):
        script = ("import sonde, zlib\ndata = bytes(10 ** 6)\ndef one(): sum(range(300000))\ndef two(): zlib.crc32(data)\n"
                  "for number in range(8):\n  with sonde.iteration(number):\n"
                  "    with sonde.operation('first'):\n      for _ in range(10): one()\n"
                  "    with sonde.operation('second'):\n      for _ in range(60): two()\n")
        self.record("/usr/bin/python3", "-c", script, sources="annotation,stack")
        times = {name: sum(ns for _, ns in self.stacks("--operation", name)) for name in ("first", "second")}
        spent = dict(self.rows("SELECT name, sum(dur_ns) FROM v_slice WHERE kind = 'operation' GROUP BY 1"))
        for name, function in (("first", "one"), ("second", "two")):
            stacks = self.stacks("--operation", name)
            inside = sum(ns for frames, ns in stacks if any(frame.startswith(f"{function} (") for frame in frames))
            self.assertGreater(inside / times[name], 0.9)
            self.assertLess(times[name] / spent[name], 1.5)
            some = sum(ns for _, ns in self.stacks("--operation", name, "--iterations", "0-3"))
            self.assertLess(some, times[name])


class Harmless(StackTest):
    def both(self, case, program="stack_harmless"):
        alone = subprocess.run([TARGETS / program, case], capture_output=True, text=True, timeout=60)
        self.assertEqual(alone.returncode, 0, alone.stdout)
        self.assertEqual(self.record(TARGETS / program, case, sources="stack,sync,net,io", more=("--stack-mode", "wall")),
                         alone.stdout.splitlines())
        for rate in ("99", "1000") if SLOW else ("1000",):  # by timers, and by perf events where these are allowed
            self.assertEqual(self.record(TARGETS / program, case, rate=rate), alone.stdout.splitlines())

    def test_exceptions_are_caught(self):
        self.both("exceptions")
        self.assertGreater(self.samples(), 30)

    def test_a_profiler_of_its_own(self):
        self.both("profiler")
        self.assertGreater(self.samples(), 30)

    def test_faults_and_jumps_out_of_handlers(self):
        self.both("jumps")
        self.assertGreater(self.samples(), 30)

    def test_forked_and_replaced_processes(self):
        self.both("forks")
        children = self.rows("SELECT count(DISTINCT t.process_id) FROM stack_sample x JOIN thread t ON t.id = x.thread_id")
        self.assertGreater(children[0][0], 3)
        self.assertGreater(self.samples(), 30)

    def test_children_of_vfork(self):
        self.both("vforks")
        self.assertEqual(self.facts(), [])
        ((main, other),) = self.rows("SELECT sum(x.weight * (t.tid = p.pid)), sum(x.weight * (t.tid <> p.pid)) FROM stack_sample x"
                                     " JOIN thread t ON t.id = x.thread_id JOIN process p ON p.id = t.process_id"
                                     " WHERE p.command LIKE '%harmless%'")
        self.assertGreater(main, 0.25e9)
        self.assertGreater(other, 0.25e9)

    def test_blocking_calls_are_not_interrupted(self):
        self.both("blocking")
        self.assertGreater(self.samples(), 30)

    def test_its_own_use_of_the_signal(self):
        self.both("urgent")
        self.assertEqual(self.facts(), [("ended: the program has a use of its own for SIGURG",)])
        self.assertGreater(self.samples(), 0)

    def test_threads_that_let_no_signal_in(self):
        self.both("masks")

    def test_its_own_wait_for_the_signal(self):
        self.both("waits")
        self.assertEqual(self.facts(), [("ended: the program has a use of its own for SIGURG",)])

    def test_a_child_that_nobody_told_of(self):
        self.both("clones")
        ((main, other),) = self.rows("SELECT sum(x.weight * (t.tid = p.pid)), sum(x.weight * (t.tid <> p.pid)) FROM stack_sample x"
                                     " JOIN thread t ON t.id = x.thread_id JOIN process p ON p.id = t.process_id"
                                     " WHERE p.parent_id IS NULL")
        self.assertGreater(other, 0.25e9, "the parent's threads go on")

    def test_threads_that_come_and_go(self):
        self.both("briefs")
        ((weight,),) = self.rows("SELECT sum(weight) FROM stack_sample")
        self.assertGreater(weight, 0.85 * 2e9)

    def test_a_child_that_may_make_no_system_calls(self):
        self.both("filter", "stack_confined")
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name = 'seccomp filter'"), [(1,)])

    def test_threads_begin_without_malloc(self):
        self.both("mallocs", "stack_confined")

    def test_one_that_ignores_the_signal_from_the_beginning(self):
        self.record("sh", "-c", "trap '' URG; exec " + str(TARGETS / "stack_tree") + " 1 0.1")
        self.assertIn(("off: the program was started with SIGURG ignored",), self.facts())


if __name__ == "__main__":
    unittest.main()
