"""Hardware counters on the simulated device: what ends measuring, or an iteration of it, and what it may not hold up."""
import unittest

from counters_support import CountersTest
from cuda_support import VARIANTS, folder_of
from run_support import SOURCES, TARGETS


# Stretches of the third iteration before its middle event: train, forward, its three layers and the parts in between.
BEFORE = 1 + 1 + 3 + 3 + 1


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
        self.assertGreater(self.lost(), 0)

    def test_a_broken_capture_of_a_default_stream_is_said(self):
        self.record("5", "1", "0", "", "break default")
        self.assertEqual(self.said(), ["not measured to the end: the capture of a stream began and has not ended"])
        self.assertEqual(self.measured_iterations(), list(range(4)))
        self.assertGreater(self.lost(), 0)
        self.check_sums()

    def test_more_captures_than_sonde_knows_of_end_it(self):
        self.record("6", "1", "0", "many", "profiler")
        self.assertEqual(self.said(), ["not measured from here on: too many streams are captured at once"])
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.lost(), BEFORE)
        self.check_sums()


class Waits(CountersTest):
    STUCK = ("not measured from here on: a device was not done after 5 s: see docs/probes/cuda.md, Hardware counters")

    def test_a_kernel_that_waits_for_the_host_holds_the_job_up_once(self):
        self.record("6", "1", "0", "stuck", "profiler")  # ends with 4 where that does not get the counters
        self.assertEqual(self.said(), [self.STUCK])
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.lost(), BEFORE + 1, "the operation of the kernel that waits, too")
        self.check_sums()
        kernels = self.rows("SELECT count(*) FROM v_kernel WHERE name = 'optimizer' AND dur_ns IS NOT NULL")
        self.assertEqual(kernels, [(6,)], "the job goes on")

    def test_another_device_is_given_back_while_one_is_waited_for(self):
        self.record("6", "2", "0", "profiler elsewhere", "profiler")
        self.assertEqual(self.said(), [self.STUCK])
        self.assertEqual(self.measured_iterations(), [0, 1])

    def test_a_context_goes_while_its_device_is_waited_for(self):
        self.record("6", "1", "0", "vanish")
        self.assertEqual(self.said(), ["not measured from here on: a CUDA context went while it was measured"])
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.lost(), BEFORE + 1)
        self.check_sums()

    def test_a_process_ends_while_the_device_is_waited_for(self):
        self.record("3", "1", "0", "handler", status=7)
        self.assertEqual(self.said(), ["an iteration that did not end is not measured"])

    def count_while_waiting(self, *library):
        """How far another Python thread counts while a second's work of the device is waited for."""
        result = self.run_sonde(
            "/usr/bin/python3", SOURCES / "cuda" / "cuda_waiting.py", "13", *library,
            options=("-f", "--counters", "sm__cycles_active.sum"), timeout=60,
            env={"LD_LIBRARY_PATH": str(folder_of("13"))})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.rows("SELECT count(*) > 0 FROM v_device_metric WHERE operation = 'work' AND value > 0"), [(1,)])
        return int(result.stdout)

    def test_python_goes_on_while_the_device_is_waited_for(self):
        self.assertGreater(self.count_while_waiting(), 5, "the other thread counts some 100 times")

    def test_who_annotates_with_pythons_lock_in_hand_waits_with_it(self):
        self.assertLess(self.count_while_waiting(TARGETS / "libnvtx_plugin.so"), 5)

    def test_the_waiting_thread_has_its_name_and_none_of_its_calls_in_the_trace(self):
        self.record("4")
        calls, = self.rows("SELECT (SELECT count(*) FROM slice s WHERE s.thread_id = t.id) FROM thread t WHERE t.name = "
                           "'sonde-counters'")
        self.assertEqual(calls, (0,))
        self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE name IN ('cuCtxSynchronize', 'cuCtxSetCurrent')"),
                         [(0,)])
        waits, = self.rows("SELECT count(*) FROM sync WHERE kind = 'context'")[0]
        self.assertGreater(waits, 1)

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
                self.assertEqual(self.lost(), BEFORE)

    def test_the_jobs_own_range_profiler_gets_the_counters(self):
        self.record("6", "1", "0", "profiler")
        self.assertEqual(self.measured_iterations(), [0, 1])
        said, = self.said()
        self.assertIn("another tool of this process uses CUPTI (cuptiRangeProfilerEnable)", said)
        self.assertEqual(self.lost(), BEFORE)
        kernels, = self.rows("SELECT count(*) FROM kernel")[0]
        self.assertGreater(kernels, 30, "kernels are still recorded")

    def test_a_reset_device_is_measured_again(self):
        self.record("12", "1", "0", "reset", counters="sm__cycles_active.sum,sm__warps_active.sum,smsp__inst_executed.sum",
                    CUDASIM_COUNTERS_PER_PASS="1")
        self.assertEqual(self.measured_iterations(), [0, 1, *range(3, 12)])
        self.check_sums()
        self.assertEqual(self.lost(), BEFORE)
        groups = self.rows("SELECT min(m.name), max(m.name) FROM iteration i JOIN v_device_metric m ON m.start_ns >= "
                           "i.start_ns AND m.start_ns < i.start_ns + i.dur_ns WHERE i.number < 4 GROUP BY i.number")
        self.assertEqual(len(set(groups)), 3, "the iteration with the reset has had no group's turn")

    def test_an_iteration_that_never_ends_is_named(self):
        self.record("4", "1", "0", "unfinished")
        self.assertEqual(self.measured_iterations(), [0, 1])
        self.assertEqual(self.said(), ["an iteration that did not end is not measured"])
        self.assertEqual(self.lost(), BEFORE)

    def test_an_end_on_another_thread_holds_nothing_up_for_ever(self):
        self.record("80", "1", "0", "elsewhere")
        measured = self.measured_iterations()
        self.assertEqual(measured[:2], [0, 1])
        self.assertEqual(measured[-1], 79)
        self.assertGreater(self.lost(), 0)


if __name__ == "__main__":
    unittest.main()
