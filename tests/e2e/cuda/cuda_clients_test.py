"""The CUDA probe on the simulated device: beside other clients of CUPTI, and where CUPTI refuses."""
import json
import subprocess
import unittest

from cuda_support import VARIANTS, CudaTest
from run_support import SONDE, TARGETS


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

    def test_a_subscription_that_was_not_seen_coming_is_kept(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                told, kernels, said = self.run_both(variant, "unseen")
                self.assertEqual((told, kernels), ("0\n", {}))
                self.assertIn("another tool of this process has CUPTI (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "
                              "39)", said)

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
        text, = self.said()
        self.assertIn("not recorded: CUPTI answers CUPTI_ERROR_UNKNOWN (999)", text)

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
