"""Files re-created from public bug reports on profilers: what was wrong with each, and what is right."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE_BIN"]
FIELD = pathlib.Path(os.environ.get("SONDE_REFERENCE_DATA") or "/nonexistent") / "field"
US = 1000


def sonde(*words):
    return subprocess.run([SONDE, *map(str, words)], capture_output=True, text=True)


class FieldTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not FIELD.is_dir():
            raise unittest.SkipTest("skipped: reference data not present")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sonde-field-")
        self.addCleanup(self.folder.cleanup)
        self.trace = pathlib.Path(self.folder.name, "job.sonde")
        self.summary = pathlib.Path(self.folder.name, "summary.json")

    def imported(self, *names, options=()):
        """What is said on stderr, and by reason what was left out."""
        done = sonde("import", "-f", "-o", self.trace, "--summary", self.summary, *options, *(FIELD / name for name in names))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr, json.loads(self.summary.read_text())["dropped"]

    def ask(self, sql):
        trace = sqlite3.connect(self.trace)
        self.addCleanup(trace.close)
        return trace.execute(sql).fetchall()

    def breakdown(self, *options):
        done = sonde("breakdown", self.trace, "--format", "json", "--by", "operation,category", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def device_time(self, *options):
        """Microseconds of each operation's work on devices: compute, copy, comm."""
        times = collections.Counter()
        for row in self.breakdown(*options)["rows"]:
            for kind in ("compute", "copy", "comm"):
                if kind in row["categories"]:
                    times[row["operation"] or "-", kind] += row["ns"] // US
        return dict(times)

    def test_work_of_autograds_thread_is_of_the_annotation_that_called_backward(self):
        said, dropped = self.imported("backward_on_autograd_thread.json")
        self.assertEqual((said, dropped), ("", {}))
        self.assertEqual(self.device_time(), {("my_forward", "compute"): 100, ("my_backward", "compute"): 250})

    def test_each_text_of_a_merged_file_is_a_process(self):
        self.imported("merged_ranks_text_pids.json.gz")
        self.assertEqual(self.ask("SELECT rank, pid, command FROM process ORDER BY rank"),
                         [(0, 4000, "[TP00] 4000"), (1, 4001, "[TP01] 4001")])
        self.assertEqual(self.ask(
            "SELECT p.rank, k.name, n.text FROM v_kernel k JOIN stream r ON r.id = k.stream_id JOIN process p ON p.id = "
            "r.process_id JOIN slice s ON s.id = k.scope_id JOIN string n ON n.id = s.name_id ORDER BY k.name"),
            [(0, "k_attn_r0", "attn"), (1, "k_attn_r1", "attn"), (0, "k_mlp_r0", "mlp"), (1, "k_mlp_r1", "mlp")])
        self.assertEqual(self.device_time(), {("attn", "compute"): 250, ("mlp", "compute"): 250})

    def test_a_kernel_without_times_is_left_out(self):
        said, dropped = self.imported("kernel_without_times.json")
        self.assertEqual(dropped, {"no time": 1})
        self.assertIn("1 events have impossible times", said)
        first, last = self.ask("SELECT min(start_ns), max(start_ns + dur_ns) FROM (SELECT start_ns, dur_ns FROM slice UNION "
                               "ALL SELECT start_ns, dur_ns FROM kernel)")[0]
        self.assertEqual((first % 10**7, last % 10**7), (1100 * US, 1700 * US))
        self.assertEqual(self.device_time(), {("-", "compute"): 500})

    def test_ranks_are_in_the_names_of_files(self):
        self.imported("dp0_pp0_tp0_dcp0_ep0_rank0.1764.pt.trace.json.gz", "dp0_pp0_tp1_dcp0_ep0_rank1.1764.pt.trace.json.gz")
        self.assertEqual(self.ask("SELECT rank FROM process ORDER BY id"), [(0,), (1,)])
        report = sonde("report", self.trace)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("rank 1", report.stdout)
        self.assertNotIn("process 500", report.stdout)

    def test_communication_has_other_names_and_users_add_some(self):
        self.imported("communication_by_other_names.json")
        self.assertEqual(self.device_time(), {("-", "comm"): 500, ("-", "compute"): 50})
        done = sonde("report", self.trace, "--format", "json", "--communication", "gem?")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["ranks"][0]["comm_ns"], 550 * US)
        self.assertEqual(self.device_time("--communication", "gemm"), {("-", "comm"): 550})
        self.imported("communication_by_other_names.json", options=["--communication", "GEMM"])
        self.assertEqual(self.device_time(), {("-", "comm"): 550})

    def test_the_external_id_ties_kernels_to_their_calls(self):
        said, dropped = self.imported("rocm_external_id_only.json")
        self.assertEqual((said, dropped), ("", {}))
        self.assertEqual(self.device_time(), {("record_fwd", "compute"): 200, ("record_fwd", "copy"): 32})
        self.assertEqual(self.ask("SELECT launch_delay_ns FROM kernel UNION ALL SELECT launch_delay_ns FROM copy"),
                         [(470 * US,), (610 * US,)])

    def test_names_tell_operators_where_there_are_no_categories(self):
        self.imported("torch_without_kineto.json")
        names = {name for (name,) in self.ask("SELECT DISTINCT name FROM v_slice WHERE kind = 'operation'")}
        self.assertEqual(names, {"my_step", "my_backward", "Optimizer.zero_grad#Adam.zero_grad"})
        events = json.loads((FIELD / "torch_without_kineto.json").read_text())
        # By the rule: the union of operators and of the optimizer's steps.
        spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                       if "::" in event["name"] or event["name"].endswith("Backward0") or event["name"].startswith("Optimizer.step"))
        union, reached = 0, 0
        for begin, end in spans:
            union += max(end - max(begin, reached), 0)
            reached = max(reached, end)
        framework = sum(row["ns"] for row in self.breakdown()["rows"] if "framework" in row["categories"])
        self.assertEqual(framework, union * US)

    def test_a_kernel_over_later_ones_is_named(self):
        said, _ = self.imported("kernel_over_later_ones.json")
        for part in ("kernel 'fmha_bwd' of stream 7", "lasts 2.40 ms and ends after 19 later kernels", "take 3.36 ms", "they take 2.58 ms"):
            self.assertIn(part, said)
        self.assertIn("fmha_bwd", self.ask("SELECT text FROM note")[0][0])

    def test_a_name_with_an_escape_that_is_none_stands_as_it_is(self):
        said, dropped = self.imported("invalid_escape_in_name.json")
        self.assertEqual((said, dropped), ("", {}))
        self.assertEqual(self.ask("SELECT name FROM v_slice WHERE kind = 'operator' ORDER BY start_ns"),
                         [("C:\\Users\\me\\work\\train.py",), ("last",)])

    def test_rows_of_devices_are_kernels(self):
        said, dropped = self.imported("jax_device_rows.json.gz")
        self.assertEqual((said, dropped), ("", {}))
        self.assertEqual(self.ask("SELECT name, dur_ns FROM v_kernel ORDER BY start_ns")[0], ("loop_fusion_3", 200_500))
        self.assertEqual(self.ask("SELECT kind, bytes, dur_ns FROM copy"), [("device_to_host", 4096, 20 * US)])
        self.assertEqual(self.ask("SELECT count(*), op FROM collective"), [(1, "allreduce")])
        self.assertEqual(self.ask("SELECT name FROM v_slice"), [("PjitFunction(step)",)])
        said, dropped = self.imported("ascend_device_rows.json")
        self.assertEqual((said, dropped), ("", {}))
        self.assertEqual(self.ask(
            "SELECT k.name, k.dur_ns, d.kind, r.number FROM v_kernel k JOIN stream r ON r.id = k.stream_id JOIN device d ON "
            "d.id = r.device_id ORDER BY k.start_ns"), [("MatMul", 100_500, "npu", 44), ("Add", 10_001, "npu", 44)])

    def test_tables_with_a_version_are_read(self):
        self.imported("nsys_nvtx_v2.sqlite")
        self.assertEqual(self.ask("SELECT number, dur_ns FROM iteration ORDER BY number"),
                         [(0, 900 * US), (1, 900 * US), (2, 900 * US)])
        self.assertEqual(self.ask("SELECT count(*) FROM kernel WHERE scope_id IS NOT NULL"), [(3,)])

    def test_a_dump_without_a_readable_entry_is_refused(self):
        done = sonde("import", "-f", "-o", self.trace, FIELD / "nccl_trace_rank_0")
        self.assertEqual(done.returncode, 3)
        self.assertIn("entry 0, which has no profiling_name", done.stderr)


if __name__ == "__main__":
    unittest.main()
