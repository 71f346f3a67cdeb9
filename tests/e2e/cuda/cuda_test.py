"""The CUDA probe on the simulated device: each row is what the device did, to the nanosecond."""
import json
import signal
import subprocess
import sys
import unittest

from cuda_support import COPIES, MIXED, VARIANTS, CudaTest, folder_of
from run_support import SONDE, TARGETS, wait_until

# Iterations in which recording takes a good part of the time.
SETS = """
import ctypes, sonde
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(memory), 4096) == 0
for number in range(200):
    with sonde.iteration(number):
        for _ in range(200):
            runtime.cudaMemsetAsync(memory, 0, 4096, None)
        runtime.cudaDeviceSynchronize()
"""
SYNC_KINDS = {1: "event", 2: "wait", 3: "stream", 4: "context"}


class Rows(CudaTest):
    """Two devices, four streams each."""

    def check_device_work(self):
        epoch = self.epoch()
        kernels = self.rows("SELECT name, device, stream, start_ns, dur_ns, correlation_id, grid_x, grid_y, grid_z, "
                            "block_x, block_y, block_z, coalesce(graph_node_id, 0) FROM v_kernel")
        names = {"_Z4gemmIfEvPT_i": "void gemm<float>(float*, int)"}
        self.assert_same(kernels, [
            (names.get(line["name"], line["name"]), line["device"], line["stream"], line["start"] + epoch,
             line["end"] - line["start"], line["correlation"], *line["grid"], *line["block"], line.get("graph_node", 0))
            for line in self.happened("kernel")], "kernels")
        copies = self.rows("SELECT device, stream, start_ns, dur_ns, correlation_id, bytes FROM v_copy")
        self.assert_same(copies, [
            (line["device"], line["stream"], line["start"] + epoch, line["end"] - line["start"], line["correlation"],
             line["bytes"]) for line in self.happened(*COPIES)], "copies")
        return kernels

    def check_calls(self):
        epoch = self.epoch()
        calls = self.rows("SELECT s.name, t.tid, s.start_ns, s.dur_ns, s.correlation_id FROM v_slice s JOIN thread t "
                          "ON t.id = s.thread_id WHERE s.category IN ('cuda_runtime', 'cuda_driver')")
        self.assert_same(calls, [
            (line["name"], line["thread"], line["start"] + epoch, line["end"] - line["start"], line["correlation"])
            for line in self.happened("runtime", "driver")], "calls")

    def check_waits(self):
        epoch = self.epoch()
        syncs = self.rows("SELECT y.kind, r.number, y.start_ns, y.dur_ns, y.correlation_id FROM sync y LEFT JOIN "
                          "stream r ON r.id = y.stream_id WHERE y.kind <> 'record'")
        self.assertEqual(len(syncs), len(self.happened("synchronization")))
        truth = [(SYNC_KINDS[line["type"]], line["start"] + epoch, line["end"] - line["start"], line["correlation"])
                 for line in self.happened("synchronization")]
        self.assert_same([(kind, *rest) for kind, _, *rest in syncs], truth, "waits")
        waits = self.rows("SELECT w.kind, w.event_id = r.event_id FROM sync w JOIN sync r ON r.id = w.waits_for_id "
                          "WHERE w.kind IN ('wait', 'event') AND r.kind = 'record' AND r.start_ns <= w.start_ns")
        self.assertEqual(sorted(waits), [("event", 1), ("wait", 1)])

    def test_are_what_the_devices_did(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script(MIXED, variant, options=("--cuda-graphs", "node"))
                kernels = self.check_device_work()
                self.check_calls()
                self.check_waits()
                self.assertEqual(len({stream for _, device, stream, *_ in kernels if device == 1}), 4)
                self.assertEqual(self.rows("SELECT * FROM loss"), [])
                self.assertEqual(self.rows("SELECT count(*) FROM kernel WHERE launch_slice_id IS NULL"), [(0,)])

    def test_a_graph_is_one_unless_its_nodes_are_asked_for(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("graph nodes=3 ns=10000 stream=2 launches=2\nsync\n", variant)
                epoch = self.epoch()
                graphs = self.rows("SELECT k.name, k.start_ns, k.dur_ns, k.graph_id, k.graph_node_id, s.name FROM "
                                   "v_kernel k JOIN v_slice s ON s.id = k.launch_slice_id")
                self.assert_same(graphs, [("CUDA graph", line["start"] + epoch, line["end"] - line["start"],
                                           line["graph"], None, "cudaGraphLaunch")
                                          for line in self.happened("graph_trace")], "graphs")

    def test_copies_have_their_memories_and_the_other_device(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("copy kind=htod bytes=4096 stream=1\ncopy kind=dtod bytes=1024 stream=1\npeer to=1 bytes=2048 "
                            "stream=1\ncopy kind=dtoh bytes=512 sync=1\nset bytes=256 stream=1\nsync\n", variant)
                self.assertEqual(
                    self.rows("SELECT v.kind, v.name, v.bytes, v.device, c.pinned, d.ordinal FROM v_copy v JOIN copy c ON "
                              "c.id = v.id LEFT JOIN device d ON d.id = c.peer_device_id ORDER BY v.bytes DESC"),
                    [("host_to_device", "Memcpy HtoD (Pinned -> Device)", 4096, 0, 1, None),
                     ("peer_to_peer", "Memcpy PtoP (Device -> Device)", 2048, 0, None, 1),
                     ("device_to_device", "Memcpy DtoD (Device -> Device)", 1024, 0, None, None),
                     ("device_to_host", "Memcpy DtoH (Device -> Pinned)", 512, 0, 1, None),
                     ("set", "Memset (Device)", 256, 0, None, None)])

    def test_overlap_of_streams_is_kept(self):
        self.script(MIXED)
        overlapping = self.rows("SELECT count(*) FROM kernel a JOIN kernel b ON a.stream_id < b.stream_id AND a.start_ns"
                                " < b.start_ns + b.dur_ns AND b.start_ns < a.start_ns + a.dur_ns")
        self.assertGreater(overlapping[0][0], 0)

    def test_memory_is_allocated_and_freed(self):
        self.script(MIXED)
        epoch = self.epoch()
        truth = self.happened("memory2")
        opened = [line["start"] + epoch for line in truth if line.get("type") == 1]
        rows = self.rows("SELECT alloc_ns, bytes FROM allocation")
        self.assertEqual(sorted(ns for ns, _ in rows), sorted(opened))
        self.assertIn((1048576,), self.rows("SELECT bytes FROM allocation WHERE free_ns > alloc_ns"))

    def test_devices_have_names_and_memory(self):
        self.script(MIXED)
        devices = self.rows("SELECT ordinal, name IS NOT NULL, uuid LIKE 'GPU-%', memory_bytes > 0 FROM device")
        self.assertEqual(sorted(devices), [(0, 1, 1, 1), (1, 1, 1, 1)])


class Scopes(CudaTest):
    def test_work_that_was_handed_over_lies_in_the_scope_of_who_gave_it(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.record(TARGETS / f"cuda_handed{variant}", variant=variant, options=("--sources", "+sync"))
                self.assertEqual(self.rows("SELECT name, scope FROM v_kernel ORDER BY start_ns"),
                                 [("handed", "step"), ("unscoped", None)])
                self.assertEqual(self.rows("SELECT scope, scope_how, count(*) FROM v_slice WHERE name = 'cudaLaunchKernel' "
                                           "GROUP BY 1, 2 ORDER BY 1"), [(None, "none", 1), ("step", "inherited", 1)])

    def test_are_those_of_the_launches(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.record(TARGETS / f"cuda_annotated{variant}", variant=variant, options=("--cuda-graphs", "node"))
                rows = self.rows("SELECT k.name, coalesce(k.scope, '-'), s.scope_how FROM v_kernel k JOIN slice s ON "
                                 "s.id = k.launch_slice_id")
                self.assertEqual(sorted(rows), [
                    ("first_node", "replay", "own"), ("in_autograd", "backward", "inherited"),
                    ("in_forward", "forward", "own"), ("in_step", "step", "own"), ("second_node", "replay", "own"),
                    ("unscoped", "-", "none")])
                parents = self.rows("SELECT c.name, p.name FROM v_slice c JOIN v_slice p ON p.id = c.parent_id WHERE "
                                    "c.name = 'cudaGraphLaunch'")
                self.assertEqual(parents, [("cudaGraphLaunch", "replay")])
                memory = self.rows("SELECT a.bytes, s.name, s.scope_how, o.name FROM allocation a JOIN v_slice s ON "
                                   "s.id = a.slice_id LEFT JOIN v_slice o ON o.id = a.scope_id")
                self.assertEqual(sorted(memory), [
                    (512, "cudaMalloc", "none", None), (1024, "cudaMalloc", "own", "forward"),
                    (2048, "cudaMalloc", "inherited", "backward")])


class Stacks(CudaTest):
    """--stacks-at cuda"""

    CALLER = ("SELECT s.id, s.name, n.text FROM v_slice s JOIN slice r ON r.id = s.id LEFT JOIN stack k ON k.id = r.stack_id LEFT JOIN "
              "frame f ON f.id = k.frame_id LEFT JOIN string n ON n.id = f.name_id WHERE s.kind = 'api'")

    def annotated(self, *options, variant="13"):
        self.record(TARGETS / f"cuda_annotated{variant}", variant=variant,
                    options=("--sources", "+stack", "--cuda-graphs", "node", *options))

    def test_each_call_has_the_stack_that_it_was_made_by(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.annotated("--stacks-at", "cuda", variant=variant)
                rows = [row for row in self.rows(self.CALLER) if row[1].startswith("cuda")]
                self.assertGreater(len(rows), 8)
                # The innermost function is the call itself, as the program made it.
                self.assertEqual([row for row in rows if row[2] is None or not row[2].startswith(row[1])], [])
                lines = self.stacks("device")
                for caller in ("main", "launch", "_M_run"):
                    self.assertTrue(any(caller in frame for frames, _ in lines for frame in frames), (caller, lines))
                self.assertFalse(any("sonde::" in frame for frames, _ in lines for frame in frames), lines)
                ((kernels,),) = self.rows("SELECT sum(dur_ns) FROM kernel WHERE launch_slice_id IS NOT NULL")
                self.assertEqual(sum(ns for _, ns in lines), kernels)
                ((allocations, of_code),) = self.rows("SELECT count(*), count(stack_id) FROM allocation")
                self.assertEqual((allocations, of_code), (3, 3))

    def test_of_calls_in_one_another_the_outermost_is_taken(self):
        self.script(MIXED, options=("--sources", "+stack", "--stacks-at", "cuda"), CUDASIM_NESTED_CALLS="1")
        taken = self.rows("SELECT thread_id, correlation_id FROM stack_sample WHERE correlation_id IS NOT NULL")
        self.assertEqual(len(taken), len(set(taken)))
        outer = self.rows("SELECT DISTINCT s.thread_id, s.correlation_id FROM v_slice s LEFT JOIN v_slice p ON p.id = s.parent_id WHERE "
                          "s.kind = 'api' AND s.category IN ('cuda_runtime', 'cuda_driver') AND coalesce(p.kind, '') <> 'api'")
        self.assertEqual(set(outer) - set(taken), set())

    def test_none_is_there_unless_it_is_asked_for(self):
        self.annotated()
        self.assertEqual(self.rows("SELECT count(*) FROM slice WHERE stack_id IS NOT NULL"), [(0,)])
        result = subprocess.run([SONDE, "stacks", "--time", "device", self.output], capture_output=True, text=True)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("--stacks-at cuda", result.stderr)

    def stacks(self, time):
        result = subprocess.run([SONDE, "stacks", "--time", time, self.output], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.rpartition(" ") for line in result.stdout.splitlines()]
        return [(path.split(";")[1:], int(ns)) for path, _, ns in lines]


class Costs(CudaTest):
    """What it costs to record calls, of a run that calibrates itself."""
    SCRIPT = "launch name=gemm ns=1000 count=5\nsync\n"
    LOOPS = "SELECT api FROM overhead WHERE probe = 'cuda' AND method = 'micro-loop' ORDER BY 1"

    def test_are_measured_by_the_jobs_own_cupti(self):
        for variant in VARIANTS:
            with self.subTest(cuda=variant):
                # A CUPTI that cannot record is found first if the job's own is not there.
                other = self.folder / f"cuda{variant}" / "lib64" / f"libcupti.so.{variant}"
                other.parent.mkdir(parents=True)
                other.symlink_to(folder_of(variant) / "libcuda.so.sim")
                for _ in range(5):  # while the machine was too busy to tell
                    self.script(self.SCRIPT, variant, options=("--calibrate",), CUDA_HOME=str(other.parent.parent))
                    if len(self.rows(self.LOOPS)) == 2:
                        break
                self.assertEqual(self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'sonde.cupti'"),
                                 [(str(folder_of(variant) / f"libcupti.so.{variant}"),)])
                self.assertEqual(self.rows(self.LOOPS), [("call",), ("launch",)])
                self.assertEqual({line["name"] for line in self.happened("kernel")}, {"gemm", "nothing"}, "loops are recorded")
                for mean, inside, unrecorded in self.rows("SELECT mean_ns, inside_ns, unrecorded_ns FROM overhead WHERE probe = 'cuda' "
                                                          "AND method = 'micro-loop'"):
                    self.assertGreater(mean, 0)
                    self.assertGreater(inside, mean / 2, "CUPTI works inside of the call")
                    self.assertEqual(unrecorded, mean, "CUPTI is never off")

    def test_are_not_measured_without_need(self):
        self.script(self.SCRIPT)
        self.assertEqual(self.rows(self.LOOPS), [], "the run does not calibrate itself")
        self.record("true", options=("--calibrate",))
        self.assertEqual(self.rows(self.LOOPS), [], "the job uses no CUDA")

    def test_whose_cupti_it_was_is_no_metadata_of_the_program(self):
        self.script(self.SCRIPT)
        report = subprocess.run([SONDE, "report", self.output], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("gpu 0", report)
        self.assertNotIn("libcupti", report)

    WHY = "SELECT text FROM note WHERE text LIKE 'the cost of recording CUDA calls was not measured: %'"

    def check_not_measured(self, why):
        self.assertEqual(self.rows("SELECT count(*) FROM v_arg WHERE owner = 'process' AND key = 'sonde.cupti'"), [(1,)])
        self.assertEqual(self.rows(self.LOOPS), [])
        self.assertNotEqual(self.rows("SELECT count(*) FROM overhead WHERE method = 'micro-loop'"), [(0,)], "others are measured")
        (text,), = self.rows(self.WHY)
        self.assertEqual(text.partition(": ")[2], why)

    def check_not_begun(self):
        self.assertEqual([line for line in self.happened("kernel", traced=False) if line["name"] == "nothing"], [])

    def test_are_not_measured_after_a_job_that_failed(self):
        """Its GPU may hang."""
        result = self.record(sys.executable, "-c", f"{SETS}\nraise SystemExit(3)", options=("--calibrate",), status=3)
        self.check_not_measured("the job has failed")
        self.check_not_begun()
        self.assertIn("the cost of recording CUDA calls was not measured: the job has failed", result.stderr)

    def test_are_not_measured_after_a_job_that_was_asked_to_end(self):
        """Who asked may not wait."""
        asked = ("import os, signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
                 "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(30)\n")
        self.record(sys.executable, "-c", SETS + asked, options=("--calibrate",))
        self.check_not_measured("a signal requested the job's end")
        self.check_not_begun()

    def test_are_not_measured_after_a_job_that_a_signal_ended(self):
        asked = "import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(30)\n"
        self.record(sys.executable, "-c", SETS + asked, options=("--calibrate",), status=-signal.SIGTERM)
        self.check_not_measured("a signal requested the job's end")

    def test_are_not_measured_on_a_gpu_that_another_recording_uses(self):
        """Its ranks still train there."""
        going, wait = self.folder / "going", self.folder / "wait"
        wait.touch()
        waits = f"import os, time\nopen({str(going)!r}, 'w')\nwhile os.path.exists({str(wait)!r}): time.sleep(0.01)\n"
        other = self.folder / "other.sonde"
        with subprocess.Popen([SONDE, "run", "-o", other, "--", sys.executable, "-c", SETS + waits],
                              env={**self.environment, "LD_LIBRARY_PATH": str(folder_of("13"))}) as rank:
            try:
                wait_until(lambda: going.exists() and self.rows("SELECT count(*) FROM stream", f"{other}.part") != [(0,)],
                           "the other one has used its GPU")
                self.script(self.SCRIPT, options=("--calibrate",))
                self.check_not_measured("another recording may use the same GPU")
                self.check_not_begun()
                self.script(self.SCRIPT.replace("\n", " dev=1\n"), options=("--calibrate",))
                self.assertEqual({line["device"] for line in self.happened("kernel") if line["name"] == "nothing"}, {1})
            finally:
                wait.unlink()
        self.assertEqual(rank.returncode, 0)

    def test_are_not_waited_for_on_a_gpu_that_hangs(self):
        self.script(self.SCRIPT, options=("--calibrate",), CUDASIM_HANG="cuLaunchKernel")
        self.check_not_measured("the GPU took more than 20 s")
        self.assert_nothing_left()

    def test_are_left_out_when_a_signal_comes(self):
        for number in (signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=number):
                self.environment |= {"LD_LIBRARY_PATH": str(folder_of("13")), "CUDASIM_HANG": "cuLaunchKernel"}
                (self.folder / "script").write_text(self.SCRIPT)
                with self.start_sonde(TARGETS / "cuda_script13", self.folder / "script", options=("-f", "--calibrate")) as sonde:
                    for line in sonde.stderr:
                        if "measuring the cost of recording CUDA calls" in line:
                            sonde.send_signal(number)
                    self.assertEqual(sonde.wait(), 0)
                self.check_not_measured("it was interrupted")
                self.assert_nothing_left()

    def test_are_none_of_a_gpu_that_no_other_program_can_use(self):
        self.script(self.SCRIPT, options=("--calibrate",), CUDASIM_FAIL="cuLaunchKernel")
        self.check_not_measured("a program that makes them did not run on the job's GPU")

    def test_are_found_by_runs_without_cuda(self):
        """Whose file says what stays where a run calibrates itself."""
        for rounds in (5, 10, 20, 40):  # more of them, where the machine is too busy to learn more than is assumed
            result = subprocess.run([SONDE, "calibrate", "-f", "-o", "cost.json", "--sources", "annotation,cuda", "--rounds", str(rounds), "--",
                                     sys.executable, "-c", SETS], cwd=self.folder, capture_output=True, text=True, timeout=200,
                                    check=False, env={**self.environment, "LD_LIBRARY_PATH": str(folder_of("13"))})
            self.assertEqual(result.returncode, 0, result.stderr)
            costs = {row["api"]: row for row in json.loads((self.folder / "cost.json").read_text())["overhead"] if row["probe"] == "cuda"}
            if costs:
                break
        self.assertIn("launch", costs)
        self.assertAlmostEqual(costs["launch"]["unrecorded_ns"] / costs["launch"]["mean_ns"], 16 / 18, 3)

    def test_are_none_in_a_run_without_cuda(self):
        self.script(self.SCRIPT, options=("--calibrate=without:cuda",))
        self.assertEqual(len(self.happened("kernel", traced=False)), 5)
        self.assertEqual(self.happened("kernel"), [], "without it CUPTI is not there")
        self.script(self.SCRIPT, options=("--calibrate=without:net",))
        self.assertEqual(len(self.happened("kernel")), 5)


class Launches(CudaTest):
    def check_delays(self, **kinds_of):
        calls = {line["correlation"]: line for line in self.happened("runtime")}
        for view, kinds in kinds_of.items():
            rows = self.rows(f"SELECT correlation_id, launch_delay_ns FROM {view}")
            self.assert_same(rows, [(line["correlation"], line["start"] - calls[line["correlation"]]["start"])
                                    for line in self.happened(*kinds)], "delays")
        return calls

    def test_are_before_their_work_by_what_is_stored(self):
        self.script(MIXED, options=("--cuda-graphs", "node"))
        self.check_delays(v_kernel=["kernel"], v_copy=COPIES)

    def test_are_found_when_correlations_begin_anew(self):
        self.script("launch name=a ns=1000 stream=1 count=500\nsync\n", CUDASIM_CORRELATION=str(2**32 - 100))
        calls = self.check_delays(v_kernel=["kernel"])
        self.assertTrue(min(calls) < 100 < 2**32 - 100 <= max(calls), "correlations did begin anew")
        self.assertEqual(self.rows("SELECT count(*), count(launch_slice_id) FROM kernel"), [(500, 500)])

    def test_hold_what_the_driver_does_for_them(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("launch name=a ns=1000 stream=1\nsync\nthread second\nlaunch name=b ns=1000 compile=30000\n"
                            "sync\n", variant, CUDASIM_NESTED_CALLS="1")
                rows = self.rows("SELECT k.name, s.name, d.name, j.name, j.tid = s.tid FROM v_kernel k JOIN v_slice s ON "
                                 "s.id = k.launch_slice_id LEFT JOIN v_slice d ON d.parent_id = s.id AND d.category = "
                                 "'cuda_driver' LEFT JOIN v_slice j ON j.parent_id = s.id AND j.category = 'overhead' "
                                 "ORDER BY 1")
                self.assertEqual(rows, [("a", "cudaLaunchKernel", "cuLaunchKernel", None, None),
                                        ("b", "cudaLaunchKernel", "cuLaunchKernel", "Just-in-time compilation", 1)])
                self.assertEqual(len({line["correlation"] for line in self.happened("kernel", "driver", "jit")}), 2)

    def test_have_the_ids_that_the_program_gave_its_calls(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("launch name=a\npush id=18446744073709551615\nlaunch name=b\npush id=5\npush kind=4 id=7\n"
                            "launch name=c\npop\nlaunch name=d\npop\npop kind=4\nlaunch name=e\nsync\n", variant)
                rows = self.rows("SELECT k.name, a.key, a.value FROM v_kernel k LEFT JOIN v_arg a ON a.owner = 'slice' "
                                 "AND a.owner_id = k.launch_slice_id ORDER BY 1, 2")
                custom0, custom1 = "external id (custom 0)", "external id (custom 1)"
                self.assertEqual(rows, [("a", None, None), ("b", custom0, -1), ("c", custom0, 5), ("c", custom1, 7),
                                        ("d", custom0, -1), ("d", custom1, 7), ("e", None, None)])
                self.assertEqual(self.rows("SELECT count(*) FROM ingest_state WHERE kind = 'external'"), [(0,)])


if __name__ == "__main__":
    unittest.main()
