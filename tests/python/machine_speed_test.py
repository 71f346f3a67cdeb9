"""bench/machine_speed.py on simulated runs: what a job would have taken at the speed that the machine had while another one ran."""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import machine_speed  # noqa: E402
import numpy  # noqa: E402

FULL = 1 / 9000  # of a sample, at full speed
ITERATION_NS = 500_000  # at full speed
SLOWED = 0.8  # of what slows a sample down, so much slows the job down


def simulate(random_, cost, windows=100):
    """The windows of a run whose processor is up to twice as slow for some windows on end; each iteration takes `cost` of itself more."""
    run, slowness = [], 0.0
    for _ in range(windows):
        if random_.random() < 0.2:
            slowness = random_.choice((0, 0, 0.25, 0.5))
        rate = (1 - SLOWED * slowness) / ITERATION_NS / (1 + cost)
        spent = machine_speed.WINDOW_NS
        run.append([rate * spent, spent, (1 - slowness) * FULL * random_.gauss(1, 0.02), FULL * random_.gauss(0.8, 0.1)])
    return run


class Speed(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(7)

    def test_what_the_machine_does_is_not_taken_for_the_jobs(self):
        with_speed, without = [], []
        for _ in range(30):
            bare, recorded = simulate(self.random, 0), simulate(self.random, 0.05)
            model = machine_speed.Model([bare], machine_speed.fastest([bare, recorded]))
            ratio = machine_speed.mean_ns(recorded) / machine_speed.mean_ns(bare)
            without.append(ratio - 1)
            with_speed.append(ratio * model.iteration_ns(bare) / model.iteration_ns(recorded) - 1)
        self.assertAlmostEqual(numpy.median(with_speed), 0.05, delta=0.005)
        self.assertLess(numpy.std(with_speed), numpy.std(without) / 5)

    def test_where_all_is_alike_nothing_is_found_out_of_noise(self):
        run = [[100, 50_000_000, FULL * self.random.gauss(1, 0.001), FULL] for _ in range(20)]
        other = [[100, 50_000_000, FULL * 0.5, FULL] for _ in range(20)]
        model = machine_speed.Model([run], FULL)
        self.assertAlmostEqual(model.iteration_ns(run) / 500_000, 1, delta=0.001)
        self.assertAlmostEqual(model.iteration_ns(other) / 500_000, 1, delta=0.01)

    def test_windows_have_the_speed_of_the_processor_that_the_job_was_on(self):
        samples = numpy.array([[at, processor, took] for at in range(0, 200_000_000, 5_000_000)
                               for processor, took in ((0, 9000), (1, 18000))])
        stamps = numpy.array([[at, at + 900_000, 1 if at < 100_000_000 else 0] for at in range(10_000_000, 190_000_000, 1_000_000)])
        found = machine_speed.windows(stamps, samples)
        self.assertEqual([window[0] for window in found], [40, 50, 50, 40])
        self.assertEqual([window[1] / window[0] for window in found], [900_000] * 4)
        self.assertEqual([round(1 / window[2]) for window in found], [18000, 18000, 9000, 9000])
        self.assertEqual([round(1 / window[3]) for window in found], [9000, 9000, 18000, 18000])


if __name__ == "__main__":
    unittest.main()
