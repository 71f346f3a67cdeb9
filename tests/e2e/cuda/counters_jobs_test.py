"""Hardware counters of whole jobs: PyTorch's iterations, traces of several ranks, a recorder that is killed."""
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from counters_support import CountersTest
from cuda_support import CudaTest, folder_of
from run_support import PATIENCE, SONDE, SOURCES, TARGETS, wait_until



class Jobs(CountersTest):
    def test_iterations_of_pytorch_are_measured(self):
        CudaTest.record(self, "/usr/bin/python3", SOURCES / "cuda" / "cuda_torch.py", "13", "12", timeout=120,
                        options=("--counters", "roofline"))
        self.assertGreater(len(self.measured_iterations()), 8)
        self.check_sums("product")
        kinds = dict(self.rows("SELECT kind, count(DISTINCT slice_id) FROM v_device_metric WHERE value > 0 AND name = "
                               "'sm__sass_thread_inst_executed_op_ffma_pred_on.sum' GROUP BY 1"))
        self.assertGreater(kinds.get("operation", 0), 0)

    def prepare(self):
        """The environment of a job that waits for a file in its third iteration."""
        go, self.truth = self.folder / "go", self.folder / "truth.json"
        self.environment.update(CUDASIM_TRUTH=str(self.truth), SONDE_TEST_CLOCK="0,0", CUDA_COUNTED_GO=str(go),
                                LD_LIBRARY_PATH=str(folder_of("13")))
        return go

    def begin(self, output, iterations, event="pause"):
        self.output = output
        return self.start_sonde(TARGETS / "cuda_counted13", str(iterations), "1", "0", event, stderr=subprocess.DEVNULL,
                                options=("--cuda-graphs", "node", "--counters", "roofline"))

    def test_ranks_are_merged_with_their_counters(self):
        metrics = "SELECT {rank}, device, operation, name, count(*), sum(value) FROM v_device_metric GROUP BY 1, 2, 3, 4"
        go, running, expected = self.prepare(), [], []
        traces = [self.folder / f"rank{rank}.sonde" for rank in range(2)]
        for rank, trace in enumerate(traces):
            self.environment.update(RANK=str(rank), WORLD_SIZE="2")
            running.append(self.begin(trace, 4 + rank))
            wait_until(self.stored, f"rank {rank} measures")
        go.touch()
        self.assertEqual([sonde.wait(PATIENCE) for sonde in running], [0, 0])
        for rank, self.output in enumerate(traces):
            expected += self.rows(metrics.format(rank=rank))
        self.output = self.folder / "job.sonde"
        subprocess.run([SONDE, "merge", "-o", self.output, *traces], check=True, capture_output=True)
        self.assertEqual(self.rows(metrics.format(rank="rank")), expected)
        self.assertGreater(len(expected), 40)

    def test_time_in_which_the_job_is_stopped_is_no_wait_for_the_device(self):
        go, sonde = self.prepare(), self.begin(self.output, 4, "go")
        wait_until((self.folder / "go.reached").exists, "the device is about to be waited for")
        time.sleep(0.2)
        job = self.job_of(sonde)
        os.kill(job, signal.SIGSTOP)
        time.sleep(5.5)  # longer than the patience of the wait
        go.touch()
        os.kill(job, signal.SIGCONT)
        self.assertEqual(sonde.wait(PATIENCE), 0)
        self.assertEqual(self.said(), [])
        self.assertEqual(self.measured_iterations(), list(range(4)))

    @staticmethod
    def job_of(sonde):
        return int(pathlib.Path(f"/proc/{sonde.pid}/task/{sonde.pid}/children").read_text().split()[-1])

    def stored(self):
        try:
            return self.rows("SELECT count(*) FROM device_metric", f"{self.output}.part")[0][0]
        except sqlite3.OperationalError:
            return 0  # nothing is stored yet

    def test_an_iteration_in_which_recording_is_paused_is_not_measured(self):
        go, sonde = self.prepare(), self.begin(self.output, 6)
        wait_until(self.stored, "the first iterations are stored")
        wait_until((self.folder / "go.reached").exists, "the third one waits")
        subprocess.run([SONDE, "ctl", str(sonde.pid), "stop"], env=self.environment, check=True, capture_output=True)
        go.touch()
        self.assertEqual(sonde.wait(PATIENCE), 0)
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.rows("SELECT * FROM loss"), [], "what was measured of the third one is not lost")
        (last,), = self.rows("SELECT start_ns + dur_ns FROM iteration WHERE number = 2")
        epoch = self.epoch()
        self.assertEqual([line for line in self.happened("range", traced=False) if line["start"] + epoch > last], [],
                         "nothing is measured of those after it")

    def test_what_was_measured_before_and_after_the_recorder_was_killed_is_recovered(self):
        go, sonde = self.prepare(), self.begin(self.output, 6)
        wait_until(self.stored, "the first iterations are stored")
        job = self.job_of(sonde)
        sonde.send_signal(signal.SIGKILL)
        sonde.wait()
        go.touch()
        wait_until(lambda: '"name":"after"' in self.truth.read_text(), f"the job {job} has ended")
        wait_until(lambda: not pathlib.Path(f"/proc/{job}/status").exists(), f"the job {job} has gone")
        self.recover_session()
        self.assertEqual(self.measured_iterations(), list(range(6)))
        self.check_sums()


if __name__ == "__main__":
    unittest.main()
