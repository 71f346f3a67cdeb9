"""What of CUDA's work is in a trace that was recorded in part: what was launched while recording was on, whenever it ran."""
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest

from calibrate_support import bits, mask_of
from cuda_support import VARIANTS, CudaTest, folder_of
from run_support import PATIENCE, SONDE, TARGETS, alive, kill_quietly, wait_until


class ToldTest(CudaTest):
    def setUp(self):
        super().setUp()
        self.process = None

    def tearDown(self):
        if self.process:
            kill_quietly(self.process.pid)
            self.process.communicate(timeout=PATIENCE)
        super().tearDown()

    def start(self, *options, variant="13", **environment):
        told = ("env", *(f"{name}={value}" for name, value in environment.items()), TARGETS / f"cuda_told{variant}")
        self.environment.update({"SONDE_TEST_CLOCK": "0,0", "LD_LIBRARY_PATH": str(folder_of(variant))})
        self.process = self.start_sonde(*told, options=("-f", *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            self.assertEqual(self.process.stdout.readline(), "done\n", line)

    def ctl(self, *words):
        done = subprocess.run([SONDE, "ctl", str(self.process.pid), *words], env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def state(self):
        return json.loads(self.ctl("status", "--format", "json"))["state"]

    def end(self):
        process, self.process = self.process, None
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, said)

    def kernels(self):
        """Each with its scope, if all have a launch."""
        self.assertEqual(self.rows("SELECT name FROM v_kernel WHERE launch_slice_id IS NULL"), [])
        return sorted(self.rows("SELECT name, scope FROM v_kernel"))

    def calls(self, name="cudaLaunchKernel"):
        (count,), = self.rows(f"SELECT count(*) FROM v_slice WHERE name = '{name}'")
        return count

    def assert_nothing_lost(self):
        self.assertEqual(self.rows("SELECT * FROM loss"), [])


# CUPTI delivers calls before the work that they launched, or after it.
ORDERS = ({}, {"CUDASIM_CALLS_LAST": "1"})


class Paused(ToldTest):
    def pause_and_resume(self, **how):
        self.start(**how)
        self.tell("begin first", "launch a 20000 1", "hold held 2", "launch queued 20000 2", "allocate kept", "end")
        self.assertEqual(self.ctl("stop"), "paused\n")
        self.tell("begin meanwhile", "launch b 20000 1", "launch queued_meanwhile 20000 2", "free kept", "allocate unseen",
                  "end")
        self.assertEqual(self.ctl("start"), "recording\n")
        self.tell("begin last", "launch c 20000 1", "release", "sync", "end")
        self.end()

    def test_work_is_there_that_was_launched_while_recording_was_on(self):
        for variant in VARIANTS:
            for order in ORDERS:
                with self.subTest(variant=variant, **order):
                    self.pause_and_resume(variant=variant, **order)
                    self.assertEqual(self.kernels(), [("a", "first"), ("c", "last"), ("held", "first"), ("queued", "first")])
                    self.assertEqual(self.calls(), 4)
                    self.assert_nothing_lost()

    def test_more_work_than_may_wait_for_its_calls_loses_nothing(self):
        for order in ORDERS:
            with self.subTest(**order):
                self.start("--cuda-graphs", "node", **order)
                self.tell("launch a 20000 1")
                self.ctl("stop")
                self.ctl("start")
                # One call has a thousand kernels, and comes after 30,000 of them.
                self.tell("begin step", "graph 30 1000 g 100", "launch c 20000 1", "sync", "end")
                self.end()
                self.assertEqual(self.rows("SELECT name, scope, count(*) FROM v_kernel GROUP BY 1, 2"),
                                 [("a", None, 1), ("c", "step", 1), ("g", "step", 30000)])
                self.assert_nothing_lost()

    def test_memory_that_is_freed_meanwhile_is_known_to_be(self):
        self.pause_and_resume()
        self.assertEqual(self.rows("SELECT count(*), count(free_ns) FROM allocation WHERE bytes = 4096"), [(1, 1)])
        self.assertEqual((self.calls("cudaMalloc"), self.calls("cudaFree")), (1, 0))

    def test_waits_of_that_time_are_not_there(self):
        self.start()
        self.tell("launch a 20000 1", "sync")
        self.ctl("stop")
        self.tell("launch b 20000 1", "sync")
        self.end()
        self.assertEqual(self.rows("SELECT count(*) FROM sync WHERE kind = 'context'"), [(1,)])
        self.assertEqual(self.calls("cudaDeviceSynchronize"), 1)

    def test_an_operation_that_was_open_all_the_time_is_the_scope_before_and_after_it(self):
        self.start()
        self.tell("begin long", "launch a 20000 1")
        self.ctl("stop")
        self.tell("launch b 20000 1")
        self.ctl("start")
        self.tell("launch c 20000 1", "sync", "end")
        self.end()
        self.assertEqual(self.kernels(), [("a", "long"), ("c", "long")])

    def test_an_operation_that_spans_the_time_of_recording_is_the_scope_in_it(self):
        self.start("--delay", "1000h")
        self.tell("begin long")
        self.ctl("start")
        self.tell("launch a 20000 1")
        self.ctl("stop")
        self.tell("end", "sync")
        self.end()
        self.assertEqual(self.kernels(), [("a", "long")])


class Delay(ToldTest):
    def test_what_was_launched_before_its_end_is_not_there(self):
        for order in ORDERS:
            with self.subTest(**order):
                self.start("--delay", "1500ms", **order)
                self.tell("launch early 20000 1", "hold held 2", "launch queued 20000 2")
                self.assertEqual(self.state(), "paused", "the delay was too short for this machine")
                wait_until(lambda: self.state() == "recording", "the delay is over")
                self.tell("release", "launch late 20000 1", "sync")
                self.end()
                self.assertEqual(self.kernels(), [("late", None)])
                self.assertEqual(self.calls(), 1)
                self.assert_nothing_lost()


class Iterations(ToldTest):
    def record(self, rule, **how):
        """Ten iterations, each of which runs when the next one has begun."""
        self.start("--capture", rule, **how)
        self.tell("hold held0 1")
        for number in range(10):
            self.tell("iteration train", "begin forward", f"launch k{number} 20000 1", "end", "end")
        self.tell("release", "sync")
        self.end()

    def check(self, rule, numbers):
        for order in ORDERS:
            with self.subTest(rule=rule, **order):
                self.record(rule, **order)
                named = [row for row in self.kernels() if row[0] != "held0"]
                self.assertEqual(named, [(f"k{number}", "forward") for number in numbers])
                self.assertEqual(self.rows("SELECT count(*) FROM v_kernel k JOIN v_slice l ON l.id = k.launch_slice_id JOIN "
                                           "v_slice f ON f.id = l.parent_id WHERE f.name = 'forward'"), [(len(numbers),)])
                self.assertEqual(self.rows("SELECT number FROM iteration WHERE probe_mask <> 0 ORDER BY 1"),
                                 [(number,) for number in numbers])
                self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM iteration"), [(10, 10)])
                self.assert_nothing_lost()

    def test_by_number_are_those_that_launched_it(self):
        self.check("iterations:3-4", [3, 4])

    def test_every_so_many_are_those_that_launched_it(self):
        self.check("every:4", [0, 4, 8])

    def test_of_a_range_have_what_was_launched_in_it(self):
        self.start("--capture", "range:special")
        self.tell("launch before 20000 1", "begin special", "launch inside 20000 1", "end", "launch after 20000 1", "sync")
        self.end()
        self.assertEqual(self.kernels(), [("inside", "special")])


class Calibrated(ToldTest):
    """Probes are switched: CUPTI is not, so what it hands over is judged by its own time."""
    BLOCK = 5
    COUNT = 41 * BLOCK

    def test_iterations_without_the_probe_have_none_of_its_work(self):
        asked = ("annotation", "cuda", "net")
        on = [number for number in range(self.COUNT) if mask_of(number, self.BLOCK, asked) & bits("cuda")]
        for order in ORDERS:
            with self.subTest(**order):
                self.start(f"--calibrate={self.BLOCK}", "--sources", ",".join(asked), **order)
                self.tell("hold held0 1")  # each runs when the next iterations have begun
                for number in range(self.COUNT):
                    self.tell("iteration train", "begin forward", f"launch k{number:03} 20000 1", "end", "end")
                    if number % 50 == 49:
                        self.tell("release", "sync", "hold held0 1")
                self.tell("release", "sync")
                self.end()
                self.assertEqual([row for row in self.kernels() if row[0] != "held0"],
                                 [(f"k{number:03}", "forward") for number in on])
                self.assertEqual(self.rows("SELECT number, probe_mask FROM iteration ORDER BY 1"),
                                 [(number, mask_of(number, self.BLOCK, asked)) for number in range(self.COUNT)])
                self.assert_nothing_lost()


class Size(ToldTest):
    EACH = 200  # kernels of an iteration
    COUNT = 1000

    def stored(self):
        try:
            return self.rows("SELECT count(*) FROM iteration", f"{self.output}.part")[0][0]
        except sqlite3.OperationalError:  # not there yet, or just being written
            return 0

    def test_of_a_long_job_iterations_are_in_full_or_in_outline(self):
        self.start("--max-size", "24MiB", "--sources", "annotation,cuda")
        for number in range(self.COUNT):
            self.tell("iteration train", f"launches {self.EACH} k 1000 1", "end")
            if number % 50 == 49:
                # A recorder that lags behind cannot reduce recording in time.
                wait_until(lambda: self.stored() > number, f"iteration {number} is in the trace")
        self.tell("sync")
        self.end()
        self.assertLessEqual(self.output.stat().st_size, 24 << 20)
        self.assertEqual(self.rows("SELECT count(*), count(dur_ns) FROM iteration"), [(self.COUNT, self.COUNT)])
        self.assert_nothing_lost()
        (full,), = self.rows("SELECT count(*) FROM iteration WHERE probe_mask <> 0")
        self.assertGreater(full, 50)
        self.assertLess(full, self.COUNT)
        self.assertEqual(self.rows("SELECT i.probe_mask <> 0, kernels, count(*) FROM iteration i JOIN (SELECT i.id, count(*) "
                                   "AS kernels FROM iteration i JOIN slice l ON l.start_ns BETWEEN i.start_ns AND i.start_ns + "
                                   "i.dur_ns JOIN kernel k ON k.launch_slice_id = l.id GROUP BY 1) USING (id) GROUP BY 1, 2"),
                         [(1, self.EACH, full)])
        self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(full * self.EACH,)])
        self.assertEqual(self.calls(), full * self.EACH)


class FlightRecorder(ToldTest):
    def dump_until(self, kernels):
        """Dumps until one has these kernels. Their few records fill no buffer of CUPTI's."""
        def has():
            dump = self.ctl("dump").strip().removeprefix("wrote ")
            return self.rows("SELECT name FROM v_kernel ORDER BY start_ns", dump) == [(name,) for name in kernels]
        wait_until(has, f"a dump has {kernels}")

    def test_dumps_have_what_fills_no_buffer(self):
        self.start("--last", "30s")
        self.tell("launch a 20000 1", "sync")
        self.dump_until(["a"])
        self.tell("launch b 20000 1", "sync")
        self.dump_until(["a", "b"])
        self.end()
        self.assertEqual(self.kernels(), [("a", None), ("b", None)])
        self.assert_nothing_lost()
        self.assertEqual(self.rows("SELECT count(*) FROM thread WHERE name = 'sonde-cuda'"), [(1,)])

    def crash(self):
        self.start("--last", "30s")
        self.tell("begin step", "launch a 20000 1", "sync")
        self.dump_until(["a"])
        self.tell("launch b 20000 1")

    def assert_has_its_end(self, status):
        """All but the work that CUPTI held, which counts as lost."""
        process, self.process = self.process, None
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status)
        self.assertEqual(self.kernels()[:1], [("a", "step")])
        if len(self.kernels()) == 1:
            self.assertEqual(self.rows("SELECT probe, reason, count FROM loss"), [("cuda", "tracer", 1)])

    def test_after_a_crash_the_trace_has_what_was_told_before(self):
        self.crash()
        self.process.stdin.write("crash\n")
        self.process.stdin.flush()
        self.assert_has_its_end(-signal.SIGSEGV)

    def test_after_it_was_killed_the_trace_has_what_was_told_before(self):
        self.crash()
        (target,), = self.rows("SELECT DISTINCT pid FROM process", self.folder / "out-1.sonde")
        os.kill(target, signal.SIGKILL)
        self.assert_has_its_end(-signal.SIGKILL)

    def test_after_the_recorder_was_killed_too_recover_has_what_was_told_before(self):
        self.crash()
        (target,), = self.rows("SELECT DISTINCT pid FROM process", self.folder / "out-1.sonde")
        self.process.kill()
        self.process.wait()
        os.kill(target, signal.SIGKILL)
        wait_until(lambda: not alive(target), "the job is dead")
        self.recover_session()
        self.assert_has_its_end(-signal.SIGKILL)

    def test_only_a_flight_recorder_begins_a_thread(self):
        self.start()
        self.tell("launch a 20000 1", "sync")
        self.end()
        self.assertEqual(self.rows("SELECT count(*) FROM thread WHERE name = 'sonde-cuda'"), [(0,)])


if __name__ == "__main__":
    unittest.main()
