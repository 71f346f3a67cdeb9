"""The CUDA probe on the simulated device: however a process ends, nothing is lost uncounted."""
import unittest

from cuda_support import VARIANTS, CudaTest
from run_support import TARGETS


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
            self.assertIn("ended in a signal handler", " ".join(self.said()))
            lost, = self.rows("SELECT probe, reason, count > 0 FROM loss")  # a buffer that CUPTI held counts 1
        self.assertEqual(lost, ("cuda", "tracer", 1))

    def test_a_device_that_is_reset_in_a_signal_handler_is(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.record(TARGETS / f"cuda_in_handler{variant}", "resets", variant=variant)
                self.assertIn("a device was reset", " ".join(self.said()))
                self.assertEqual(self.rows("SELECT probe, reason, count > 0 FROM loss"), [("cuda", "tracer", 1)])

    def test_a_handler_that_has_returned_is_none(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.record(TARGETS / f"cuda_in_handler{variant}", "left", variant=variant)
                self.assertEqual(self.kernels(), 100)
                self.assertEqual(self.rows("SELECT * FROM loss"), [])

    def test_what_cupti_held_of_a_killed_program_counts_as_lost(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("launch name=a ns=1000 stream=1 count=100\nsync\nkill\n", variant, status=-9)
                self.assertEqual(self.rows("SELECT probe, reason, count FROM loss"), [("cuda", "tracer", 1)])

    def test_a_failed_exec_is_no_end(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                self.script("launch name=a ns=1000 stream=1 count=100\nsync\nexec path=/nowhere\n"
                            "launch name=b ns=1000 stream=1 count=100\nsync\nkill\n", variant, status=-9)
                self.assertEqual(self.rows("SELECT probe, reason, count FROM loss"), [("cuda", "tracer", 1)])
                self.script("launch name=a ns=1000 stream=1 count=100\nsync\nexec path=/nowhere\n"
                            "launch name=b ns=1000 stream=1 count=100\nsync\n", variant)
                self.assertEqual(self.kernels(), 200)
                self.assertEqual(self.rows("SELECT * FROM loss"), [])

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


if __name__ == "__main__":
    unittest.main()
