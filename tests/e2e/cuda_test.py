"""The CUDA probe on the simulated device: each row is what the device did, to the nanosecond.

The device's truth and the trace are one clock: with SONDE_TEST_CLOCK ticks are nanoseconds, a constant away from the
trace's.
"""
import json
import pathlib
import subprocess
import unittest

from run_support import SONDE, TARGETS, RunTest

VARIANTS = ("12", "13")
COPIES = {"memcpy", "memcpy2", "memset"}
SYNC_KINDS = {1: "event", 2: "wait", 3: "stream", 4: "context"}


def folder_of(variant):
    return TARGETS.parent / "cudasim" / f"cuda{variant}"


class CudaTest(RunTest):
    def record(self, program, *arguments, variant="13", status=0, options=(), timeout=60, **environment):
        self.truth = self.folder / "truth.json"
        self.truth.unlink(missing_ok=True)
        result = self.run_sonde(program, *arguments, options=("-f", *options), timeout=timeout, env={
            "CUDASIM_TRUTH": str(self.truth), "SONDE_TEST_CLOCK": "0,0",
            "LD_LIBRARY_PATH": str(folder_of(variant)), **environment})
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def script(self, script, variant="13", **keywords):
        path = self.folder / "script"
        path.write_text(script)
        return self.record(TARGETS / f"cuda_script{variant}", path, variant=variant, **keywords)

    def happened(self, *kinds, traced=True):
        lines = [json.loads(line) for line in self.truth.read_text().splitlines()]
        return [line for line in lines if line["kind"] in kinds and (line.get("traced") == 1 or not traced)]

    def epoch(self):
        """What is added to a tick to make a time of the trace: the same for all, so that of one call."""
        correlation, ns = self.rows("SELECT correlation_id, start_ns FROM slice WHERE kind = 'api' LIMIT 1")[0]
        call, = (line for line in self.happened("runtime") if line["correlation"] == correlation)
        return ns - call["start"]

    def said(self):
        return [text for (text,) in self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'cuda'")]

    def assert_same(self, rows, truth, what):
        rows, truth = sorted(rows), sorted(truth)
        differing = [(row, line) for row, line in zip(rows, truth) if row != line][:3]
        self.assertEqual((len(rows), differing), (len(truth), []), what)
        self.assertTrue(truth, f"the script makes {what}")


MIXED = """
thread first
alloc name=a bytes=1048576
copy kind=htod bytes=1048576 stream=1
launch name=gemm ns=50000 stream=1 count=5
record event=done stream=1
wait event=done stream=2
launch name=reduce ns=20000 stream=2 count=3
copy kind=dtod bytes=4096 stream=3
set bytes=4096 stream=4
graph nodes=3 ns=10000 stream=2 launches=2
launch name=_Z4gemmIfEvPT_i ns=100000 stream=4
peer to=1 bytes=65536 stream=3
wait_host event=done
sync stream=2
sync
copy kind=dtoh bytes=1048576 sync=1
free name=a
thread second
launch name=other ns=80000 stream=5 dev=1 count=20
launch name=more ns=60000 stream=6 dev=1 count=20
launch name=more ns=60000 stream=7 dev=1 count=20
launch name=more ns=60000 stream=8 dev=1 count=20
compile ns=30000
sync dev=1
"""


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


MANAGED = """
launch name=a ns=1000
touch bytes=65536
touch bytes=131072 by=host
launch name=b ns=1000 dev=1
touch bytes=4096 dev=1
sync
"""


class Memory(CudaTest):
    MARKS = "SELECT name, start_ns FROM v_slice WHERE category = 'unified_memory'"

    def check_moves(self):
        epoch = self.epoch()
        kinds = {1: ("Memcpy Unified HtoD (Managed -> Managed)", "host_to_device"),
                 2: ("Memcpy Unified DtoH (Managed -> Managed)", "device_to_host")}
        moves = [line for line in self.happened("unified_memory_counter", traced=False) if line["type"] in kinds]
        rows = self.rows("SELECT c.name, c.kind, device, start_ns, dur_ns, bytes, launch_slice_id, a.value FROM v_copy c "
                         "JOIN v_arg a ON a.owner = 'copy' AND a.owner_id = c.id AND a.key = 'cause'")
        self.assert_same([row[:6] for row in rows],
                         [(*kinds[line["type"]], line["device"], line["start"] + epoch, line["end"] - line["start"],
                           line["bytes"]) for line in moves], "moves of pages")
        self.assertEqual({row[6:] for row in rows}, {(None, "coherence")})
        self.assertEqual(self.rows("SELECT DISTINCT r.name FROM copy c JOIN stream r ON r.id = c.stream_id"),
                         [("unified memory",)])
        self.assertEqual(len(moves), 3)

    def test_moves_of_managed_pages_are_copies_where_they_are_asked_for(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script(MANAGED, variant, options=("--cuda-unified-memory", "transfers"))
                self.check_moves()
                self.assertEqual(self.rows(self.MARKS), [])
                self.assertEqual(self.said(), [])

    def test_page_faults_are_marks_where_they_are_asked_for(self):
        self.script(MANAGED, options=("--cuda-unified-memory", "faults"))
        self.check_moves()
        epoch = self.epoch()
        names = {3: "CPU page fault", 4: "GPU page fault"}
        self.assert_same(self.rows(self.MARKS), [
            (names[line["type"]], line["start"] + epoch)
            for line in self.happened("unified_memory_counter") if line["type"] in names], "page faults")
        told = self.rows("SELECT s.name, group_concat(a.key || '=' || a.value, ' ') FROM v_slice s JOIN v_arg a ON "
                         "a.owner = 'slice' AND a.owner_id = s.id AND a.key IN ('access', 'faults', 'instruction') "
                         "WHERE s.category = 'unified_memory' GROUP BY s.id")
        self.assertEqual(set(told), {("CPU page fault", "instruction=4198400 access=write"),
                                     ("GPU page fault", "faults=3 access=write")})

    def test_managed_memory_is_left_alone_unless_it_is_asked_for(self):
        self.script(MANAGED)
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM copy), (SELECT count(*) FROM kernel)"), [(0, 2)])
        self.assertEqual(self.rows(self.MARKS), [])
        self.assertIn("--cuda-unified-memory transfers", " ".join(self.said()))

    def test_a_device_that_cannot_count_it_is_recorded_without(self):
        self.script(MANAGED, options=("--cuda-unified-memory", "faults"), CUDASIM_NO_UNIFIED_MEMORY="1")
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM copy), (SELECT count(*) FROM kernel)"), [(0, 2)])
        self.assertEqual(self.said(), ["unified memory is not recorded: CUPTI answers "
                                       "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE (29)"])

    def test_pools_have_a_size_and_what_is_used_of_it(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("alloc name=a bytes=3000000 stream=1 async=1\nalloc name=b bytes=1000 stream=1 async=1\n"
                            "alloc name=c bytes=512\nalloc name=d bytes=777 dev=1 stream=1 async=1\n"
                            "free name=a stream=1 async=1\ntrim bytes=0\nsync\n", variant)
                self.check_pools()

    def check_pools(self):
        epoch = self.epoch()
        told = [line for line in self.happened("memory2", "memory_pool") if "pool" in line]
        for name, key in (("size", "pool_bytes"), ("used", "pool_used")):
            self.assert_same(self.rows("SELECT process_id, device, unit, ts_ns, value FROM v_sample WHERE name = "
                                       f"'CUDA memory pool {name}' AND value > 0"),
                             [(1, line["device"], "bytes", line["start"] + epoch, float(line[key])) for line in told
                              if key in line], f"pool {name}")
        rows = self.rows("SELECT bytes, pool IS NOT NULL, count(DISTINCT pool) FROM allocation WHERE bytes < 4000000 "
                         "GROUP BY 1, 2")
        self.assertEqual(rows, [(512, 0, 0), (777, 1, 1), (1000, 1, 1), (3000000, 1, 1)])
        self.assertEqual(self.rows("SELECT count(DISTINCT pool) FROM allocation"), [(2,)])
        exported = self.folder / "exported.json"
        subprocess.run([SONDE, "export", self.output, "--to", "chrome", "-f", "-o", exported], check=True)
        series = {event["name"] for event in json.loads(exported.read_text())["traceEvents"] if event["ph"] == "C"}
        self.assertEqual(series, {f"CUDA memory pool {what} (gpu {device})" for what in ("size", "used")
                                  for device in (0, 1)})


class Completeness(CudaTest):
    def kernels(self):
        return self.rows("SELECT count(*) FROM kernel")[0][0]

    def test_nothing_is_lost_at_any_end(self):
        endings = {"return": ("", 0), "_exit": ("quit code=3\n", 3), "reset": ("sync\nreset\n", 0)}
        for variant in VARIANTS:
            for name, (ending, status) in endings.items():
                with self.subTest(variant=variant, ending=name):
                    self.script("launch name=a ns=1000 stream=1 count=1000\n" + ending, variant, status=status)
                    self.assertEqual(self.kernels(), 1000)
                    self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_a_million_kernels_are_all_there(self):
        half = "launch name=a ns=100 stream=1 dev={} count=500000\nsync stream=1 dev={}\n"
        self.script(f"thread a\n{half.format(0, 0)}thread b\n{half.format(1, 1)}", timeout=280)
        self.assertEqual(self.rows("SELECT count(*), count(launch_slice_id), count(DISTINCT correlation_id) FROM kernel"),
                         [(1000000, 1000000, 1000000)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_a_program_that_ends_in_a_signal_handler_ends(self):
        for _ in range(5):
            self.record(TARGETS / "cuda_in_handler13", "exits", status=7)
            self.assertIn("the process ended in a signal handler", " ".join(self.said()))
            lost, = self.rows("SELECT probe, reason, count > 0 FROM loss")  # a buffer that CUPTI held counts 1
        self.assertEqual(lost, ("cuda", "tracer", 1))

    def test_what_cupti_held_of_a_killed_program_counts_as_lost(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("launch name=a ns=1000 stream=1 count=100\nsync\nkill\n", variant, status=-9)
                self.assertEqual(self.rows("SELECT probe, reason, count FROM loss"), [("cuda", "tracer", 1)])

    def test_an_exec_loses_nothing(self):
        self.record("sh", "-c", f"exec {TARGETS / 'cuda_in_handler13'} execs")
        self.assertEqual(self.kernels(), 100)

    def test_what_had_not_begun_is_where_it_was_launched(self):
        self.script("launch name=a ns=4000000000 stream=1 count=2\nquit code=0\n")
        rows = self.rows("SELECT k.dur_ns, k.start_ns - s.end_ns FROM v_kernel k JOIN v_slice s ON s.id = "
                         "k.launch_slice_id")
        self.assertEqual(len(rows), 2)
        for duration, delay in rows:
            self.assertIsNone(duration)
            self.assertLess(delay, 10**9)
            self.assertGreaterEqual(delay, 0)

    def test_a_program_with_very_many_streams(self):
        streams = "".join(f"launch name=a ns=10 stream={number}\n" for number in range(1, 9001))
        self.script(streams + "sync\n")
        self.assertEqual(self.kernels(), 9000)
        self.assertEqual(self.rows("SELECT count(DISTINCT stream_id) FROM kernel"), [(9000,)])
        self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_what_cupti_drops_is_counted(self):
        self.script("launch name=a ns=1000 stream=1 count=1000\nsync\n", CUDASIM_DROP_EVERY="10")
        dropped = len(self.happened("dropped", traced=False))
        self.assertEqual(self.rows("SELECT probe, reason, sum(count) FROM loss GROUP BY 1, 2"),
                         [("cuda", "tracer", dropped)])
        self.assertLess(self.kernels(), 1000)
        self.assertGreater(self.kernels(), 800)

    def test_a_full_spool_is_counted(self):
        self.script("launch name=a ns=100 stream=1 count=40000\nsync\n", options=("--spool-limit", "1MiB"))
        lost = dict(self.rows("SELECT kind, sum(count) FROM loss WHERE reason = 'spool full' GROUP BY 1"))
        self.assertEqual(self.kernels() + lost.get("kernel", 0), 40000)


class TwoClients(CudaTest):
    def run_both(self, variant, when, **environment):
        result = self.record(TARGETS / f"cuda_two_clients{variant}", when, variant=variant, **environment)
        kernels = dict(self.rows("SELECT name, count(*) FROM v_kernel GROUP BY 1"))
        return result.stdout, kernels, " ".join(self.said())

    def test_who_comes_later_gets_all_its_records(self):
        for variant in VARIANTS:
            for how in ("middle", "dlsym"):
                with self.subTest(variant=variant, how=how):
                    self.check_later(variant, how)

    def check_later(self, variant, how):
        told, kernels, said = self.run_both(variant, how)
        self.assertEqual(told, "100\n")
        self.assertEqual(kernels, {"sondes": 100})
        self.assertIn("not recorded from here on: another tool of this process uses CUPTI", said)
        marks = self.rows("SELECT count(*) FROM v_slice WHERE kind = 'mark' AND name LIKE 'CUDA recording ends%'")
        self.assertEqual(marks, [(1,)])

    def test_who_came_first_keeps_its_records(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                told, kernels, said = self.run_both(variant, "before")
                self.assertEqual(told, "100\n")
                self.assertEqual(kernels, {})
                self.assertIn("another tool of this process used CUPTI before", said)

    def test_an_injected_tool_of_the_users_is_not_displaced(self):
        tool = TARGETS.parent / "cudasim" / "libcudasim_injected.so"
        told = self.folder / "injected.json"
        self.script("launch name=a ns=1000 count=5\nsync\n", CUDA_INJECTION64_PATH=str(tool),
                    CUDASIM_CLIENT_OUT=str(told))
        records = [json.loads(line) for line in told.read_text().splitlines()]
        self.assertEqual(sum("kernel" in record["kind"].lower() for record in records), 5)
        self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(0,)])
        self.assertIn("another tool of this process used CUPTI before", " ".join(self.said()))


class Refusals(CudaTest):
    def test_without_a_driver_the_job_runs_and_the_trace_says_so(self):
        result = self.record(TARGETS / "cuda_script13", "unsynchronised", CUDASIM_NO_DRIVER="1", status=3)
        self.assertNotIn("Sonde", result.stdout)
        self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(0,)])

    def test_a_cupti_of_an_unknown_version_is_refused_by_name(self):
        self.script("launch name=a ns=1000 count=5\nsync\n", CUDASIM_CUPTI_VERSION="140000")
        self.assertEqual(self.rows("SELECT count(*) FROM kernel"), [(0,)])
        text, = self.said()
        self.assertIn("CUPTI's version 140000 is not known", text)

    def test_nvidias_own_cupti_without_a_driver(self):
        found = json.loads(subprocess.run([SONDE, "doctor", "--format", "json"], check=True, capture_output=True,
                                          text=True).stdout)["versions"]
        if not found["cupti"] or found["nvidia_driver"]:
            self.skipTest("not run: needs NVIDIA's libcupti, and no driver")
        result = self.run_sonde("python3", "-c", "import ctypes\nprint(ctypes.CDLL(None).InitializeInjection())",
                                options=("-f",))
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)
        text, = self.said()
        self.assertIn("not recorded: CUPTI answers CUPTI_ERROR_UNKNOWN (999)", text)

    def test_when_it_is_switched_off_nothing_is_recorded(self):
        self.script("launch name=a ns=1000 count=5\nsync\n", options=("--sources", "-cuda"))
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM kernel), (SELECT count(*) FROM slice)"), [(0, 0)])


if __name__ == "__main__":
    unittest.main()
