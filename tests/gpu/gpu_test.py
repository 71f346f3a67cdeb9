"""The CUDA probe on a real GPU: what a program that knows what it launched finds in its trace.

SONDE_BIN, SONDE_TARGETS: the built program and the folder of test programs. Needs a GPU, a driver, and a libcupti; without
the first two it exits with 77 and says why.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e/support"))
from run_support import SONDE, TARGETS, RunTest  # noqa: E402

TORCH = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
side = torch.cuda.Stream()
for _ in range(5):
    x = torch.randn(64, 512, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).float().square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    with torch.cuda.stream(side):
        torch.cuda.nvtx.range_push("side")
        torch.mm(x.t(), x)
        torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
"""

GRAPHED = """
import torch
model = torch.nn.Linear(256, 256).cuda()
x = torch.zeros(64, 256, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        model(x)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = model(x)
for _ in range(5):
    graph.replay()
torch.cuda.synchronize()
"""


def doctor():
    return json.loads(subprocess.run([SONDE, "doctor", "--format", "json"], check=True, capture_output=True,
                                     text=True).stdout)


class GpuTest(RunTest):
    def record(self, *command, options=()):
        result = self.run_sonde(*command, options=("-f", *options), timeout=300)
        said = self.rows("SELECT value FROM v_arg WHERE owner = 'process' AND key = 'cuda'")
        self.assertEqual((result.returncode, said), (0, []), result.stderr)
        self.assertEqual(self.rows("SELECT * FROM loss"), [])
        return result.stdout

    def counts(self):
        return dict(self.rows("SELECT substr(name, 1, instr(name || '(', '(') - 1), count(*) FROM v_kernel GROUP BY 1"))


class Training(GpuTest):
    def train(self, *options):
        told = json.loads(self.record(TARGETS / "gpu_training", options=options))
        return told["devices"] * told["steps"], told["devices"]

    def test_every_kernel_is_there_with_its_launch_and_scope(self):
        each, devices = self.train("--cuda-graphs", "node")
        self.assertEqual(self.counts(), {"forwardKernel": each, "backwardKernel": each, "optimizerKernel": each,
                                         "sideKernel": each, "graphKernel": 3 * each})
        scopes = self.rows("SELECT DISTINCT substr(k.name, 1, instr(k.name, '(') - 1), k.scope FROM v_kernel k")
        self.assertEqual(sorted(scopes), [("backwardKernel", "backward"), ("forwardKernel", "forward"),
                                          ("graphKernel", "optimizer"), ("optimizerKernel", "optimizer"),
                                          ("sideKernel", "step")])
        early = self.rows("SELECT count(*) FROM v_kernel k JOIN v_slice s ON s.id = k.launch_slice_id WHERE "
                          "k.start_ns < s.start_ns - 20000")
        self.assertEqual(early, [(0,)], "a kernel begins after its launch, within the precision of the two clocks")
        self.assertEqual(self.rows("SELECT count(DISTINCT device) FROM v_kernel"), [(devices,)])

    def test_what_cupti_causes_is_left_out(self):
        self.train()
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name LIKE 'cuKernelGetName%'"), [(0,)])

    def test_a_run_that_calibrates_itself_measures_what_calls_cost(self):
        self.train("--calibrate")
        costs = dict(self.rows("SELECT api, mean_ns FROM overhead WHERE probe = 'cuda' AND method = 'micro-loop'"))
        self.assertEqual(set(costs), {"launch", "call"})
        self.assertTrue(0 < costs["launch"] < 100_000, costs)

    def test_a_graph_is_one(self):
        each, _ = self.train()
        self.assertEqual(self.counts().get("CUDA graph"), each)

    def test_copies_have_their_bytes_and_memories(self):
        each, _ = self.train()
        copies = dict(self.rows("SELECT name, sum(bytes) FROM v_copy WHERE kind <> 'set' GROUP BY 1"))
        self.assertEqual(copies, {"Memcpy HtoD (Pinned -> Device)": each * 4 << 20,
                                  "Memcpy DtoH (Device -> Pageable)": each * 4 << 20})

    def test_streams_overlap_as_they_do_without_sonde(self):
        self.train()
        overlapping = self.rows("SELECT count(*) FROM v_kernel a JOIN v_kernel b ON a.stream_id <> b.stream_id AND "
                                "a.start_ns < b.end_ns AND b.start_ns < a.end_ns WHERE a.name LIKE 'sideKernel%' AND "
                                "b.name LIKE 'backwardKernel%'")
        self.assertGreater(overlapping[0][0], 0)


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
class Torch(GpuTest):
    def test_a_training_step_is_recorded_without_further_ado(self):
        script = self.folder / "train.py"
        script.write_text(TORCH)
        self.record(sys.executable, script)
        kernels, launched, scoped = self.rows("SELECT count(*), count(launch_slice_id), count(scope_id) FROM kernel")[0]
        self.assertGreater(kernels, 50)
        self.assertEqual(launched, kernels)
        self.assertGreater(scoped, kernels // 2)
        self.assertIn(("backward",), self.rows("SELECT DISTINCT scope_kind FROM v_kernel"))
        ranges = self.rows("SELECT id, thread_id, start_ns, end_ns FROM v_slice WHERE name = 'side'")
        self.assertEqual(len(ranges), 5)
        sides = {stream for _, *when in ranges for (stream,) in self.rows(
            "SELECT k.stream_id FROM v_kernel k JOIN slice s ON s.id = k.launch_slice_id WHERE s.thread_id = {} AND "
            "s.start_ns BETWEEN {} AND {}".format(*when))}
        self.assertEqual(len(sides), 1, "what is launched in the range runs on the side stream")
        others = self.rows("SELECT DISTINCT stream_id FROM v_kernel WHERE scope_kind IN ('forward', 'backward')")
        self.assertNotIn(sides.pop(), [stream for (stream,) in others])

    def test_a_captured_graph_is_recorded_each_time_that_it_runs(self):
        script = self.folder / "graphed.py"
        script.write_text(GRAPHED)
        self.record(sys.executable, script)
        self.assertEqual(self.counts().get("CUDA graph"), 5)
        self.record(sys.executable, script, options=("--cuda-graphs", "node"))
        launches = self.rows("SELECT count(DISTINCT k.launch_slice_id) FROM v_kernel k JOIN v_slice s ON s.id = "
                             "k.launch_slice_id WHERE s.name LIKE 'cudaGraphLaunch%'")
        self.assertEqual(launches, [(5,)])

    def test_torchs_own_profiler_gets_all_it_wants(self):
        script = self.folder / "train.py"
        script.write_text(f"{TORCH}\nwith torch.profiler.profile() as profile:\n    for _ in range(10):\n"
                          "        torch.mm(x, x.t())\n    torch.cuda.synchronize()\n"
                          "print(sum(event.count for event in profile.key_averages() if event.device_type.name == 'CUDA'))")
        result = self.run_sonde(sys.executable, script, options=("-f",), timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(int(result.stdout.split()[-1]), 10)
        said = " ".join(text for (text,) in self.rows("SELECT value FROM v_arg WHERE key = 'cuda'"))
        self.assertIn("another tool of this process uses CUPTI", said)


class Records(GpuTest):
    """CUPTI's own records, for tests/data/cuda: SONDE_RECORDS, a folder, keeps them."""

    def test_what_cupti_says_is_recorded_and_handed_out_again(self):
        folder = pathlib.Path(os.environ.get("SONDE_RECORDS", self.folder))
        gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], check=True, text=True,
                             capture_output=True).stdout.splitlines()[0]
        for name, environment in (("graphs", {}), ("nodes", {"SONDE_CUPTI_NODES": "1"})):
            recording = folder / f"{gpu.replace(' ', '_')}_{name}.cupti"
            told = json.loads(subprocess.run([TARGETS / "gpu_training"], check=True, text=True, stdout=subprocess.PIPE, env={
                **os.environ, **environment, "SONDE_CUPTI_RECORDS": str(recording),
                "CUDA_INJECTION64_PATH": str(TARGETS / "libcupti_recorder.so"),
                "LD_LIBRARY_PATH": str(pathlib.Path(doctor()["versions"]["cupti"]).parent)}).stdout)
            result = self.run_sonde(TARGETS / "cupti_replay_program", options=("-f",), timeout=300, env={
                "CUPTI_REPLAY": str(recording), "SONDE_TEST_CLOCK": "0,0", "CUDA_HOME": str(TARGETS / "cupti_replay")})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.counts().get("forwardKernel"), told["devices"] * told["steps"])
            # The results of this machine are the expected values on every other one.
            queries = ("SELECT substr(name, 1, instr(name || '(', '(') - 1), device, stream, count(*), sum(dur_ns), "
                       "max(start_ns + dur_ns) - min(start_ns) FROM v_kernel GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
                       "SELECT name, device, stream, count(*), sum(dur_ns), sum(bytes) FROM v_copy GROUP BY 1, 2, 3 "
                       "ORDER BY 1, 2, 3",
                       "SELECT name, count(*), sum(dur_ns) FROM v_slice WHERE category IN ('cuda_runtime', "
                       "'cuda_driver') GROUP BY 1 ORDER BY 1",
                       "SELECT count(*), count(launch_slice_id) FROM kernel",
                       "SELECT kind, count(*), sum(dur_ns), count(waits_for_id) FROM sync GROUP BY 1 ORDER BY 1",
                       "SELECT count(*), sum(bytes), count(free_ns) FROM allocation")
            recording.with_suffix(".json").write_text(json.dumps({query: self.rows(query) for query in queries}, indent=1))


class Counters(GpuTest):
    def test_operations_have_hardware_counters(self):
        result = self.run_sonde(TARGETS / "gpu_training", options=("-f", "--counters", "roofline"), timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        said = [text for (text,) in self.rows("SELECT value FROM v_arg WHERE key = 'cuda counters'")]
        if any("INSUFFICIENT_PRIVILEGES" in text for text in said):
            self.skipTest(f"this user may not read counters: {said}")
        busy = dict(self.rows("SELECT operation, sum(value) FROM v_device_metric WHERE name = 'gpu__time_duration.sum' "
                              "GROUP BY 1"))
        self.assertTrue({"forward", "backward", "optimizer"} <= busy.keys(), (busy, said))
        self.assertGreater(busy["forward"], 0)


class Doctor(GpuTest):
    def test_says_that_cuda_can_be_recorded(self):
        cuda, = (probe for probe in doctor()["probes"] if probe["name"] == "cuda")
        self.assertEqual((cuda["available"], cuda["reason"]), (True, ""))


def missing():
    """What the machine lacks; not Sonde's word, which is tested here."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except FileNotFoundError:
        return "no NVIDIA driver here: nvidia-smi is not installed"
    if listed.returncode != 0 or "GPU 0" not in listed.stdout:
        return f"no GPU here: {(listed.stdout + listed.stderr).strip()}"
    return None


if __name__ == "__main__":
    if (reason := missing()) is not None:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
