"""CUPTI's own records, recorded on a GPU (tests/data/cuda, where there are some) and handed out again: what the trace says
of them is what the program that was recorded says of itself. The recorder is proven on the simulated device.

A recording NAME.cupti has a NAME.json beside it: what rows there must be, as {"SQL": rows}.
"""
import json
import subprocess
import unittest

from cuda_support import COPIES, MIXED, CudaTest, folder_of
from run_support import SOURCES, TARGETS

DATA = SOURCES.parent / "data" / "cuda"


class RecordsTest(CudaTest):
    def replay(self, recording, status=0):
        """Ticks of the recording are nanoseconds, and so are the trace's with SONDE_TEST_CLOCK."""
        result = self.run_sonde(TARGETS / "cupti_replay_program", options=("-f",), timeout=120, env={
            "CUPTI_REPLAY": str(recording), "SONDE_TEST_CLOCK": "0,0", "CUDA_HOME": str(TARGETS / "cupti_replay")})
        self.assertEqual(result.returncode, status, result.stderr)
        return result


class Simulated(RecordsTest):
    def record_script(self, variant, **environment):
        recording, script = self.folder / "simulated.cupti", self.folder / "script"
        script.write_text(MIXED)
        self.truth = self.folder / "truth.json"
        self.truth.unlink(missing_ok=True)
        subprocess.run([TARGETS / f"cuda_script{variant}", script], check=True, timeout=60, env={
            "CUDASIM_TRUTH": str(self.truth), "SONDE_CUPTI_RECORDS": str(recording),
            "CUDA_INJECTION64_PATH": str(TARGETS / "libcupti_recorder.so"), "LD_LIBRARY_PATH": str(folder_of(variant)),
            **environment})
        return recording

    def test_a_recording_is_what_the_device_did(self):
        for variant in ("12", "13"):
            with self.subTest(cuda=variant):
                self.replay(self.record_script(variant, SONDE_CUPTI_NODES="1"))
                epoch = self.rows("SELECT min(start_ns) FROM kernel")[0][0] - min(
                    line["start"] for line in self.happened("kernel"))
                self.assert_same(
                    self.rows("SELECT device, stream, start_ns, dur_ns, correlation_id FROM v_kernel"),
                    [(line["device"], line["stream"], line["start"] + epoch, line["end"] - line["start"],
                      line["correlation"]) for line in self.happened("kernel")], "kernels")
                self.assert_same(
                    self.rows("SELECT device, stream, start_ns, dur_ns, bytes FROM v_copy"),
                    [(line["device"], line["stream"], line["start"] + epoch, line["end"] - line["start"], line["bytes"])
                     for line in self.happened(*COPIES)], "copies")
                self.assert_same(
                    self.rows("SELECT name, start_ns, dur_ns FROM v_slice WHERE category IN ('cuda_runtime', 'cuda_driver')"),
                    [(line["name"], line["start"] + epoch, line["end"] - line["start"])
                     for line in self.happened("runtime", "driver")], "calls")
                names = {name for (name,) in self.rows("SELECT DISTINCT name FROM v_kernel")}
                self.assertIn("void gemm<float>(float*, int)", names)

    def test_a_recording_that_is_cut_short_is_refused(self):
        recording = self.record_script("13")
        recording.write_bytes(recording.read_bytes()[:-9])
        self.assertIn("the file is cut short", self.replay(recording, status=1).stderr)


class Recorded(RecordsTest):
    def test_a_gpus_records_say_what_its_program_did(self):
        recordings = sorted(DATA.glob("*.cupti"))
        if not recordings:
            self.skipTest("no GPU's records are there yet: scripts/gpu-test.sh makes them")
        for recording in recordings:
            with self.subTest(recording=recording.name):
                self.replay(recording)
                for query, rows in json.loads(recording.with_suffix(".json").read_text()).items():
                    self.assertEqual([list(row) for row in self.rows(query)], rows, query)


if __name__ == "__main__":
    unittest.main()
