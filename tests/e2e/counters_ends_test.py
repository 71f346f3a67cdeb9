"""Hardware counters on the simulated device: what ends measuring, or an iteration of it, and what it may not hold up."""
import pathlib
import unittest

from counters_support import CountersTest
from cuda_support import VARIANTS, folder_of


class Captures(CountersTest):
    def test_an_end_of_no_capture_does_not_break_another(self):
        self.record("4", "1", "0", "steal")
        self.check_sums()

    def test_a_capture_whose_stream_goes_holds_nothing_up(self):
        self.record("5", "1", "0", "abandon")
        self.assertEqual(self.measured_iterations(), list(range(5)))
        self.check_sums()

    def test_a_broken_capture_that_nobody_ends_costs_one_iteration(self):
        self.record("6", "1", "0", "break")
        self.assertEqual(self.measured_iterations(), [0, 1, 3, 4, 5])
        self.check_sums()
        lost, = self.rows("SELECT sum(count) FROM v_loss WHERE kind = 'device metric' AND reason = 'unbalanced'")[0]
        self.assertGreater(lost, 0)


class Waits(CountersTest):
    STUCK = ("not measured from here on: a device was not done after 5 s: see docs/probes/cuda.md, Hardware counters")

    def test_a_kernel_that_waits_for_the_host_holds_the_job_up_once(self):
        self.record("6", "1", "0", "stuck")
        self.assertEqual(self.said(), [self.STUCK])
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.check_sums()
        kernels = self.rows("SELECT count(*) FROM v_kernel WHERE name = 'optimizer' AND dur_ns IS NOT NULL")
        self.assertEqual(kernels, [(6,)], "the job goes on")

    def test_a_context_goes_while_its_device_is_waited_for(self):
        self.record("6", "1", "0", "vanish")
        self.assertEqual(self.said(), ["not measured from here on: a CUDA context went while it was measured"])
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.check_sums()

    def test_a_process_ends_while_the_device_is_waited_for(self):
        self.record("3", "1", "0", "handler", status=7)
        self.assertEqual(self.said(), ["an iteration that did not end is not measured"])

    def test_python_goes_on_while_the_device_is_waited_for(self):
        result = self.run_sonde(
            "/usr/bin/python3", pathlib.Path(__file__).resolve().parent.parent / "targets" / "cuda_waiting.py", "13",
            options=("-f", "--counters", "sm__cycles_active.sum"), timeout=60,
            env={"LD_LIBRARY_PATH": str(folder_of("13"))})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(int(result.stdout), 5, "the other thread counts some 100 times")
        self.assertEqual(self.measured_iterations(), [0])

    def test_the_waiting_thread_answers_when_the_process_changes_its_user(self):
        self.record("4", "1", "0", "setuid")
        self.assertEqual(self.measured_iterations(), list(range(4)))


class Ends(CountersTest):
    def test_another_tool_gets_cupti_in_the_middle_of_an_iteration(self):
        for variant in VARIANTS:
            with self.subTest(cuda=variant):
                self.record("6", "1", "0", "client", variant=variant)
                self.assertEqual(self.measured_iterations(), [0, 1])
                taken, = self.rows("SELECT count(*) FROM v_slice WHERE name GLOB 'CUDA recording ends*'")[0]
                self.assertEqual(taken, 1)
                self.assertIn("cuptiSubscribe", self.said()[0])

    def test_the_jobs_own_range_profiler_gets_the_counters(self):
        self.record("6", "1", "0", "profiler")
        self.assertEqual(self.measured_iterations(), [0, 1])
        said, = self.said()
        self.assertIn("another tool of this process uses CUPTI (cuptiRangeProfilerEnable)", said)
        kernels, = self.rows("SELECT count(*) FROM kernel")[0]
        self.assertGreater(kernels, 30, "kernels are still recorded")

    def test_a_reset_device_is_measured_again(self):
        self.record("12", "1", "0", "reset")
        self.assertEqual(self.measured_iterations(), [0, 1, *range(3, 12)])
        self.check_sums()

    def test_an_iteration_that_never_ends_is_named(self):
        self.record("4", "1", "0", "unfinished")
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.said(), ["an iteration that did not end is not measured"])

    def test_an_end_on_another_thread_holds_nothing_up_for_ever(self):
        self.record("80", "1", "0", "elsewhere")
        measured = self.measured_iterations()
        self.assertEqual(measured[:2], [0, 1])
        self.assertEqual(measured[-1], 79)
        lost, = self.rows("SELECT sum(count) FROM v_loss WHERE kind = 'device metric' AND reason = 'unbalanced'")[0]
        self.assertGreater(lost, 0)


if __name__ == "__main__":
    unittest.main()
